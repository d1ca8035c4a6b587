"""Launches: numba-cuda's flat list of arguments becomes bytes, and the allocations that these lead to are the kernel's memory."""

from __future__ import annotations

import ctypes
import functools
import inspect
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from warpstep import _session
from warpstep._arguments import Arguments, Described, judged
from warpstep._errors import Error, made
from warpstep._module import Launch, Run, native_options, shaped
from warpstep.numba._machine import machine
from warpstep.numba._memory import Allocation
from warpstep.numba._modules import Kernel

#: Options of launches: those of the innermost `options` around them, in this thread.
OPTIONS: ContextVar[Mapping[str, Any]] = ContextVar("warpstep.numba.options", default=MappingProxyType({}))
#: Those of each `device` that is open, for threads that were started inside.
DEFAULTS: list[Mapping[str, Any]] = []


def asked() -> Mapping[str, Any]:
    """What launches are asked here."""
    return {**DEFAULTS[-1], **OPTIONS.get()} if DEFAULTS else OPTIONS.get()


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


class _Here(threading.local):
    """What is of one thread."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        #: What is done with the next launch instead of a run.
        self.instead: Callable[[Prepared], Run] | None = None
        self.last: Run | None = None


HERE = _Here()


class Packed(Arguments):
    """Arguments that are described already: numbers, and memory at its own addresses."""

    __slots__ = ("allocations", "seen")

    def __init__(self, kernel: Kernel, described: list[Described]) -> None:
        super().__init__(kernel.ptx.name, kernel.ptx.parameters)
        self.described = described
        self.allocations: list[Allocation] = []
        self.seen: list[Seen] = []

    def _judge(self, expect: Callable[..., Any]) -> Callable[[list[bytes]], str | None]:
        """Code that is given the arrays among the arguments as a run left them."""
        addresses = [allocation.address for allocation in self.allocations]
        homes = [_home(addresses, seen.address) for seen in self.seen]
        self.arrays = [np.empty(0, dtype=np.uint8)] * len(self.seen)
        return _Judge(expect, addresses, list(zip(self.seen, homes, strict=True)))


@dataclass(frozen=True, slots=True)
class _Judge:
    """Code that is asked whether what a run left is right. It can be pickled if the code can."""

    expect: Callable[..., Any]
    #: Where the allocations begin whose bytes a run leaves.
    addresses: list[int]
    #: The arrays, each with the beginning of the allocation that it is in.
    arrays: list[tuple[Seen, int | None]]

    def __call__(self, left: list[bytes]) -> str | None:
        places = {address: place for place, address in enumerate(self.addresses)}
        arrays = [
            np.empty(seen.shape, seen.dtype)
            if home is None
            else seen.of(home, np.frombuffer(left[places[home]], dtype=np.uint8))
            for seen, home in self.arrays
        ]
        return judged(self.expect, arrays)


def _home(addresses: Sequence[int], address: int) -> int | None:
    return max((each for each in addresses if each <= address), default=None) if address else None


@dataclass(slots=True)
class Prepared:
    """A launch that is ready to run."""

    kernel: Kernel
    launch: Launch
    taken: Packed
    options: dict[str, Any] | None
    #: The kernel's name in Python.
    called: str | None = None

    def told(self, error: Error) -> Error:
        """An error with the kernel's name in Python, in place of the one that has the types of its arguments in it."""
        if self.called is None or error.kind == "internal":
            return error
        ptx = self.kernel.ptx.name
        text, data = (each.replace(ptx, self.called) for each in (str(error), error._data))
        return made(error.kind, error.code, text, data, error.schedule)


def launch(stream: Any, config: Any, kernel: Kernel, *arguments: Any) -> None:
    """Launch a kernel: what `cuda.core.launch` is to numba-cuda."""
    shape = shaped(tuple(config.grid), tuple(config.block), config.shmem_size)
    place = machine()
    with place.running:
        prepared = _prepared(kernel, Launch(kernel.ptx, shape), arguments)
        instead, HERE.instead = HERE.instead, None
        try:
            HERE.last = instead(prepared) if instead is not None else run(prepared)
        except Error as error:
            raise prepared.told(error) from None
        finished(prepared)


def finished(prepared: Prepared) -> None:
    """What the kernel wrote has been written; what it printed is printed."""
    for allocation in prepared.taken.allocations:
        allocation.written = True
    if HERE.last is not None and HERE.last.output:
        sys.stdout.write(HERE.last.printed)
        sys.stdout.flush()


def run(prepared: Prepared) -> Run:
    """Run a launch to its end, as a pytest session asks."""
    session, native = _session.current, prepared.launch.kernel.module.native
    if session is not None and session.asks:
        from warpstep._searches import launch_in_session

        return launch_in_session(session, prepared.launch, prepared.taken, prepared.options)
    described = prepared.taken.described
    return Run(*native.run(prepared.launch.kernel.name, prepared.launch.shape, described, prepared.options))


def _prepared(kernel: Kernel, launch: Launch, arguments: Sequence[Any]) -> Prepared:
    parameters = kernel.ptx.parameters
    if len(arguments) != len(parameters):
        raise TypeError(
            f"kernel `{kernel.ptx.name}` has {len(parameters)} parameters in PTX, {len(arguments)} were given"
        )
    values = [_bytes_of(value, each.bytes) for value, each in zip(arguments, parameters, strict=True)]
    taken = Packed(kernel, [("struct", value) for value in values])
    frame = HERE.frames[-1] if HERE.frames else Frame(())
    taken.seen = list(frame.arrays)
    words = [int.from_bytes(value[at : at + 8], "little") for value in values for at in range(0, len(value) - 7, 8)]
    module = kernel.module
    variables = list(module.variables.items())
    held = [variable.bytes for _, variable in variables]
    taken.allocations = machine().memory.reachable([*words, *module.constants], held)
    own = {variable.address for _, variable in variables}
    taken.allocations = [each for each in taken.allocations if each.address not in own]
    _named(taken, [*((seen.name, seen.address) for seen in taken.seen), *frame.pointers])
    for each in taken.allocations:
        taken.described.append(
            ("placed", each.name, _element(each, taken.seen), each.bytes, each.written, each.address)
        )
    taken.described += [("variable", name, variable.bytes) for name, variable in variables]
    options = {key: value for key, value in asked().items() if key != "lineinfo"}
    given = native_options(options) if options or _session.current is not None else None
    return Prepared(kernel, launch, taken, given, frame.kernel)


def _named(taken: Packed, called: Sequence[tuple[str, int]]) -> None:
    """Allocations are called as the arrays in them, and the pointers to them, are."""
    addresses = [each.address for each in taken.allocations]
    names: dict[int, str] = {}
    for name, address in called:
        home = _home(addresses, address)
        if home is not None:
            names.setdefault(home, name)
    used: set[str] = set()
    for each in taken.allocations:
        each.label = names.get(each.address, each.label)
        if each.name in used:
            each.label = None
        used.add(each.name)


def _element(allocation: Allocation, seen: Sequence[Seen]) -> str:
    """The type of elements by which reports show an allocation: that of the first array in it."""
    size = len(allocation.bytes)
    for each in seen:
        if allocation.address <= each.address <= allocation.address + size:
            kind, bits = each.dtype.kind, 8 * each.dtype.itemsize
            if kind in "iuf" and size % each.dtype.itemsize == 0 and (kind != "f" or bits in (16, 32, 64)):
                return {"i": "s", "u": "u", "f": "f"}[kind] + str(bits)
    return "b8"


def _bytes_of(value: Any, size: int) -> bytes:
    """A parameter's bytes, of what numba-cuda gives for it."""
    if isinstance(value, (bool, np.bool_)):
        return int(value).to_bytes(size, "little")
    if isinstance(value, ctypes._SimpleCData):
        data = bytes(value)
    elif isinstance(value, np.generic):
        data = value.tobytes()
    elif isinstance(value, float):
        data = bytes(ctypes.c_double(value))
    elif value is None:
        data = bytes(size)
    else:
        return (int(value) & ((1 << 8 * size) - 1)).to_bytes(size, "little")
    return data[:size] + bytes(max(size - len(data), 0))


@contextmanager
def frame(kernel: Any, args: Sequence[Any]) -> Iterator[Frame]:
    """Note which kernel is prepared, for names in reports."""
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
    HERE.frames.append(Frame(*known))
    try:
        yield HERE.frames[-1]
    finally:
        for copy in HERE.frames.pop().copies:
            copy.free()


def argument(prepare: Callable[..., None], kernel: Any, ty: Any, value: Any, stream: Any, retr: Any, flat: Any) -> None:
    """Prepare an argument as numba-cuda does, and note which array it is; elements of tuples come here, too."""
    if not HERE.frames:
        return prepare(kernel, ty, value, stream, retr, flat)
    here, before = HERE.frames[-1], len(flat)
    if here.path:
        name = f"{here.path[-1]}[{here.count}]"
    else:
        name = here.names[here.count] if here.count < len(here.names) else f"arg{here.count}"
    count = here.count
    here.path.append(name)
    here.count = 0
    try:
        prepare(kernel, ty, value, stream, retr, flat)
    finally:
        here.path.pop()
        here.count = count + 1
    _note(here, name, ty, value, [int(each) if isinstance(each, int) else 0 for each in flat[before:]])
    return None


def _note(here: Frame, name: str, ty: Any, value: Any, flat: Sequence[int]) -> None:
    """Note an array, a record or a pointer by its part of the flat arguments."""
    kind, dimensions, dtype = _kind(ty)
    if kind == "array":
        shape, strides = tuple(flat[5 : 5 + dimensions]), tuple(flat[5 + dimensions :])
        if len(flat) != 5 + 2 * dimensions:
            has = (len(flat) - 5) // 2
            raise TypeError(f"`{name}` is an array of {has} dimensions, and the kernel was compiled for {dimensions}")
        held = getattr(value, "dtype", None)
        if flat[3] != dtype.itemsize or _is_of_another_kind(held, dtype):
            of = held if isinstance(held, np.dtype) else f"elements of {flat[3]} bytes"
            raise TypeError(f"`{name}` is an array of {of}, and the kernel was compiled for {dtype}")
        if ty.layout != "A" and flat[4] and not _lies(shape, strides, dtype.itemsize, ty.layout):
            raise TypeError(
                f"`{name}` has holes, and the kernel was compiled for an array whose elements lie side by side"
            )
        here.arrays.append(Seen(name, flat[4], shape, strides, dtype))
    elif kind == "record" and len(flat) == 1:
        here.arrays.append(Seen(name, flat[0], (), (), dtype))
    elif kind == "pointer" and len(flat) == 1:
        here.pointers.append((name, flat[0]))


def _is_of_another_kind(held: Any, dtype: np.dtype[Any]) -> bool:
    """Whether elements are numbers that others are taken for: floats for integers, or the other way round."""
    if held is dtype or not isinstance(held, np.dtype):
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


@functools.lru_cache(maxsize=4096)
def _kind(ty: Any) -> tuple[str, int, np.dtype[Any]]:
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
