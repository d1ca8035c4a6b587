"""A launch that a Triton program makes, with all that it needs."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from triton.runtime import _allocation

from warpstep import _session
from warpstep._errors import Defect, Error
from warpstep._module import Kernel, Module, Run, Shape, native_options, shaped
from warpstep._searches import launch_in_session
from warpstep.triton import _settings
from warpstep.triton._replicas import owned
from warpstep.triton._taken import Taken
from warpstep.triton._values import Given, flattened

if TYPE_CHECKING:
    from warpstep.triton._driver import Loaded

#: Parameters behind those of the program: memory that kernels of some sorts need.
_SCRATCH = ("global_scratch", "profile_scratch")


@dataclass(frozen=True, slots=True)
class Launched:
    """A kernel with its shape and its arguments."""

    #: What the program calls it.
    name: str
    #: The kernel of its PTX.
    kernel: Kernel
    #: Blocks, threads of a block, shared memory.
    shape: Shape
    #: Its arguments as Triton has them.
    given: tuple[Given, ...]
    #: Whether pointers have the bounds of their whole storage.
    storage: bool

    def taken(self) -> Taken:
        """Describe the arguments as they are now."""
        return Taken(self.kernel, self.given, self.storage)

    def options(self, more: Mapping[str, Any]) -> dict[str, Any]:
        """Give the options that hold, and more."""
        return native_options({"benign": "same-value", **_settings.current().options, **more})

    def kernel_for(self, options: Mapping[str, Any]) -> Kernel:
        """Give the kernel that is run with options: where races are looked for, replicas read what they use only."""
        return _owned(self.kernel) if "races" in (options.get("check") or ()) else self.kernel

    def run(self, expect: Any = None, **more: Any) -> Run:
        """Run it as the settings and the session of pytest say."""
        settings = _settings.current()
        asked = _session.current or _session.Session()
        if settings.seeds:
            asked = replace(asked, seeds=max(asked.seeds, settings.seeds))
        with_options = self.options(more)
        taken = self.taken()
        try:
            run = launch_in_session(asked, self.kernel_for(with_options)[self.shape], taken, with_options, expect)
        except Defect as error:
            raise self._assertion(error, taken, with_options) from None
        settings.runs.append((self.name, run))
        if run.output:
            sys.stdout.write(run.printed)
        return run

    def _assertion(self, error: Defect, taken: Taken, options: dict[str, Any]) -> Defect:
        """The failed assertion behind a barrier that lanes do not reach because of it, if it is one.

        Triton puts a barrier behind each assertion, which lanes whose assertion holds may reach first. Where threads are
        scheduled one by one a warp does not wait for its lanes, and the assertion is told.
        """
        module = self.kernel.module
        if error.code != "barrier-divergence" or "__assertfail" not in module.text:
            return error
        try:
            module.native.run(self.kernel.name, self.shape, taken.described, {**options, "control": "thread"})
        except Defect as other:
            return other if other.code == "assertion" else error
        except Error:
            return error
        return error

    def __repr__(self) -> str:
        return f"<launch of {self.name}, blocks {self.shape[0]}, threads {self.shape[1]}>"


def _path(source: Any) -> str:
    """The file that a kernel is written in, if it is one of Python."""
    code = getattr(getattr(getattr(source, "fn", None), "fn", None), "__code__", None)
    return getattr(code, "co_filename", "")


@lru_cache(maxsize=256)
def _located(kernel: Kernel, path: str) -> Kernel:
    """The kernel with the file that it is written in: Triton's cache gives what it compiled of the same text in another one."""
    text = kernel.module.text
    # The first place in the kernel is its own `def`.
    first = re.search(r"^\.visible \.entry .*?^\t\.loc\t(\d+) ", text, re.MULTILINE | re.DOTALL)
    if first is None or not os.path.isabs(path):
        return kernel
    named = rf'^(\t\.file\t{first.group(1)} )"[^"\n]*"'
    moved = re.sub(named, lambda found: f'{found.group(1)}"{path}"', text, flags=re.MULTILINE)
    return kernel if moved == text else Module(moved, kernel.module.name)[kernel.name]


@lru_cache(maxsize=256)
def _owned(kernel: Kernel) -> Kernel:
    """The kernel without what its replicas read for nothing."""
    text = owned(kernel.module.text)
    return kernel if text == kernel.module.text else Module(text, kernel.module.name)[kernel.name]


def launch_of(
    source: Any, metadata: Any, function: Loaded, grid: tuple[int, int, int], stream: Any, arguments: tuple[Any, ...]
) -> Launched | None:
    """Give the launch of a compiled kernel; `None` where it has no blocks."""
    if 0 in grid:
        return None
    clusters = getattr(metadata, "num_ctas", 1)
    if clusters != 1:
        raise NotImplementedError(f"num_ctas={clusters}: blocks in clusters are not supported; give num_ctas=1")
    shape = shaped(grid, int(metadata.num_warps) * int(metadata.warp_size), function.shared)
    signature = source.signature
    described = bool(getattr(metadata, "tensordesc_meta", None))
    given = list(flattened(_named(source, signature), arguments, described))
    wanted = len(function.kernel.parameters) - len(given)
    if not 0 <= wanted <= len(_SCRATCH):
        kernel, count = function.kernel, len(given)
        raise RuntimeError(
            f"{kernel} has {len(kernel.parameters)} parameters, and {count} arguments were given for them"
        )
    blocks = shape[0][0] * shape[0][1] * shape[0][2]
    given += [(name, "*i8", _scratch(name, metadata, blocks, stream)) for name in _SCRATCH[:wanted]]
    kernel = _located(function.kernel, _path(source))
    return Launched(metadata.name, kernel, shape, tuple(given), _settings.current().storage)


def _named(source: Any, signature: Any) -> Mapping[str, Any]:
    """The signature by names, which sources that are no Python have numbers for."""
    return {str(name): kind for name, kind in signature.items()}


def _scratch(name: str, metadata: Any, blocks: int, stream: Any) -> Any:
    """Memory that a kernel needs besides its arguments, from whom the program says."""
    size = getattr(metadata, f"{name}_size", 0) * blocks
    if size == 0:
        return None
    align = getattr(metadata, f"{name}_align", 1)
    if name == "global_scratch":
        return _allocation._allocator.get()(size, align, stream)
    from triton.runtime import driver

    return driver.active.allocate_default_profile_scratch(size, align, stream)
