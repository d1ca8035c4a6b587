"""Addresses that programs pass as numbers: in tables of pointers, or as an integer.

A program that asks a tensor for its address (``x.data_ptr()``) may put it into a tensor of 64-bit integers, as grouped products
of matrices do, and a kernel follows it. On warpstep's device memory lies elsewhere. So tensors that were asked are remembered, for
as long as they are alive, and where memory of 64-bit integers that a kernel gets holds an address of one of them, the kernel finds
there the address on the device. An address that nobody was asked for stays a number, and following it is a defect.
"""

from __future__ import annotations

import sys
import weakref
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from warpstep.triton._arrays import Memory, memory_of, unwrapped

#: Memory whose addresses programs have asked for, without its owner, and what gives the owner if that is alive.
_asked: dict[tuple[int, int, int], tuple[Memory, Callable[[], Any]]] = {}


def remember(value: Any) -> None:
    """Take note of a tensor or an array whose address somebody has asked for."""
    memory = memory_of(value)
    if memory is not None:
        key = (memory.start, memory.end, memory.storage[1])
        _asked[key] = (replace(memory, owner=None), _life(unwrapped(value)))


def _life(value: Any) -> Callable[[], Any]:
    """What gives the owner of memory: its storage, since a tensor may be a view that is gone soon."""
    if isinstance(value, np.ndarray):
        while isinstance(value.base, np.ndarray):
            value = value.base
        return weakref.ref(value)
    from torch.multiprocessing.reductions import StorageWeakRef

    torch, held = sys.modules["torch"], StorageWeakRef(value.untyped_storage())
    return lambda: None if held.expired() else torch.UntypedStorage._new_with_weak_ptr(held.cdata)


def forget_all() -> None:
    """Forget all of them."""
    _asked.clear()


#: No memory of a process lies below: smaller numbers are no addresses, and need not be looked up.
LEAST = 1 << 16


class Known:
    """The memory that addresses may lead to, as it is at a launch; looked at when something may be one."""

    @cached_property
    def _all(self) -> list[Memory]:
        found = []
        for key, (memory, life) in list(_asked.items()):
            owner = life()
            if owner is None or not _is_there(memory, owner):
                del _asked[key]
            else:
                found.append(replace(memory, owner=owner))
        # The larger of those that begin together is found first.
        return sorted(found, key=lambda memory: (memory.start, memory.end))

    @cached_property
    def _starts(self) -> list[int]:
        return [memory.start for memory in self._all]

    def at(self, address: int) -> Memory | None:
        """The memory that an address is in."""
        if address < LEAST:
            return None
        for k in range(bisect_right(self._starts, address) - 1, -1, -1):
            if address < self._all[k].end:
                return self._all[k]
            if self._all[k].storage[1] <= address:
                break
        return None

    def pointers(self, memory: Memory) -> Iterator[tuple[int, int, Memory]]:
        """Each address that memory holds: from which byte on, the address, and the memory that it is in."""
        skip = -memory.start % 8
        count = (memory.end - memory.start - skip) // 8
        if count <= 0:
            return
        words = memory.bytes()[skip : skip + 8 * count].view(np.uint64)
        perhaps = np.flatnonzero((words >= LEAST) & (words < 1 << 47))
        if perhaps.size and self._all:
            most = max(each.end for each in self._all)
            perhaps = perhaps[(words[perhaps] >= self._starts[0]) & (words[perhaps] < most)]
        for k in perhaps if self._all else ():
            address = int(words[k])
            found = self.at(address)
            if found is not None:
                yield skip + 8 * int(k), address, found


def _is_there(memory: Memory, owner: Any) -> bool:
    """Whether a storage is still where it was, of the size that it had."""
    if isinstance(owner, np.ndarray):
        return True
    return bool(owner.data_ptr() == memory.storage[0] and owner.data_ptr() + owner.nbytes() == memory.storage[1])
