"""Memory of arguments: where tensors and arrays lie, and which bytes around them a kernel may reach.

Bounds: a tensor whose elements lie side by side, in whatever order, is memory of its own, even where it is a part of a larger
storage: what is beyond it is somebody else's. One with holes (``x[:, ::2]``, a slice of columns) is passed with all of its storage,
since its kernel gets strides and may use what lies between; so is one that shares a part of its memory with another argument.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


# Not frozen: that would take twice as long to make, for each argument of each launch. Nobody changes one.
@dataclass(slots=True)
class Memory:
    """Bytes of the host that a pointer gives a kernel."""

    #: Its first byte, and the one behind its last.
    start: int
    end: int
    #: What the pointer points at.
    address: int
    #: All of the storage that it is a part of.
    storage: tuple[int, int]
    #: Whether it may only be read.
    readonly: bool
    #: What keeps it alive, and what it was given as.
    owner: Any

    def bytes(self) -> NDArray[np.uint8]:
        """Its bytes, not copied, for as long as its owner is alive."""
        if self.end <= self.start:
            return np.empty(0, dtype=np.uint8)
        array = np.frombuffer(self._view(), dtype=np.uint8)
        array.flags.writeable = not self.readonly
        return array

    def buffer(self) -> Any:
        """The same for the compiled part, which needs no array."""
        return self.bytes() if self.readonly or self.end <= self.start else self._view()

    def _view(self) -> memoryview[int]:
        return memoryview((ctypes.c_uint8 * (self.end - self.start)).from_address(self.start)).cast("B")


class Array:
    """A numpy array as Triton takes tensors: it asks them for a type and an address."""

    __slots__ = ("address", "array", "dtype")

    def __init__(self, array: NDArray[Any]) -> None:
        #: The array.
        self.array = array
        #: Its type, by a name that Triton knows.
        self.dtype = _NAMES.get(array.dtype) or _name(array.dtype)
        self.address: int = array.__array_interface__["data"][0]

    def data_ptr(self) -> int:
        """Its address."""
        return self.address

    # What the hooks of autotuning do to arguments.
    def zero_(self) -> None:
        """Set all elements to 0."""
        self.array[...] = 0

    def clone(self) -> Array:
        """Copy it."""
        return Array(self.array.copy())

    def copy_(self, other: Array) -> None:
        """Take over the elements of another."""
        self.array[...] = other.array


#: The names of types that arrays had, which numpy makes anew each time.
_NAMES: dict[np.dtype[Any], str] = {}


def _name(dtype: np.dtype[Any]) -> str:
    if dtype.hasobject or not dtype.isnative or dtype.kind not in "biufV":
        raise TypeError(f"an array of {dtype} is no argument of a Triton kernel: give numbers in native byte order")
    name = _NAMES[dtype] = "bool" if dtype.kind == "b" else dtype.name
    return name


def wrapped(value: Any) -> Any:
    """Give a numpy array as Triton takes it, also in tuples, and everything else as it is."""
    if isinstance(value, np.ndarray):
        return Array(value)
    if type(value) is tuple and any(isinstance(each, (np.ndarray, tuple)) for each in value):
        return tuple(wrapped(each) for each in value)
    return value


def refusal(error: Exception, given: Iterable[Any]) -> TypeError | None:
    """Say what Triton's own complaint about a value means, if it is one: a type's name alone, or no way to pass it."""
    if isinstance(error, TypeError):
        plain = str(error).startswith(("failed to specialize argument of type", "Unsupported type: "))
        if plain and any(isinstance(value, np.generic) and type(value).__name__ in str(error) for value in given):
            return TypeError(
                f"{error}, a scalar of numpy, which Triton does not take: give a number of Python, such as x.item()"
            )
        return TypeError(f"{error}: give an array of numpy, a tensor or a number") if plain else None
    for value in given:
        if isinstance(value, np.ndarray) and error.args == (Array(value).dtype,):
            return TypeError(f"an array of {value.dtype} is no argument of a Triton kernel: give numbers that it has")
        if error.args == (str(getattr(value, "dtype", "")).removeprefix("torch."),):
            return TypeError(f"a tensor of {value.dtype} is no argument of a Triton kernel: give numbers that it has")
    return None


def unwrapped(value: Any) -> Any:
    """Give what a user passed: an array, or a tensor that Triton's own wrappers hold."""
    if isinstance(value, Array):
        return value.array
    while type(value).__name__ == "TensorWrapper":
        value = value.base
    return value


def memory_of(value: Any, storage: bool = False) -> Memory | None:
    """Give the memory of a tensor or an array; `None` of what has no elements. `storage`: always with all of its storage."""
    if isinstance(value, Array):
        return _of_numpy(value.array, value.address, storage)
    value = unwrapped(value)
    if isinstance(value, np.ndarray):
        return _of_numpy(value, value.__array_interface__["data"][0], storage)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return _of_torch(value, torch, storage)
    raise TypeError(
        f"a {type(value).__name__} is no memory that a kernel can work on: give a tensor of the CPU or a numpy array"
    )


def _is_dense(shape: tuple[int, ...], strides: tuple[int, ...], size: int) -> bool:
    """Whether elements of `size` (in the unit of the strides) lie side by side."""
    expected = size
    for stride, count in sorted((s, n) for s, n in zip(strides, shape, strict=True) if n != 1):
        if stride != expected:
            return False
        expected *= count
    return True


def _of_torch(tensor: Any, torch: Any, storage: bool) -> Memory | None:
    if tensor.layout != torch.strided or tensor.device.type != "cpu":
        raise TypeError(
            f"a tensor that is {tensor.layout} of {tensor.device} has no memory here: give a strided tensor of the CPU, such as "
            "x.cpu()"
        )
    count, size = tensor.numel(), tensor.element_size()
    if count == 0:
        return None
    held = tensor.untyped_storage()
    first = held.data_ptr()
    last = first + held.nbytes()
    address = first + tensor.storage_offset() * size
    if storage or not (tensor.is_contiguous() or _is_dense(tuple(tensor.shape), tuple(tensor.stride()), 1)):
        start, end = first, last
    else:
        start, end = address, address + count * size
    if end > last or address >= last:
        raise ValueError(
            f"a tensor of {count * size} bytes has a storage of {held.nbytes()}, which was made smaller: give it the "
            "storage that it had, or another tensor"
        )
    return Memory(start, end, address, (first, last), False, tensor)


def address_of(tensor: Any) -> int:
    """Give the address of a tensor, which nobody takes note of."""
    return int(tensor.untyped_storage().data_ptr()) + int(tensor.storage_offset()) * int(tensor.element_size())


def _of_numpy(array: NDArray[Any], address: int, storage: bool) -> Memory | None:
    if array.size == 0:
        return None
    flags = array.flags
    if array.base is None and flags.c_contiguous:
        end = address + array.nbytes
        return Memory(address, end, address, (address, end), not flags.writeable, array)
    owner: NDArray[Any] = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    first, last = _span(owner)
    start, end = _span(array)
    if storage or not _is_dense(array.shape, array.strides, array.itemsize):
        start, end = min(first, start), max(last, end)
    whole = (min(first, start), max(last, end))
    return Memory(start, end, address, whole, not flags.writeable, array)


def _span(array: NDArray[Any]) -> tuple[int, int]:
    """The first byte of an array's elements, and the one behind the last."""
    start = end = int(array.__array_interface__["data"][0])
    for count, stride in zip(array.shape, array.strides, strict=True):
        if stride < 0:
            start += (count - 1) * stride
        else:
            end += (count - 1) * stride
    return start, end + array.itemsize
