"""What numba-cuda prepares for a launch: which array each of the flat arguments is, by what name, and whether it fits the kernel."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Seen:
    """An array among the arguments of a kernel, as the kernel sees it."""

    #: Its parameter, or ``name[1]`` of a tuple's element.
    name: str
    #: Its device address.
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]

    def of(self, allocation: int, held: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The array in the bytes of its allocation, which begins at an address."""
        return np.ndarray(self.shape, self.dtype, held, self.address - allocation, self.strides)


@dataclass(slots=True)
class Frame:
    """A launch that numba-cuda prepares."""

    #: The names of the kernel's parameters, and its own in Python.
    names: Sequence[str]
    kernel: str | None = None
    #: The arrays that were met so far.
    arrays: list[Seen] = field(default_factory=list)
    #: Pointers that were given as numbers, with their names.
    pointers: list[tuple[str, int]] = field(default_factory=list)
    #: How deep in tuples the argument is that is prepared now, and its name at each depth.
    path: list[str] = field(default_factory=list)
    count: int = 0
    #: Copies of the host's arrays, which are freed when the launch is over.
    copies: list[Any] = field(default_factory=list)

    def called(self) -> str:
        """The name of the argument that is next."""
        if self.path:
            return f"{self.path[-1]}[{self.count}]"
        return self.names[self.count] if self.count < len(self.names) else f"arg{self.count}"


class _Here(threading.local):
    """The launches that a thread prepares, the innermost last."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []


HERE = _Here()


def begin(kernel: Any, args: Sequence[Any]) -> Frame:
    """Note which kernel is prepared, for names in reports; `end` has to follow."""
    known = kernel.__dict__.get("_warpstep_names")
    if known is None:
        function = getattr(kernel, "py_func", None)
        names = tuple(inspect.signature(function).parameters) if function is not None else ()
        known = kernel.__dict__["_warpstep_names"] = (names, getattr(function, "__qualname__", None))
    wanted = len(kernel.argument_types)
    if len(args) != wanted:
        takes = f"{wanted} argument{'' if wanted == 1 else 's'} ({', '.join(known[0])})"
        was = f"{len(args)} {'was' if len(args) == 1 else 'were'} given"
        raise TypeError(f"kernel `{known[1]}` takes {takes}, {was}")
    made = Frame(*known)
    HERE.frames.append(made)
    return made


def end() -> None:
    """The launch is over."""
    for copy in HERE.frames.pop().copies:
        copy.free()


def argument(prepare: Callable[..., None], kernel: Any, ty: Any, value: Any, stream: Any, retr: Any, flat: Any) -> None:
    """Prepare an argument as numba-cuda does, and note which array it is; elements of tuples come here, too."""
    frames = HERE.frames
    if not frames:
        return prepare(kernel, ty, value, stream, retr, flat)
    here, before = frames[-1], len(flat)
    count, path, name = here.count, here.path, here.called()
    path.append(name)
    here.count = 0
    try:
        prepare(kernel, ty, value, stream, retr, flat)
    finally:
        path.pop()
        here.count = count + 1
    known = _KINDS.get(id(ty))
    kind, dimensions, dtype = known[1] if known is not None and known[0] is ty else _kind(ty)
    # An extension may make something else of an argument.
    if kind == "array" and (len(flat) == before + 5 + 2 * dimensions or not kernel.extensions):
        here.arrays.append(_seen(name, ty, value, (dimensions, dtype), flat[before:]))
    elif kind != "other" and len(flat) == before + 1:
        address = flat[before] if isinstance(flat[before], int) else 0
        if kind == "record":
            here.arrays.append(Seen(name, address, (), (), dtype))
        else:
            here.pointers.append((name, address))
    return None


def _seen(name: str, ty: Any, value: Any, wanted: tuple[int, np.dtype[Any]], flat: Sequence[int]) -> Seen:
    """The array that a part of the flat arguments is, if it is one that the kernel was compiled for.

    Where the types of arguments come from the arguments, they fit; numba-cuda does not look where a kernel has a signature.
    """
    dimensions, dtype = wanted
    if len(flat) != 5 + 2 * dimensions:
        has = (len(flat) - 5) // 2
        raise TypeError(f"`{name}` is an array of {has} dimensions, and the kernel was compiled for {dimensions}")
    shape, strides = tuple(flat[5 : 5 + dimensions]), tuple(flat[5 + dimensions :])
    held = getattr(value, "dtype", None)
    if flat[3] != dtype.itemsize or held is not dtype and _is_of_another_kind(held, dtype):
        of = held if isinstance(held, np.dtype) else f"elements of {flat[3]} bytes"
        raise TypeError(f"`{name}` is an array of {of}, and the kernel was compiled for {dtype}")
    if ty.layout != "A" and flat[4] and not _lies(shape, strides, dtype.itemsize, ty.layout):
        raise TypeError(f"`{name}` has holes, and the kernel was compiled for an array whose elements lie side by side")
    return Seen(name, flat[4], shape, strides, dtype)


def _is_of_another_kind(held: Any, dtype: np.dtype[Any]) -> bool:
    """Whether elements are numbers that others are taken for: floats for integers, or the other way round."""
    if not isinstance(held, np.dtype):
        return False
    return held.kind in "iub" and dtype.kind in "fc" or held.kind in "fc" and dtype.kind in "iub"


def _lies(shape: Sequence[int], strides: Sequence[int], size: int, order: str) -> bool:
    """Whether elements lie side by side, in C or Fortran order."""
    pairs = list(zip(shape, strides, strict=True))
    for length, stride in reversed(pairs) if order == "C" else pairs:
        if length > 1 and stride != size:
            return 0 in shape
        size *= length
    return True


#: Types of numba's that were met, by their identity, which is asked for faster than what they are: each with its kind.
_KINDS: dict[int, tuple[Any, tuple[str, int, np.dtype[Any]]]] = {}


def _kind(ty: Any) -> tuple[str, int, np.dtype[Any]]:
    if len(_KINDS) >= 4096:
        _KINDS.clear()
    found = _kind_of(ty)
    _KINDS[id(ty)] = (ty, found)
    return found


def _kind_of(ty: Any) -> tuple[str, int, np.dtype[Any]]:
    """What a type of numba's is: an array of so many dimensions, a record, a pointer or something else."""
    from numba.cuda import types
    from numba.cuda.np import numpy_support

    nothing = np.dtype(np.uint8)
    try:
        if isinstance(ty, types.Array):
            return "array", ty.ndim, np.dtype(numpy_support.as_dtype(ty.dtype))
        if isinstance(ty, types.Record):
            return "record", 0, np.dtype(numpy_support.as_dtype(ty))
    except NotImplementedError:
        # A type of numba's that numpy has not, such as bfloat16: it goes without a name.
        return "other", 0, nothing
    return ("pointer" if isinstance(ty, types.CPointer) else "other"), 0, nothing
