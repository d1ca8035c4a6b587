"""The driver's functions, by their names, as numba-cuda calls them: what the machine does for each."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from warpstep._errors import Unsupported
from warpstep.numba._machine import TOTAL_MEMORY, Machine
from warpstep.numba._memory import BadAddress, host_bytes

#: The one context that there is.
_CONTEXT = 1
_MAPPED = 2
#: The version of CUDA that the driver says it is for.
_VERSION = 13050


class DriverFunctions:
    """Functions of the driver's interface, without the result code that numba-cuda takes off."""

    def __init__(self, machine: Machine) -> None:
        from cuda.bindings import driver as binding

        self._machine = machine
        self._binding = binding

    def find(self, name: str) -> Callable[..., Any]:
        """The function of a name; one that is not there says so when it is called."""
        found: Callable[..., Any] | None = getattr(self, name, None)
        if found is not None:
            return self._checked(found)

        def absent(*_: Any) -> Any:
            raise Unsupported("driver-function", f"the program calls `{name}` of CUDA's driver, which warpstep has not")

        absent.__name__ = name
        return absent

    def _checked(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            try:
                return function(*arguments)
            except BadAddress as error:
                raise self._machine.error("CUDA_ERROR_INVALID_VALUE", str(error)) from None
            except MemoryError as error:
                raise self._machine.error("CUDA_ERROR_OUT_OF_MEMORY", str(error)) from None

        call.__name__ = function.__name__
        return call

    # The device and its context.

    def cuInit(self, flags: int) -> None:
        """Nothing is to be done."""

    def cuDriverGetVersion(self) -> int:
        """The version of CUDA that it behaves as."""
        return _VERSION

    def cuDeviceGetCount(self) -> int:
        """There is one."""
        return 1

    def cuDeviceGetAttribute(self, attribute: Any, device: Any) -> int:
        """A property."""
        return self._machine.attribute(attribute.name.removeprefix("CU_DEVICE_ATTRIBUTE_"))

    def cuDeviceCanAccessPeer(self, device: Any, peer: Any) -> int:
        """There is no other device."""
        return 0

    def cuDevicePrimaryCtxRetain(self, device: Any) -> Any:
        """The context."""
        return self._binding.CUcontext(_CONTEXT)

    def cuDevicePrimaryCtxRelease(self, device: Any) -> None:
        """The context stays."""

    def cuDevicePrimaryCtxReset(self, device: Any) -> None:
        """The device is as new; what programs still hold is freed when they let go of it."""

    def _stack(self) -> list[int]:
        stacks = self._machine.stacks
        if not hasattr(stacks, "stack"):
            stacks.stack = []
        stack: list[int] = stacks.stack
        return stack

    def cuCtxGetCurrent(self) -> Any:
        """The context of this thread, or null."""
        return self._binding.CUcontext(self._stack()[-1] if self._stack() else 0)

    def cuCtxGetDevice(self) -> Any:
        """The device of this thread's context."""
        if not self._stack():
            raise self._machine.error("CUDA_ERROR_INVALID_CONTEXT", "no context is current in this thread")
        return self._binding.CUdevice(0)

    def cuCtxPushCurrent(self, context: Any) -> None:
        """Make a context this thread's."""
        self._stack().append(int(context))

    def cuCtxPopCurrent(self) -> Any:
        """Make the one of before this thread's."""
        if not self._stack():
            raise self._machine.error("CUDA_ERROR_INVALID_CONTEXT", "no context is current in this thread")
        return self._binding.CUcontext(self._stack().pop())

    def cuCtxSynchronize(self) -> None:
        """All is done already."""

    # Memory.

    def cuMemGetInfo(self) -> tuple[int, int]:
        """Free and total bytes."""
        return TOTAL_MEMORY - self._machine.memory.used, TOTAL_MEMORY

    def cuMemAlloc(self, size: int) -> Any:
        """Device memory."""
        if size <= 0:
            raise self._machine.error("CUDA_ERROR_INVALID_VALUE", f"{size} bytes of memory")
        return self._binding.CUdeviceptr(self._machine.memory.allocate(int(size)).address)

    def cuMemAllocManaged(self, size: int, flags: int) -> Any:
        """Device memory that the host has, too, as all device memory is here."""
        return self.cuMemAlloc(size)

    def cuMemFree(self, pointer: Any) -> None:
        """Free device memory."""
        self._machine.memory.free(int(pointer))

    def cuMemHostAlloc(self, size: int, flags: int) -> int:
        """Memory of the host, which has a device address if the flags say so."""
        held = np.zeros(max(int(size), 1), dtype=np.uint8)
        self._pin(held, flags)
        return int(held.ctypes.data)

    def cuMemHostRegister(self, pointer: int, size: int, flags: int) -> None:
        """The same of memory that is there already."""
        if int(pointer) in self._machine.pinned:
            raise self._machine.error("CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", f"memory at {int(pointer):#x}")
        self._pin(host_bytes(int(pointer), int(size)), flags)

    def _pin(self, held: Any, flags: int) -> None:
        device = self._machine.memory.map(held).address if int(flags) & _MAPPED else None
        self._machine.pinned[int(held.ctypes.data)] = (held, device)

    def cuMemFreeHost(self, pointer: Any) -> None:
        """Free memory of the host."""
        _, device = self._machine.pinned.pop(int(pointer), (None, None))
        if device is not None:
            self._machine.memory.free(device, mapped=True)

    def cuMemHostUnregister(self, pointer: Any) -> None:
        """Memory of the host is no longer pinned."""
        self.cuMemFreeHost(pointer)

    def cuMemHostGetDevicePointer(self, pointer: Any, flags: int) -> Any:
        """The device address of memory of the host."""
        device = self._machine.pinned.get(int(pointer), (None, None))[1]
        if device is None:
            raise self._machine.error("CUDA_ERROR_INVALID_VALUE", f"memory at {int(pointer):#x} is not mapped")
        return self._binding.CUdeviceptr(device)

    def cuMemGetAddressRange(self, pointer: Any) -> tuple[Any, int]:
        """Where the allocation of an address begins, and its size."""
        allocation, _ = self._machine.memory.find(int(pointer))
        return self._binding.CUdeviceptr(allocation.address), len(allocation.bytes)

    def cuPointerGetAttribute(self, attribute: Any, pointer: Any) -> Any:
        """What an address is."""
        name = attribute.name.removeprefix("CU_POINTER_ATTRIBUTE_")
        allocation, _ = self._machine.memory.find(int(pointer))
        if name == "DEVICE_POINTER":
            return self._binding.CUdeviceptr(int(pointer))
        if name == "RANGE_START_ADDR":
            return self._binding.CUdeviceptr(allocation.address)
        if name == "RANGE_SIZE":
            return len(allocation.bytes)
        if name == "DEVICE_ORDINAL":
            return 0
        raise Unsupported("driver-function", f"the program asks for `{attribute.name}` of a pointer")

    def cuMemcpyHtoD(self, to: Any, source: Any, size: int) -> None:
        """Copy from the host."""
        self._machine.memory.write(int(to), int(source), int(size))

    def cuMemcpyDtoH(self, to: Any, source: Any, size: int) -> None:
        """Copy to the host."""
        self._machine.memory.read(int(to), int(source), int(size))

    def cuMemcpyDtoD(self, to: Any, source: Any, size: int) -> None:
        """Copy on the device."""
        self._machine.memory.copy(int(to), int(source), int(size))

    def cuMemsetD8(self, to: Any, byte: int, count: int) -> None:
        """Fill memory."""
        self._machine.memory.fill(int(to), int(byte), int(count))

    def cuMemcpyHtoDAsync(self, to: Any, source: Any, size: int, stream: Any) -> None:
        """Copy from the host, at once."""
        self.cuMemcpyHtoD(to, source, size)

    def cuMemcpyDtoHAsync(self, to: Any, source: Any, size: int, stream: Any) -> None:
        """Copy to the host, at once."""
        self.cuMemcpyDtoH(to, source, size)

    def cuMemcpyDtoDAsync(self, to: Any, source: Any, size: int, stream: Any) -> None:
        """Copy on the device, at once."""
        self.cuMemcpyDtoD(to, source, size)

    def cuMemsetD8Async(self, to: Any, byte: int, count: int, stream: Any) -> None:
        """Fill memory, at once."""
        self.cuMemsetD8(to, byte, count)

    # Modules and kernels.

    def cuLibraryGetGlobal(self, library: Any, name: bytes) -> tuple[Any, int]:
        """Where the host finds a variable of a module, and its size."""
        variable = self._machine.module(library).variables.get(name.decode())
        if variable is None:
            raise self._machine.error("CUDA_ERROR_NOT_FOUND", f"the module has no variable {name.decode()!r}")
        return self._binding.CUdeviceptr(variable.address), len(variable.bytes)

    def cuLibraryUnload(self, library: Any) -> None:
        """Forget a module."""
        self._machine.unload(library)

    def cuKernelSetCacheConfig(self, kernel: Any, config: Any, device: Any) -> None:
        """There is no cache that could be larger or smaller."""

    def cuKernelSetAttribute(self, attribute: Any, value: int, kernel: Any, device: Any) -> None:
        """Nothing that changes what a kernel does."""

    def cuOccupancyMaxActiveBlocksPerMultiprocessor(self, kernel: Any, threads: int, shared: int) -> int:
        """How many blocks are on a multiprocessor at once, by threads and shared memory; registers are not known."""
        attributes = self._machine.known(kernel).attributes
        if not 0 < threads <= attributes.max_threads_per_block:
            return 0
        most = self._machine.attribute
        warps = (threads + 31) // 32
        by_threads = most("MAX_THREADS_PER_MULTIPROCESSOR") // (32 * warps)
        bytes_of_block = attributes.shared_size_bytes + shared
        by_shared = most("MAX_SHARED_MEMORY_PER_MULTIPROCESSOR") // bytes_of_block if bytes_of_block else 32
        return int(min(by_threads, by_shared, 32))

    def cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        self, kernel: Any, threads: int, shared: int, flags: int
    ) -> int:
        """The same."""
        return self.cuOccupancyMaxActiveBlocksPerMultiprocessor(kernel, threads, shared)

    def cuProfilerStart(self) -> None:
        """Nothing is profiled."""

    def cuProfilerStop(self) -> None:
        """Nothing is profiled."""

    # Streams and events.

    def cuStreamCreate(self, flags: int) -> Any:
        """A stream."""
        handle = self._machine.handle()
        self._machine.streams.add(handle)
        return self._binding.CUstream(handle)

    def cuStreamDestroy(self, stream: Any) -> None:
        """Forget a stream."""
        self._machine.streams.discard(int(stream))

    def cuStreamSynchronize(self, stream: Any) -> None:
        """All is done already."""

    def cuStreamWaitEvent(self, stream: Any, event: Any, flags: int) -> None:
        """What was recorded has happened."""

    def cuStreamAddCallback(self, stream: Any, callback: Any, data: int, flags: int) -> None:
        """Call it: all that is to come before has."""
        call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)(int(callback))
        call(int(stream) or None, 0, data)

    def cuEventCreate(self, flags: int) -> Any:
        """An event."""
        handle = self._machine.handle()
        self._machine.events[handle] = None
        return self._binding.CUevent(handle)

    def cuEventDestroy(self, event: Any) -> None:
        """Forget an event."""
        self._machine.events.pop(int(event), None)

    def cuEventRecord(self, event: Any, stream: Any) -> None:
        """Note the time."""
        self._machine.events[int(event)] = self._machine.now()

    def cuEventQuery(self, event: Any) -> None:
        """It has happened."""

    def cuEventSynchronize(self, event: Any) -> None:
        """It has happened."""

    def cuEventElapsedTime(self, start: Any, end: Any) -> float:
        """The time of this computer between two events, in milliseconds."""
        first, last = (self._machine.events.get(int(event)) for event in (start, end))
        if first is None or last is None:
            raise self._machine.error("CUDA_ERROR_INVALID_HANDLE", "an event was not recorded")
        return 1000 * (last - first)
