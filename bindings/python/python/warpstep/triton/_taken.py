"""The arguments of one launch as the compiled part takes them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from warpstep._arguments import Arguments, Described, judged
from warpstep._module import Kernel
from warpstep.triton._addresses import Known
from warpstep.triton._arrays import Memory, address_of, memory_of, unwrapped
from warpstep.triton._values import Given, packed

#: PTX's words for what Triton's pointers point at, where another word than that of bits says more.
_ELEMENTS = {
    "fp16": "f16", "bf16": "bf16", "fp32": "f32", "fp64": "f64",
    "i8": "s8", "i16": "s16", "i32": "s32", "i64": "s64",
    "u8": "u8", "u16": "u16", "u32": "u32", "u64": "u64",
}  # fmt: skip
_NULL: Described = ("null",)


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
                    self._pass(place, name, _ELEMENTS.get(kind[1:].removeprefix("k"), "b8"), memory)
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
        memories, values = self._memories, self._values

        def judge(left: list[bytes]) -> str | None:
            held = dict(zip(sorted(memories), left, strict=True))
            return judged(expect, [_like(value, memories[at][1].start, held[at]) for value, at in values])

        return self.described, judge


def _described(kind: str, name: str, element: str, memory: Memory) -> Described:
    return (kind, name, element, memory.bytes(), memory.readonly, None)


def _like(value: Any, start: int, held: bytes) -> Any:
    """What a run left, as the tensor or the array that was given."""
    if isinstance(value, np.ndarray):
        offset = int(value.__array_interface__["data"][0]) - start
        return np.ndarray(value.shape, value.dtype, bytearray(held), offset, value.strides)
    torch = sys.modules["torch"]
    flat = torch.frombuffer(bytearray(held), dtype=torch.uint8)
    offset, size = address_of(value) - start, value.element_size()
    flat = flat[offset % size :]
    typed = flat[: flat.numel() // size * size].view(value.dtype)
    return typed.as_strided(tuple(value.shape), tuple(value.stride()), offset // size)
