"""Arguments of kernels: from what Python programs have to what the compiled part takes."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

#: What the compiled part takes for an argument.
Described = tuple[Any, ...]

_FLOATS = {"f16": "<e", "f32": "<f", "f64": "<d"}
_DTYPES = {"f16": "np.float16", "f32": "np.float32", "f64": "np.float64", "s": "np.int", "u": "np.uint", "b": "np.uint"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a kernel, as the PTX declares it."""

    #: Its name.
    name: str
    #: The type of its elements, such as ``"u64"`` or ``"f32"``.
    type: str
    #: Its size in bytes.
    bytes: int
    #: Whether it is an array of bytes: a struct or an array by value.
    array: bool
    #: Whether it is declared to be a pointer (``.ptr``).
    pointer: bool
    #: Whether it can be a pointer, so that it takes an array.
    takes_memory: bool

    def __str__(self) -> str:
        return f"{self.name}: {self.type}[{self.bytes}]" if self.array else f"{self.name}: {self.type}"


class Arguments:
    """The arguments of one launch."""

    __slots__ = ("arrays", "described", "kernel", "names", "parameters", "written_back")

    def __init__(self, kernel: str, parameters: Sequence[Parameter], names: Sequence[str] | None = None) -> None:
        self.kernel = kernel
        self.parameters = parameters
        self.names = names
        #: What the compiled part is given.
        self.described: list[Described] = []
        #: The arrays among them.
        self.arrays: list[NDArray[Any]] = []
        #: Arrays whose elements do not lie side by side, with their copies that the kernel works on.
        self.written_back: list[tuple[NDArray[Any], NDArray[Any]]] = []

    def take(self, given: Sequence[Any]) -> Arguments:
        """Describe what was given."""
        if len(given) != len(self.parameters):
            takes = ", ".join(map(str, self.parameters)) or "none"
            count = f"{len(self.parameters)} argument{'' if len(self.parameters) == 1 else 's'}"
            was = f"{len(given)} {'was' if len(given) == 1 else 'were'} given"
            raise TypeError(f"kernel `{self.kernel}` takes {count} ({takes}), {was}")
        if self.names is not None and len(self.names) != len(given):
            raise ValueError(f"names={list(self.names)!r} are {len(self.names)}, the arguments {len(given)}")
        describe = self.described.append
        for place, (parameter, value) in enumerate(zip(self.parameters, given, strict=True)):
            if type(value) is np.ndarray and not parameter.array:
                describe(self._memory(place, parameter, value))
            else:
                describe(self._other(place, parameter, value))
        if self.written_back:
            self._copies_apart()
        return self

    def finish(self) -> None:
        """Give copies back to the arrays that they are of."""
        for array, copy in self.written_back:
            array[...] = copy

    def _called(self, place: int) -> str:
        return f"argument {place} (`{self.parameters[place].name}`)"

    def _memory(self, place: int, parameter: Parameter, array: NDArray[Any]) -> Described:
        if not parameter.takes_memory:
            raise TypeError(f"{self._called(place)} is an array, and the parameter is {parameter.type}: give a number")
        element = _ELEMENTS.get(array.dtype) or self._element(place, array.dtype)
        flags = array.flags
        keep = not flags.writeable
        if flags.c_contiguous:
            view = array.reshape(-1).view(np.uint8)
        elif flags.f_contiguous:
            view = array.T.reshape(-1).view(np.uint8)
        else:
            copy = np.ascontiguousarray(array)
            view = copy.reshape(-1).view(np.uint8)
            if not keep:
                self.written_back.append((array, copy))
        self.arrays.append(array)
        name = self.names[place] if self.names is not None else f"arg{place}"
        return ("memory", name, element, view, keep, None)

    def _element(self, place: int, dtype: np.dtype[Any]) -> str:
        """The type of elements in PTX's words, which is kept for the next time."""
        if dtype.hasobject:
            raise TypeError(
                f"{self._called(place)} is an array of Python objects ({dtype}), which no kernel can read: "
                "give it a dtype of numbers"
            )
        if not dtype.isnative:
            raise TypeError(
                f"{self._called(place)} has dtype {dtype.str!r}, whose bytes are in another order than a GPU's: "
                "give x.astype(x.dtype.newbyteorder('='))"
            )
        bits = 8 * dtype.itemsize
        if dtype.name == "bfloat16":
            element = "bf16"
        elif dtype.kind in "fc" and dtype.kind + str(dtype.itemsize) in ("f2", "f4", "f8", "c8", "c16"):
            element = f"f{bits if dtype.kind == 'f' else bits // 2}"
        elif dtype.kind in "iumM":
            element = f"{'u' if dtype.kind == 'u' else 's'}{bits}"
        elif dtype.kind == "b":
            element = "u8"
        elif dtype.kind in "VSU":
            element = "b8"
        else:
            raise TypeError(f"{self._called(place)} has dtype {dtype}, which PTX does not have")
        _ELEMENTS[dtype] = element
        return element

    def _other(self, place: int, parameter: Parameter, value: Any) -> Described:
        if parameter.array:
            return ("struct", self._struct(place, parameter, value))
        if value is None:
            if parameter.takes_memory:
                return ("null",)
            raise TypeError(f"{self._called(place)} is None, and the parameter is {parameter.type}: give a number")
        if isinstance(value, np.generic):
            return self._numpy_number(place, parameter, value)
        if isinstance(value, (int, float)):
            return self._number(place, parameter, value)
        if isinstance(value, bytes):
            return ("struct", self._struct(place, parameter, value))
        return self._memory(place, parameter, self._array(place, parameter, value))

    def _array(self, place: int, parameter: Parameter, value: Any) -> NDArray[Any]:
        """An array on the memory of an object that is none."""
        called = self._called(place)
        if hasattr(value, "__cuda_array_interface__"):
            raise TypeError(f"{called} is memory of a GPU: give a copy on the host, such as x.cpu() or x.get()")
        if isinstance(value, np.ndarray) or hasattr(value, "__array_interface__"):
            return np.asarray(value)
        if hasattr(value, "__dlpack__"):
            return np.from_dlpack(value)
        if isinstance(value, (list, tuple)):
            kind = type(value).__name__
            raise TypeError(f"{called} is a {kind}, which has no memory that a kernel can work on: give np.array(…)")
        try:
            return np.asarray(memoryview(value))
        except TypeError:
            wants = "an array, or a number" if parameter.takes_memory else "a number"
            raise TypeError(f"{called} is a {type(value).__name__}: give {wants}") from None

    def _struct(self, place: int, parameter: Parameter, value: Any) -> bytes:
        called = self._called(place)
        if isinstance(value, (int, float)) and not isinstance(value, np.generic) or value is None:
            raise TypeError(
                f"{called} is {value!r}, and the parameter is a struct of {parameter.bytes} bytes: "
                "give bytes, or a scalar or array of a structured dtype"
            )
        try:
            data = value.tobytes() if isinstance(value, (np.generic, np.ndarray)) else bytes(memoryview(value))
        except TypeError:
            raise TypeError(
                f"{called} is a {type(value).__name__}, and the parameter is a struct of {parameter.bytes} bytes: "
                "give bytes, or a scalar or array of a structured dtype"
            ) from None
        if len(data) != parameter.bytes:
            raise ValueError(f"{called} has {len(data)} bytes, and the parameter {parameter.bytes}")
        return data

    def _numpy_number(self, place: int, parameter: Parameter, value: np.generic) -> Described:
        kind, name = value.dtype.kind, parameter.type
        fits = kind in "f" if name.startswith("f") else kind in "iub" or name.startswith("b") and kind in "fV"
        if not fits or value.dtype.itemsize != parameter.bytes or not value.dtype.isnative:
            raise TypeError(
                f"{self._called(place)} is a {value.dtype}, and the parameter is {name}: "
                f"give {_number_advice(parameter)}"
            )
        return ("number", name.replace("b", "u") if name.startswith("b") else name, value.tobytes())

    def _number(self, place: int, parameter: Parameter, value: int | float) -> Described:
        name, size = parameter.type, parameter.bytes
        if name.startswith("f"):
            try:
                return ("number", name, struct.pack(_FLOATS[name], value))
            except OverflowError:
                raise ValueError(f"{self._called(place)} is {value}, which is too large for {name}") from None
        if isinstance(value, float):
            raise TypeError(
                f"{self._called(place)} is a float, and the parameter is {name}: give {_number_advice(parameter)}"
            )
        # Compilers declare parameters by size alone: both halves of the numbers of so many bits are taken.
        try:
            data = int(value).to_bytes(size, "little", signed=value < 0)
        except OverflowError:
            raise ValueError(f"{self._called(place)} is {value}, which does not fit {name}") from None
        return ("number", "u" + name[1:] if name.startswith("b") else name, data)

    def _copies_apart(self) -> None:
        """See to it that no array that is copied shares memory with another, which would not see what is written."""
        for array, _ in self.written_back:
            for other in self.arrays:
                if other is not array and np.may_share_memory(array, other):
                    raise ValueError(
                        "an array that is not contiguous shares memory with another argument, and a kernel works on "
                        "a copy of it: give x.copy() of one of them"
                    )

    def expecting(self, expect: Any) -> tuple[list[Described], Callable[[list[bytes]], str | None] | None]:
        """Give the arguments with what they must hold at the end, or the code that judges it."""
        if expect is None:
            return self.described, None
        if callable(expect):
            return self.described, self._judge(expect)
        wanted = wanted_arrays(expect)
        if len(wanted) != len(self.arrays):
            arrays = f"{len(self.arrays)} array{'' if len(self.arrays) == 1 else 's'}"
            raise ValueError(
                f"expect has {len(wanted)} entries, and the kernel {arrays}: give None for one that may be"
            )
        rest = iter(zip(wanted, self.arrays, strict=True))
        return [self._expected(each, next(rest)) if each[0] == "memory" else each for each in self.described], None

    def _expected(self, described: Described, pair: tuple[Any, NDArray[Any]]) -> Described:
        wanted, array = pair
        if wanted is None:
            return described
        wanted = np.asarray(wanted)
        if wanted.shape != array.shape:
            raise ValueError(f"expect has shape {wanted.shape} for `{described[1]}`, which has {array.shape}")
        # Elements lie as those of the array do.
        held = np.array(wanted, dtype=array.dtype, order="C").ravel(order=_order(array)).view(np.uint8)
        return (*described[:5], held)

    def _judge(self, expect: Callable[..., Any]) -> Callable[[list[bytes]], str | None]:
        return Judge(expect, [(array.dtype, array.shape, _order(array)) for array in self.arrays])


def wanted_arrays(expect: Any) -> list[Any]:
    """Give the arrays that an expectation is, which is no code."""
    if isinstance(expect, (str, bytes)):
        raise TypeError("expect is code or arrays, not a text")
    return [expect] if isinstance(expect, np.ndarray) else list(expect)


@dataclass(frozen=True, slots=True)
class Judge:
    """Code that is asked whether what a run left is right. It can be pickled if the code can."""

    expect: Callable[..., Any]
    #: The arrays among the arguments: types, shapes, orders of elements.
    arrays: list[tuple[np.dtype[Any], tuple[int, ...], Literal["C", "F"]]]

    def __call__(self, left: list[bytes]) -> str | None:
        """Ask of the bytes that each array holds."""
        arrays = [
            np.frombuffer(held, dtype=dtype).reshape(shape, order=order)
            for held, (dtype, shape, order) in zip(left, self.arrays, strict=True)
        ]
        return judged(self.expect, arrays)


def judged(expect: Callable[..., Any], arrays: Sequence[Any]) -> str | None:
    """Ask code what it says of the arrays that a run left: a reason, or none."""
    try:
        said = expect(*arrays)
    except AssertionError as error:
        return str(error) or "an assertion in `expect` failed"
    return _verdict(said)


def _order(array: NDArray[Any]) -> Literal["C", "F"]:
    """In which order a kernel has the elements of an array."""
    return "C" if array.flags.c_contiguous or not array.flags.f_contiguous else "F"


def _verdict(said: Any) -> str | None:
    """Why results are wrong, by what code that judges them gave."""
    if said is None or said is True:
        return None
    if isinstance(said, str):
        return said
    if isinstance(said, np.ndarray) and said.ndim > 0:
        raise TypeError("`expect` gave an array: give one truth value, such as (x == 2).all()")
    return None if said else "`expect` says that the results are wrong"


def _number_advice(parameter: Parameter) -> str:
    name = parameter.type
    if name.startswith("f"):
        return f"{_DTYPES.get(name, 'a float')}(…) or a Python float"
    if name.startswith("b"):
        floats = {2: "np.float16", 4: "np.float32", 8: "np.float64"}.get(parameter.bytes)
        return f"np.uint{8 * parameter.bytes}(…), " + (f"{floats}(…) " if floats else "") + "or a Python int"
    return f"{_DTYPES.get(name[0], 'np.uint')}{8 * parameter.bytes}(…) or a Python int"


#: Types of elements by dtype.
_ELEMENTS: dict[np.dtype[Any], str] = {}
