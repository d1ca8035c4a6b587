"""Triton's kernels on warpstep: unmodified ``@triton.jit`` programs run with no GPU.

Needs Triton 3.5 or later; torch only where a program uses it.

::

    with warpstep.triton.here(check="races"):
        add_kernel[(4,)](x, y, out, n, BLOCK=256)

`here` is for a part of a program, ``python -m warpstep.triton program.py`` for all of one. `configs` and `only` give the
configurations of ``@triton.autotune`` to the parameters of a test, `prepare` gives a launch to be hunted, proved or replayed.

Where the seam is
-----------------
Triton has two halves that meet in ``JITFunction.run``: a compiler, chosen by a target (``triton.backends.backends``), and a driver,
which is whatever ``triton.runtime.driver.active`` is. Both are replaced, and nothing between them:

* The *compiler* is Triton's own for NVIDIA (`_backend`), so that the PTX is what a GPU's driver would get; only its last stage,
  which has ptxas make machine code, gives the PTX itself. What it compiles has another key in Triton's cache than what is compiled
  for a GPU.
* The *driver* (`_driver`) says what device there is, loads the PTX as a `warpstep.Module`, and launches. Above it are
  specialisation, autotuning, heuristics, hooks and caches as always; a seam higher up (in ``JITFunction.run``) would have to imitate
  them, and one lower down (a library that acts as ``libcuda.so``) would see addresses where it has to know memory.

Programs also speak to torch of a device ``"cuda"``; `_torch` answers for it, with tensors of the CPU. numpy arrays, which Triton
itself refuses, are wrapped on the way in (`_arrays`).
"""

from __future__ import annotations

try:
    import triton as _triton
except ImportError as _error:
    raise ImportError("warpstep.triton needs Triton, which is not installed: pip install triton") from _error

from warpstep.triton._compat import require as _require

_require(_triton.__version__)

from warpstep.triton._here import Door, here  # noqa: E402
from warpstep.triton._prepare import Prepared, prepare  # noqa: E402
from warpstep.triton._tuning import configs, only  # noqa: E402

__all__ = ["Door", "Prepared", "configs", "here", "only", "prepare"]

for _name in __all__:
    globals()[_name].__module__ = "warpstep.triton"
del _name
