"""Device memory, as the host sees it: allocations by their device addresses, kept from launch to launch.

Addresses are never given twice while others are left, and lie 4 GB apart, so that an index that leaves one allocation does not reach
another, and a pointer to memory that was freed points to nothing. Each launch is given the allocations that it can reach
(`Memory.reachable`); they lie at these addresses there, too, so pointers may be kept in memory, in constants of the program, or on
the host.
"""

from __future__ import annotations

import ctypes
import functools
import struct
import threading
from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpstep._warpstep import FIRST_ADDRESS, LAST_ADDRESS

Bytes = NDArray[np.uint8]

#: Address space between two allocations, at least.
_APART = 1 << 32
#: Addresses of copies that are made for one launch: the lowest that are free, so that a launch which is repeated has them again.
_TEMPORARY = range(FIRST_ADDRESS, FIRST_ADDRESS + (1 << 50))
_LASTING = range(_TEMPORARY.stop, LAST_ADDRESS)


class Allocation:
    """Memory that kernels can access."""

    __slots__ = ("address", "bytes", "label", "written")

    def __init__(self, address: int, held: Bytes, written: bool) -> None:
        #: Its device address.
        self.address = address
        #: What it holds; of mapped memory the host's own bytes.
        self.bytes = held
        #: Whether anybody has written to it.
        self.written = written
        #: What reports call it, once a kernel had it as an argument.
        self.label: str | None = None

    @property
    def name(self) -> str:
        """What reports call it."""
        return self.label or f"{self.address:#x}"

    def __repr__(self) -> str:
        return f"<Allocation {self.name} of {len(self.bytes)} bytes>"


class BadAddress(ValueError):
    """The host has named device memory that is not there."""


class Memory:
    """All allocations of a device."""

    def __init__(self, total: int) -> None:
        """Make an empty memory of so many bytes."""
        self.total = total
        self.used = 0
        self._next = _LASTING.start
        #: Addresses in ascending order, and the allocations at them.
        self._addresses: list[int] = []
        self._at: dict[int, Allocation] = {}
        self._lock = threading.RLock()

    def __iter__(self) -> Iterator[Allocation]:
        with self._lock:
            return iter([self._at[address] for address in self._addresses])

    def __len__(self) -> int:
        return len(self._addresses)

    def allocate(self, size: int, temporary: bool = False) -> Allocation:
        """Make an allocation that nobody has written to; `MemoryError` where the device has no room."""
        with self._lock:
            if self.used + size > self.total:
                raise MemoryError(f"{size} bytes, and {self.total - self.used} of {self.total} are free")
            self.used += size
            return self._add(np.zeros(size, dtype=np.uint8), False, _TEMPORARY if temporary else _LASTING)

    def map(self, held: Bytes) -> Allocation:
        """Give bytes of the host a device address."""
        with self._lock:
            return self._add(held, True, _LASTING)

    def _add(self, held: Bytes, written: bool, room: range) -> Allocation:
        space = (len(held) + 2 * _APART - 1) // _APART * _APART
        lasting = room is _LASTING
        address = self._next if lasting and self._next + space <= room.stop else room.start
        while (taken := self._taken(address, space)) is not None:
            address = taken
            if address + space > room.stop:
                raise MemoryError("there is no address left")
        if lasting:
            self._next = address + space
        allocation = Allocation(address, held, written)
        self._at[address] = allocation
        insort(self._addresses, address)
        return allocation

    def _taken(self, address: int, space: int) -> int | None:
        """The first address behind an allocation that is in the way."""
        place = bisect_right(self._addresses, address + space - 1)
        if place == 0:
            return None
        before = self._at[self._addresses[place - 1]]
        end = before.address + (len(before.bytes) + 2 * _APART - 1) // _APART * _APART
        return end if end > address else None

    def free(self, address: int, mapped: bool = False) -> None:
        """Forget the allocation at an address."""
        with self._lock:
            allocation = self._at.pop(address, None)
            if allocation is None:
                raise BadAddress(f"no allocation begins at {address:#x}")
            self._addresses.remove(address)
            if not mapped:
                self.used -= len(allocation.bytes)

    def clear(self) -> None:
        """Forget all allocations."""
        with self._lock:
            self._addresses.clear()
            self._at.clear()
            self.used = 0

    def near(self, address: int) -> Allocation | None:
        """The allocation that an address belongs to: it lies inside, or behind its end."""
        with self._lock:
            place = bisect_right(self._addresses, address)
            return self._at[self._addresses[place - 1]] if place else None

    def find(self, address: int, size: int = 0) -> tuple[Allocation, int]:
        """The allocation that holds `size` bytes at an address, and how far in these begin."""
        allocation = self.near(address)
        if allocation is None or address + size > allocation.address + len(allocation.bytes):
            raise BadAddress(f"there are no {size} bytes of device memory at {address:#x}")
        return allocation, address - allocation.address

    def read(self, to: int, source: int, size: int) -> None:
        """Copy device memory to an address of the host's process."""
        allocation, offset = self.find(source, size)
        ctypes.memmove(to, allocation.bytes.ctypes.data + offset, size)

    def write(self, to: int, source: int, size: int) -> None:
        """Copy from an address of the host's process to device memory."""
        allocation, offset = self.find(to, size)
        ctypes.memmove(allocation.bytes.ctypes.data + offset, source, size)
        allocation.written = True

    def copy(self, to: int, source: int, size: int) -> None:
        """Copy within device memory."""
        allocation, offset = self.find(source, size)
        self.write(to, allocation.bytes.ctypes.data + offset, size)

    def fill(self, to: int, byte: int, size: int) -> None:
        """Fill device memory with a byte."""
        allocation, offset = self.find(to, size)
        allocation.bytes[offset : offset + size] = byte & 0xFF
        allocation.written = True

    def reachable(self, words: Iterable[int], held: Iterable[Bytes] = ()) -> list[Allocation]:
        """The allocations that pointers lead to, by ascending address: those among words, in other bytes, and in what these lead to.

        What could be a pointer is taken for one, if it is aligned as one.
        """
        found: dict[int, Allocation] = {}
        waiting = [word for word in words if FIRST_ADDRESS <= word < LAST_ADDRESS]
        for each in held:
            waiting += _pointers(each)
        while waiting:
            allocation = self.near(waiting.pop())
            if allocation is not None and allocation.address not in found:
                found[allocation.address] = allocation
                if allocation.written:
                    waiting += _pointers(allocation.bytes)
        return [found[address] for address in sorted(found)]


def _pointers(held: Bytes) -> Iterable[int]:
    """All words that could be device addresses, each once."""
    count = len(held) // 8
    if not count or held.ctypes.data % 8:
        return ()
    if count <= _FEW:
        return {word for word in _few(count).unpack_from(held.data) if FIRST_ADDRESS <= word < LAST_ADDRESS}
    words = held[: 8 * count].view(np.uint64)
    # One comparison for both ends: what is below the first wraps around.
    inside = words[words - _FIRST < _SPAN]
    return map(int, np.unique(inside)) if inside.size else ()


#: So many words are looked at one by one in less time than by numpy.
_FEW = 64
_FIRST, _SPAN = np.uint64(FIRST_ADDRESS), np.uint64(LAST_ADDRESS - FIRST_ADDRESS)


@functools.cache
def _few(count: int) -> struct.Struct:
    return struct.Struct(f"={count}Q")


def host_bytes(address: int, size: int) -> Bytes:
    """Bytes of the host's process as an array, without a copy."""
    if not size:
        return np.zeros(0, dtype=np.uint8)
    held: Any = (ctypes.c_ubyte * size).from_address(address)
    return np.frombuffer(held, dtype=np.uint8)
