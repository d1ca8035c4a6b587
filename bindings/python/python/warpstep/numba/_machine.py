"""The machine that numba-cuda finds instead of a GPU: one device with memory, modules, streams and events.

There is one for the process, since numba-cuda keeps devices, contexts and arrays in variables of its own modules. Everything is done
at once, in the order in which it is asked for: streams and events have nothing to wait for.
"""

from __future__ import annotations

import functools
import itertools
import threading
import time
import weakref
from typing import Any

from warpstep.numba._memory import Bytes, Memory
from warpstep.numba._modules import Module

#: Bytes of device memory.
TOTAL_MEMORY = 16 << 30

#: What numba-cuda, and programs, ask of a device; the rest is 0. Those of a device of compute capability 8.0, as far as they mean
#: anything here.
ATTRIBUTES = {
    "ASYNC_ENGINE_COUNT": 1,
    "CAN_MAP_HOST_MEMORY": 1,
    "CLOCK_RATE": 1410000,
    "CONCURRENT_KERNELS": 1,
    "CONCURRENT_MANAGED_ACCESS": 1,
    "COOPERATIVE_LAUNCH": 1,
    "GLOBAL_MEMORY_BUS_WIDTH": 5120,
    "L2_CACHE_SIZE": 40 << 20,
    "MANAGED_MEMORY": 1,
    "MAX_BLOCK_DIM_X": 1024,
    "MAX_BLOCK_DIM_Y": 1024,
    "MAX_BLOCK_DIM_Z": 64,
    "MAX_GRID_DIM_X": (1 << 31) - 1,
    "MAX_GRID_DIM_Y": 65535,
    "MAX_GRID_DIM_Z": 65535,
    "MAX_REGISTERS_PER_BLOCK": 65536,
    "MAX_REGISTERS_PER_MULTIPROCESSOR": 65536,
    "MAX_SHARED_MEMORY_PER_BLOCK": 49152,
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 166912,
    "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": 167936,
    "MAX_THREADS_PER_BLOCK": 1024,
    "MAX_THREADS_PER_MULTIPROCESSOR": 2048,
    "MULTIPROCESSOR_COUNT": 108,
    "SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO": 2,
    "TOTAL_CONSTANT_MEMORY": 65536,
    "UNIFIED_ADDRESSING": 1,
    "WARP_SIZE": 32,
}


class Machine:
    """A device without hardware, and what is on it."""

    def __init__(self) -> None:
        self.capability = (8, 0)
        self.memory = Memory(TOTAL_MEMORY)
        #: Memory of the host that is pinned, by the host's address: bytes, and the device address if there is one.
        self.pinned: dict[int, tuple[Bytes, int | None]] = {}
        #: When events were recorded, in seconds.
        self.events: dict[int, float | None] = {}
        self.streams: set[int] = set()
        #: Launches come one after the other, whichever thread they are of.
        self.running = threading.RLock()
        self._handles = itertools.count(1 << 40, 16)
        self._modules: dict[int, Module] = {}
        self._known: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
        #: The stack of contexts of each thread.
        self.stacks = threading.local()

    def handle(self) -> int:
        """A number that nothing else has."""
        return next(self._handles)

    def handle_of(self, thing: Any) -> int:
        """A handle by which a thing is found as long as it is there."""
        handle = self.handle()
        self._known[handle] = thing
        return handle

    def known(self, handle: Any) -> Any:
        """The thing of a handle."""
        found = self._known.get(int(handle))
        if found is None:
            raise self.error("CUDA_ERROR_INVALID_HANDLE", f"{handle!r} is no handle of anything that is there")
        return found

    def load(self, texts: list[tuple[str, str]], registers: int | None = None) -> Module:
        """Load a module whose kernels have so many registers at most."""
        module = Module(self, texts, self.handle(), registers or 255)
        self._modules[module.handle] = module
        return module

    def module(self, handle: Any) -> Module:
        """The module of a handle."""
        found = self._modules.get(int(handle))
        if found is None:
            raise self.error("CUDA_ERROR_INVALID_HANDLE", f"no module has the handle {handle!r}")
        return found

    def unload(self, handle: Any) -> None:
        """Forget a module."""
        self.module(handle).unload()
        del self._modules[int(handle)]

    def attribute(self, name: str) -> int:
        """A property of the device."""
        if name == "COMPUTE_CAPABILITY_MAJOR":
            return self.capability[0]
        if name == "COMPUTE_CAPABILITY_MINOR":
            return self.capability[1]
        return ATTRIBUTES.get(name, 0)

    @staticmethod
    def error(code: str, what: str) -> Exception:
        """The exception of numba-cuda for an error code of the driver."""
        from cuda.bindings import driver as binding
        from numba.cuda.cudadrv.driver import CudaAPIError

        error: Exception = CudaAPIError(getattr(binding.CUresult, code), f"{code}: {what}")
        return error

    @staticmethod
    def now() -> float:
        """The time, for events."""
        return time.perf_counter()


@functools.cache
def machine() -> Machine:
    """The machine of this process."""
    return Machine()
