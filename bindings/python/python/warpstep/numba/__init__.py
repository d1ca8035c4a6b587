"""Programs that are written with `numba.cuda` run on warpstep, unchanged and with no GPU.

>>> import numpy as np
>>> from numba import cuda
>>> import warpstep.numba
>>> @cuda.jit
... def double(x):
...     i = cuda.grid(1)
...     if i < x.size:
...         x[i] *= 2
>>> x = np.arange(5)
>>> with warpstep.numba.device(check="races"):
...     double[1, 32](x)
>>> x
array([0, 2, 4, 6, 8])

Inside of `device` the whole of `numba.cuda` finds one device, of compute capability 8.0 if nothing else is said. `jit` makes
kernels that find it by themselves, `options` changes what launches are asked, and `hunt`, `prove`, `compare` and `replay` are those
of the package for a launch of Numba's. A kernel that is wrong raises `warpstep.Defect`, which names the line of Python.

numba-cuda itself is not part of this package: ``pip install 'numba-cuda[cu13]'``. Why the driver is what is replaced is told in
`warpstep.numba._seam`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Unpack

from warpstep._module import Options, Run, native_options
from warpstep.numba import _launch
from warpstep.numba._dispatcher import Dispatcher
from warpstep.numba._seam import SEAM, required
from warpstep.numba._search import compare, hunt, prove, replay

__all__ = ["Dispatcher", "compare", "device", "hunt", "install", "jit", "last_run", "options", "prove", "replay"]

required()

#: What `options` can be told.
_KNOWN = frozenset(Options.__annotations__) - {"in_place", "names"} | {"lineinfo"}


@contextmanager
def device(
    cc: tuple[int, int] | str | None = None, *, lineinfo: bool = True, **given: Unpack[Options]
) -> Iterator[None]:
    """Let `numba.cuda` find warpstep instead of a GPU.

    `cc` is the compute capability that kernels are compiled for, ``(8, 0)`` if nothing was said before. The options are those of a
    launch, for all launches in here; `lineinfo=False` compiles without the lines of the source. It may be nested, and
    what is on the device, such as arrays, stays there for the next one.
    """
    before = SEAM.open(_capability(cc))
    try:
        with options(lineinfo=lineinfo, **given):
            here = dict(_launch.OPTIONS.get())
            _launch.DEFAULTS.append(here)
            try:
                yield
            finally:
                del _launch.DEFAULTS[next(k for k, each in enumerate(_launch.DEFAULTS) if each is here)]
    finally:
        SEAM.close(before)


def install(cc: tuple[int, int] | str | None = None) -> None:
    """Do so for the rest of the process: for programs that cannot be put into a ``with``."""
    SEAM.open(_capability(cc))


@contextmanager
def options(*, lineinfo: bool | None = None, **given: Unpack[Options]) -> Iterator[None]:
    """Ask more of the launches in here, besides what is asked already: options as of `warpstep.Launch`.

    >>> with warpstep.numba.device(), warpstep.numba.options(check="races", seed=3):
    ...     pass
    """
    new: dict[str, Any] = {**given}
    if lineinfo is not None:
        new["lineinfo"] = lineinfo
    _refuse_unknown(new)
    native_options(given)
    token = _launch.OPTIONS.set({**_launch.OPTIONS.get(), **new})
    try:
        yield
    finally:
        _launch.OPTIONS.reset(token)


def jit(*args: Any, **kwargs: Any) -> Any:
    """`numba.cuda.jit` for warpstep: the kernel finds it by itself, outside of `device`, too.

    It takes what `numba.cuda.jit` takes, `cc`, and options as of `warpstep.Launch` for launches of this kernel.

    >>> import numpy as np
    >>> from numba import cuda
    >>> @warpstep.numba.jit(check="races")
    ... def fill(x, value):
    ...     x[cuda.grid(1)] = value
    >>> x = np.zeros(4, np.float32)
    >>> fill[1, 4](x, 1.5)
    >>> x.tolist()
    [1.5, 1.5, 1.5, 1.5]
    """
    from numba import cuda

    capability = _capability(kwargs.pop("cc", None))
    own = {key: kwargs.pop(key) for key in list(kwargs) if key in _KNOWN and key != "lineinfo"}

    def wrap(make: Callable[[], Any]) -> Any:
        before = SEAM.open(capability)
        try:
            made = make()
        finally:
            SEAM.close(before)
        if callable(made) and not hasattr(made, "py_func"):
            return lambda function: wrap(lambda: made(function))
        return Dispatcher(made, capability, own)

    return wrap(lambda: cuda.jit(*args, **kwargs))


def last_run() -> Run | None:
    """What the last launch of this thread did: blocks, instructions, what it printed; `None` before any."""
    return _launch.HERE.last


def _capability(cc: tuple[int, int] | str | None) -> tuple[int, int] | None:
    if cc is None:
        return None
    try:
        major, minor = cc.split(".") if isinstance(cc, str) else cc
        return int(major), int(minor)
    except (TypeError, ValueError):
        raise ValueError(f"cc={cc!r}: a compute capability is two numbers, such as (8, 0)") from None


def _refuse_unknown(given: dict[str, Any]) -> None:
    for key in given:
        if key not in _KNOWN:
            raise TypeError(f"there is no option `{key}` here: {', '.join(sorted(_KNOWN))}")
