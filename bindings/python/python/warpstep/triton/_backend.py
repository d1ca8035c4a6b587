"""Triton's compiler for NVIDIA, up to PTX."""

from __future__ import annotations

import re
from typing import Any

from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import CUDABackend

#: The version of PTX that is asked for: new enough for all that Triton emits, without asking ptxas for its own.
PTX_VERSION = 88

_LOCATION = re.compile(r"^\t\.loc\t.*$", re.MULTILINE)
_INLINE = re.compile(r"^\t// begin inline asm\n.*?^\t// end inline asm\n", re.MULTILINE | re.DOTALL)


def right_locations(ptx: str) -> str:
    r"""Give each statement of inline assembly the place of the first.

    LLVM takes the lines of inline assembly for lines of the source: its second statement would be told as of the next line
    of Python, and so on. No line of the text is added or taken away.

    >>> print(right_locations('''\t// begin inline asm
    ... \t.loc\t1 6 9
    ... \tmov.u32 %r4, 0x0;
    ... \t.loc\t1 7 9
    ... \tld.global.b32 { %r4 }, [ %rd5 + 0 ];
    ... \t// end inline asm
    ... ''').expandtabs(1), end="")
     // begin inline asm
     .loc 1 6 9
     mov.u32 %r4, 0x0;
     .loc 1 6 9
     ld.global.b32 { %r4 }, [ %rd5 + 0 ];
     // end inline asm
    """

    def same(block: re.Match[str]) -> str:
        text = block.group()
        first = _LOCATION.search(text)
        return text if first is None else _LOCATION.sub(lambda _: first.group(), text)

    return _INLINE.sub(same, ptx)


class Backend(CUDABackend):
    """The compiler whose last stage gives PTX where that of a GPU gives machine code."""

    def parse_options(self, opts: dict[str, Any]) -> Any:
        """Ask for a version of PTX, unless the program does, so that nobody asks ptxas for its own."""
        return super().parse_options({"ptx_version": PTX_VERSION, **{k: v for k, v in opts.items() if v is not None}})

    def make_ptx(self, *args: Any) -> str:
        """Give the PTX with right lines of Python."""
        return right_locations(super().make_ptx(*args))

    def add_stages(self, stages: dict[str, Any], options: Any, language: Any) -> None:
        """Replace the last stage. Its name stays, as programs ask for ``kernel.asm`` by names."""
        super().add_stages(stages, options, language)
        stages["cubin"] = lambda source, metadata: source.encode()

    # Not that of the base, which is made of ptxas's version. It is part of each key in Triton's cache.
    def hash(self) -> str:
        """Tell what is compiled here from what is compiled for a GPU."""
        return f"warpstep-1-{PTX_VERSION}-{self.target.arch}"


def target_of(target: Any) -> GPUTarget:
    """Give the target of what a user says: 80, ``"sm_80"`` or a target of Triton's.

    >>> target_of("sm_90").arch
    90
    """
    if isinstance(target, GPUTarget):
        if target.backend != "cuda":
            raise ValueError(
                f"target={target}: kernels for {target.backend} are no PTX; give GPUTarget('cuda', 80, 32)"
            )
        return target
    found = re.fullmatch(r"(?:sm_?)?(\d{2,3})a?", str(target))
    if found is None:
        raise ValueError(f"target={target!r}: give a number such as 80, or 'sm_80'")
    return GPUTarget("cuda", int(found.group(1)), 32)
