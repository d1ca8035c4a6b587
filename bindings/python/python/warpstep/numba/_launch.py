"""Launches: numba-cuda's flat list of arguments becomes bytes, and the allocations that these lead to are the kernel's memory."""

from __future__ import annotations

import ctypes
import functools
import sys
import threading
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from warpstep import _session
from warpstep._arguments import Arguments, Described, Parameter, judged
from warpstep._errors import Error, InputError, made
from warpstep._module import Launch, Run, native_options, shaped
from warpstep.numba import _frames
from warpstep.numba._frames import Frame, Seen
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


class _Here(threading.local):
    """What is of one thread."""

    def __init__(self) -> None:
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
    """Of ascending addresses the one that an address is behind."""
    place = bisect_right(addresses, address) if address else 0
    return addresses[place - 1] if place else None


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
    try:
        shape = shaped(tuple(config.grid), tuple(config.block), config.shmem_size)
    except ValueError as error:
        # A driver refuses it with the number that it has for all launches that cannot be.
        called = _frames.HERE.frames[-1].kernel if _frames.HERE.frames else None
        text = f"[launch-limit] Error: kernel `{called or kernel.ptx.name}` cannot be launched: {error}"
        raise _as_driver_says(InputError("launch-limit", text)) from None
    place = machine()
    with place.running:
        prepared = _prepared(kernel, Launch(kernel.ptx, shape), arguments)
        instead, HERE.instead = HERE.instead, None
        try:
            HERE.last = instead(prepared) if instead is not None else run(prepared)
        except Error as error:
            raise _as_driver_says(prepared.told(error)) from None
        finished(prepared)


def _as_driver_says(error: Error) -> Error:
    """The error of a launch that no device can make as one of `cuda.core`, too, which programs catch."""
    if error.code != "launch-limit":
        return error
    try:
        refused = _refused()
    except ImportError:
        return error
    return refused(error.code, f"{error}\n  CUDA_ERROR_INVALID_VALUE in the words of a driver", error._data)


@functools.cache
def _refused() -> type[InputError]:
    from cuda.core._utils.cuda_utils import CUDAError

    return type("LaunchRefused", (InputError, CUDAError), {"__module__": "warpstep.numba"})


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
    values, words = _packed(arguments, parameters)
    taken = Packed(kernel, [("struct", value) for value in values])
    frame = _frames.HERE.frames[-1] if _frames.HERE.frames else Frame(())
    taken.seen = frame.arrays
    module = kernel.module
    held = [variable.bytes for variable in module.variables.values()]
    found = machine().memory.reachable(words + module.constants if module.constants else words, held)
    if module.variables:
        own = {variable.address for variable in module.variables.values()}
        found = [each for each in found if each.address not in own]
    taken.allocations = found
    _named(found, [*((seen.name, seen.address) for seen in taken.seen), *frame.pointers])
    for each in found:
        taken.described.append(
            ("placed", each.name, _element(each, taken.seen), each.bytes, each.written, each.address)
        )
    taken.described += [("variable", name, variable.bytes) for name, variable in module.variables.items()]
    options = {key: value for key, value in asked().items() if key != "lineinfo"}
    given = native_options(options) if options or _session.current is not None and _session.current.check else None
    return Prepared(kernel, launch, taken, given, frame.kernel)


def _packed(arguments: Sequence[Any], parameters: Sequence[Parameter]) -> tuple[list[bytes], list[int]]:
    """The bytes of parameters, and the words of 64 bits in them."""
    values, words = [], []
    for argument, parameter in zip(arguments, parameters, strict=True):
        size = parameter.bytes
        # Most of them: what describes arrays.
        if type(argument) is int and size == 8:
            argument &= 0xFFFF_FFFF_FFFF_FFFF
            words.append(argument)
            values.append(argument.to_bytes(8, "little"))
        else:
            value = _bytes_of(argument, size)
            values.append(value)
            words += [int.from_bytes(value[at : at + 8], "little") for at in range(0, size - 7, 8)]
    return values, words


def _named(allocations: Sequence[Allocation], called: Sequence[tuple[str, int]]) -> None:
    """Allocations are called as the arrays in them, and the pointers to them, are."""
    addresses = [each.address for each in allocations]
    names: dict[int, str] = {}
    for name, address in called:
        home = _home(addresses, address)
        if home is not None:
            names.setdefault(home, name)
    used: set[str] = set()
    for each in allocations:
        each.label = names.get(each.address, each.label)
        if each.name in used:
            each.label = None
        used.add(each.name)


def _element(allocation: Allocation, seen: Sequence[Seen]) -> str:
    """The type of elements by which reports show an allocation: that of the first array in it."""
    first, size = allocation.address, len(allocation.bytes)
    for each in seen:
        if first <= each.address <= first + size:
            word = _ELEMENTS.get(each.dtype)
            if word is None:
                word = _ELEMENTS[each.dtype] = _word(each.dtype)
            if word and size % each.dtype.itemsize == 0:
                return word
    return "b8"


#: PTX's words for elements, or nothing where it has none, by the types that were met.
_ELEMENTS: dict[np.dtype[Any], str] = {}


def _word(dtype: np.dtype[Any]) -> str:
    kind, bits = dtype.kind, 8 * dtype.itemsize
    if kind not in "iuf" or kind == "f" and bits not in (16, 32, 64):
        return ""
    return {"i": "s", "u": "u", "f": "f"}[kind] + str(bits)


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
