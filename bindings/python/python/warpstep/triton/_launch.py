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
from warpstep._errors import Defect, Error, Unsupported
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


@dataclass(slots=True)
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
        settings = _settings.current()
        checks = tuple(_session.current.check) if _session.current is not None else ()
        if more or settings.native is None or settings.native[0] != checks:
            given = native_options({"benign": "same-value", **settings.options, **more})
            if more:
                return given
            settings.native = (checks, given)
        return settings.native[1]

    def kernel_for(self, options: Mapping[str, Any]) -> Kernel:
        """Give the kernel that is run with options: where races are looked for, replicas read what they use only."""
        return _owned(self.kernel) if "races" in (options.get("check") or ()) else self.kernel

    def run(self, expect: Any = None, **more: Any) -> Run:
        """Run it as the settings and the session of pytest say."""
        settings, session = _settings.current(), _session.current
        options, taken = self.options(more), self.taken()
        kernel = self.kernel_for(options)
        try:
            if settings.seeds or expect is not None or session is not None and session.asks:
                asked = session or _session.Session()
                asked = replace(asked, seeds=max(asked.seeds, settings.seeds))
                run = launch_in_session(asked, kernel[self.shape], taken, options, expect)
            else:
                run = Run(*kernel.module.native.run(kernel.name, self.shape, taken.described, options))
        except Defect as error:
            raise self._assertion(error, taken, options) from None
        except Unsupported as error:
            if settings.target.arch < 90:
                raise
            advice = "  for target=80 Triton makes PTX without tensor maps, `wgmma` and what came later: give that here"
            raise Unsupported(error.code, f"{error}\n{advice}", error._data, error.schedule) from None
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


class Plan:
    """What is the same in all launches of a compiled kernel."""

    def __init__(self, source: Any, metadata: Any) -> None:
        clusters = getattr(metadata, "num_ctas", 1)
        if clusters != 1:
            raise NotImplementedError(f"num_ctas={clusters}: blocks in clusters are not supported; give num_ctas=1")
        self.metadata = metadata
        self.threads = int(metadata.num_warps) * int(metadata.warp_size)
        self.path = _path(source)
        # Sources that are no Python have numbers for names.
        self.signature = {str(name): kind for name, kind in source.signature.items()}
        self.described = bool(getattr(metadata, "tensordesc_meta", None))
        #: The arguments that are parameters, if none of them is taken apart: their numbers, names and types.
        self.plain: list[tuple[int, str, str]] | None = None
        if all(isinstance(kind, str) and not kind.startswith("tensordesc") for kind in self.signature.values()):
            all_of = enumerate(self.signature.items())
            self.plain = [(at, name, kind) for at, (name, kind) in all_of if kind != "constexpr"]
        #: The kernel as it was loaded last, and as it is run.
        self.kernel: tuple[Kernel, Kernel] | None = None

    def given(self, arguments: tuple[Any, ...]) -> list[Given]:
        """The parameters of a launch."""
        if self.plain is None:
            return list(flattened(self.signature, arguments, self.described))
        return [(name, kind, arguments[at]) for at, name, kind in self.plain]

    def located(self, kernel: Kernel) -> Kernel:
        """The kernel with the file that it is written in."""
        if self.kernel is None or self.kernel[0] is not kernel:
            self.kernel = (kernel, _located(kernel, self.path))
        return self.kernel[1]


def launch_of(
    plan: Plan, function: Loaded, grid: tuple[int, int, int], stream: Any, arguments: tuple[Any, ...]
) -> Launched | None:
    """Give the launch of a compiled kernel; `None` where it has no blocks."""
    if 0 in grid:
        return None
    shape = shaped(grid, plan.threads, function.shared)
    given = plan.given(arguments)
    wanted = len(function.kernel.parameters) - len(given)
    if not 0 <= wanted <= len(_SCRATCH):
        kernel, count = function.kernel, len(given)
        raise RuntimeError(
            f"{kernel} has {len(kernel.parameters)} parameters, and {count} arguments were given for them"
        )
    blocks = shape[0][0] * shape[0][1] * shape[0][2]
    for name in _SCRATCH[:wanted]:
        given.append((name, "*i8", _scratch(name, plan.metadata, blocks, stream)))
    kernel, storage = plan.located(function.kernel), _settings.current().storage
    return Launched(plan.metadata.name, kernel, shape, tuple(given), storage)


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
