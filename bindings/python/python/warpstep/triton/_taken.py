"""The arguments of one launch as the compiled part takes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from warpstep._arguments import Arguments, Described, judged
from warpstep._module import Kernel
from warpstep.triton._addresses import Known
from warpstep.triton._arrays import Memory, address_of, memory_of, unwrapped
from warpstep.triton._values import Given, packed

#: PTX's words for what Triton's pointers point at, where another word than that of bits says more.
_WORDS = {
    "fp16": "f16", "bf16": "bf16", "fp32": "f32", "fp64": "f64",
    "i8": "s8", "i16": "s16", "i32": "s32", "i64": "s64",
    "u8": "u8", "u16": "u16", "u32": "u32", "u64": "u64",
}  # fmt: skip
#: The same by the pointers' types, as far as they were met: ``"*fp32"``, ``"*kfp32"`` of one that is constant.
_ELEMENTS: dict[str, str] = {}
_NULL: Described = ("null",)


def _element(kind: str) -> str:
    word = _ELEMENTS[kind] = _WORDS.get(kind[1:].removeprefix("k"), "b8")
    return word


class Taken(Arguments):
    """Arguments of a Triton kernel, with the memory that addresses in them lead to."""

    __slots__ = ("_memories", "_values", "owners")

    def __init__(self, kernel: Kernel, given: Sequence[Given], storage: bool) -> None:
        super().__init__(kernel.name, kernel.parameters)
        #: What keeps memory alive while the kernel runs.
        self.owners: list[Any] = []
        #: Memory by the place of its argument; those of no parameter are behind all that are.
        self._memories: dict[int, tuple[str, Memory]] = {}
        #: The tensors and arrays among the arguments, with the place of the memory that has all of each.
        self._values: list[tuple[Any, int]] = []
        self._take(given, storage)

    def _take(self, given: Sequence[Given], storage: bool) -> None:
        known = Known()
        tables: list[int] = []
        late: list[tuple[int, str, int]] = []
        for place, (name, kind, value) in enumerate(given):
            self.described.append(_NULL)
            if kind.startswith("*") and not isinstance(value, int):
                memory = None if value is None else memory_of(value, storage)
                if memory is not None:
                    self._pass(place, name, _ELEMENTS.get(kind) or _element(kind), memory)
                    self._values.append((unwrapped(value), place))
                    if kind[-3:] == "i64" or kind[-3:] == "u64":
                        tables.append(place)
                continue
            number = packed(name, "i64" if kind.startswith("*") else kind, value)
            self.described[place] = ("struct", number)
            if len(number) == 8 and kind[0] in "iu*" and value and known.at(int(value)) is not None:
                late.append((place, name, int(value)))
        self._apart()
        for place, name, address in late:
            self._address(place, name, address, known)
        self._follow(tables, known)

    def _pass(self, place: int, name: str, element: str, memory: Memory) -> None:
        self._memories[place] = (name, memory)
        self.owners.append(memory.owner)
        self.described[place] = _described("memory", name, element, memory)

    def _beside(self, name: str, memory: Memory) -> int:
        """Memory that no parameter is given for; gives its place among the arguments."""
        place = len(self.described)
        self.described.append(_NULL)
        taken = {each for each, _ in self._memories.values()}
        while name in taken:
            name += "'"
        self._memories[place] = (name, memory)
        self.owners.append(memory.owner)
        self.described[place] = _described("beside", name, "b8", memory)
        return place

    def _apart(self) -> None:
        """Pass the whole storage of arguments that share a part of their memory, and of pointers into the midst of theirs."""
        if len(self._memories) < 2 and all(memory.address == memory.start for _, memory in self._memories.values()):
            return
        memories = sorted(self._memories.items(), key=lambda each: (each[1][1].start, -each[1][1].end))
        wholes: list[tuple[int, int, str, Any]] = []
        before: tuple[str, Memory] | None = None
        for place, (name, memory) in memories:
            if before is not None and memory.start < before[1].end < memory.end:
                start = min(memory.storage[0], before[1].storage[0])
                wholes.append((start, max(memory.storage[1], before[1].storage[1]), name, memory.owner))
            if before is None or memory.end > before[1].end:
                before = (name, memory)
            if memory.address != memory.start:
                # The pointer is a part of memory: what it is a part of stands beside the arguments.
                whole = self._beside(f"{name} (storage)", memory)
                self._values = [(value, whole if at == place else at) for value, at in self._values]
                inside = Memory(
                    memory.address, memory.end, memory.address, memory.storage, memory.readonly, memory.owner
                )
                self.described[place] = _described("memory", name, self.described[place][2], inside)
                self._memories[place] = (name, inside)
        for start, end, name, owner in wholes:
            self._beside(f"{name} (storage)", Memory(start, end, start, (start, end), False, owner))

    def _address(self, place: int, name: str, address: int, known: Known) -> None:
        """Pass an address that was given as a number as a pointer."""
        memory = known.at(address)
        if memory is not None:
            target = self._place(memory, name)
            self.described[place] = ("within", target, address - self._memories[target][1].start)

    def _place(self, memory: Memory, name: str) -> int:
        """The argument, or memory beside them, that holds memory: the largest, of which others are parts."""
        holding = [
            (held.start - held.end, place)
            for place, (_, held) in self._memories.items()
            if held.start <= memory.start and memory.end <= held.end
        ]
        return min(holding)[1] if holding else self._beside(f"*{name}", memory)

    def _follow(self, tables: list[int], known: Known) -> None:
        """Tell which bytes of memory are addresses of other memory, and what these lead to."""
        pointers: list[Described] = []
        rest, seen = list(tables), set(tables)
        while rest:
            table = rest.pop(0)
            name, memory = self._memories[table]
            for at, address, target in known.pointers(memory):
                place = self._place(target, f"{name}[{at // 8}]")
                pointers.append(("pointer", table, at, place, address - self._memories[place][1].start))
                # What an address leads to may hold addresses, too.
                if place not in seen:
                    seen.add(place)
                    rest.append(place)
        self.described.extend(pointers)

    def expecting(self, expect: Any) -> tuple[list[Described], Callable[[list[bytes]], str | None] | None]:
        """Give the arguments with the code that judges what they hold at the end."""
        if expect is None:
            return self.described, None
        if not callable(expect):
            raise TypeError("expect is code here: it is called with the tensors and arrays that a run left")
        places = sorted(self._memories)
        values = [(Layout.of(value, self._memories[at][1].start), places.index(at)) for value, at in self._values]
        return self.described, _Judge(expect, values)


def _described(kind: str, name: str, element: str, memory: Memory) -> Described:
    return (kind, name, element, memory.buffer(), memory.readonly, None)


@dataclass(frozen=True, slots=True)
class Layout:
    """How a tensor or an array lies in bytes, without them."""

    #: Whether it is a tensor of torch.
    torch: bool
    dtype: Any
    shape: tuple[int, ...]
    #: In bytes of an array, in elements of a tensor.
    strides: tuple[int, ...]
    #: How far behind the first byte it begins, and the bytes of an element.
    offset: int
    size: int

    @classmethod
    def of(cls, value: Any, start: int) -> Layout:
        """That of a tensor or an array in bytes which begin at an address."""
        if isinstance(value, np.ndarray):
            offset = int(value.__array_interface__["data"][0]) - start
            return cls(False, value.dtype, value.shape, value.strides, offset, value.itemsize)
        strides, offset = tuple(value.stride()), address_of(value) - start
        return cls(True, value.dtype, tuple(value.shape), strides, offset, value.element_size())

    def made(self, held: bytes) -> Any:
        """A tensor or an array of other bytes that lies in them in the same way."""
        if not self.torch:
            return np.ndarray(self.shape, self.dtype, bytearray(held), self.offset, self.strides)
        import torch

        flat = torch.frombuffer(bytearray(held), dtype=torch.uint8)[self.offset % self.size :]
        typed = flat[: flat.numel() // self.size * self.size].view(self.dtype)
        return typed.as_strided(self.shape, self.strides, self.offset // self.size)


@dataclass(frozen=True, slots=True)
class _Judge:
    """Code that is asked whether what a run left is right. It can be pickled if the code can."""

    expect: Callable[..., Any]
    #: The tensors and arrays among the arguments, each with the number of the memory that it is in.
    values: list[tuple[Layout, int]]

    def __call__(self, left: list[bytes]) -> str | None:
        return judged(self.expect, [layout.made(left[at]) for layout, at in self.values])
