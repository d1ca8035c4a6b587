"""Runs PTX kernels with no GPU, and finds their races, wrong addresses and deadlocks.

>>> import numpy as np, warpstep
>>> twice = warpstep.Module('''
...     .version 8.0
...     .target sm_80
...     .address_size 64
...     .entry twice(.param .u64 out, .param .u32 n) {
...         .reg .pred %p; .reg .b32 %r<3>; .reg .b64 %rd<2>;
...         ld.param.u64 %rd0, [out];
...         ld.param.u32 %r2, [n];
...         mov.u32 %r0, %tid.x;
...         setp.ge.u32 %p, %r0, %r2;
...         @%p ret;
...         mul.wide.u32 %rd1, %r0, 4;
...         add.s64 %rd1, %rd0, %rd1;
...         ld.global.u32 %r1, [%rd1];
...         shl.b32 %r1, %r1, 1;
...         st.global.u32 [%rd1], %r1;
...         ret;
...     }''')["twice"]
>>> x = np.arange(5, dtype=np.uint32)
>>> run = twice[1, 32](x, 5)
>>> x
array([0, 2, 4, 6, 8], dtype=uint32)
>>> run.blocks, run.warp_instructions
(1, 11)

A kernel that is wrong raises `Defect`, whose text is a report with the line, the thread and what to do:

>>> try:
...     twice[1, 32](x, 6)
... except warpstep.Defect as defect:
...     print(defect.code, "at line", defect.line, "by thread", defect.thread)
out-of-bounds at line 14 by thread (5, 0, 0)

`hunt` runs many schedules, `prove` all of them, `compare` all control models and memories, and `replay` repeats a schedule that
one of these found.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from warpstep._errors import Defect, Error, InputError, InternalError, LimitReached, Unsupported
from warpstep._warpstep import CHECKS, __version__

if TYPE_CHECKING:
    from warpstep._arguments import Parameter
    from warpstep._module import Kernel, Launch, Module, Options, Run
    from warpstep._results import Comparison, Finding, Hunted, Proof, Seen, WorkersLost, merge
    from warpstep._searches import compare, hunt, prove, replay

__all__ = [
    "CHECKS",
    "Comparison",
    "Defect",
    "Error",
    "Finding",
    "Hunted",
    "InputError",
    "InternalError",
    "Kernel",
    "Launch",
    "LimitReached",
    "Module",
    "Options",
    "Parameter",
    "Proof",
    "Run",
    "Seen",
    "Unsupported",
    "WorkersLost",
    "__version__",
    "compare",
    "hunt",
    "merge",
    "prove",
    "replay",
]


# The rest needs numpy, which takes longer to import than all of this. The plugin for pytest imports this package in every session of
# an environment that has it, also in those that are about something else.
def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'warpstep' has no attribute {name!r}")
    for home in ("_arguments", "_module", "_results", "_searches"):
        module = import_module(f"warpstep.{home}")
        globals().update((each, getattr(module, each)) for each in __all__ if hasattr(module, each))
    _are_of_here()
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _are_of_here() -> None:
    """Have what is documented here be shown as of here, in tracebacks and notebooks, too."""
    for name in __all__:
        found = globals().get(name)
        if isinstance(found, type):
            found.__module__ = "warpstep"


_are_of_here()
