"""Arrays of the host as arguments of kernels: copied to the device and back, as `cuda.In`, `cuda.Out` and `cuda.InOut` say.

numba-cuda describes them by `cuda.core`'s views of memory, which ask the driver. Here they are the views that numba-cuda itself makes
of its device arrays. An array whose elements do not lie side by side is packed for the copy, and its elements are written back one by
one.
"""

from __future__ import annotations

import functools
import math
from types import SimpleNamespace
from typing import Any
from warnings import warn

import numpy as np

from warpstep.numba._frames import HERE
from warpstep.numba._machine import machine
from warpstep.numba._memory import host_bytes


@functools.cache
def _numba() -> SimpleNamespace:
    """What is used of numba-cuda, which is imported once somebody needs it."""
    from numba.cuda.core import config
    from numba.cuda.core.errors import NumbaPerformanceWarning
    from numba.cuda.cudadrv import devicearray, driver

    return SimpleNamespace(
        config=config,
        driver=driver,
        Layout=devicearray._StridedLayoutShim,
        View=devicearray._StridedMemoryViewShim,
        Warning=NumbaPerformanceWarning,
    )


def shim(address: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: Any) -> Any:
    """A view of device memory as numba-cuda makes it."""
    c_order, f_order = _contiguous(shape, strides, dtype.itemsize)
    layout = _numba().Layout(
        strides_in_bytes=strides,
        is_contiguous_c=c_order,
        is_contiguous_f=f_order,
        is_contiguous_any=c_order or f_order,
    )
    return _numba().View(ptr=address, shape=shape, dtype=dtype, size=math.prod(shape), _layout=layout)


def _contiguous(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> tuple[bool, bool]:
    def in_order(pairs: list[tuple[int, int]]) -> bool:
        expected = itemsize
        for length, stride in pairs:
            if length > 1 and stride != expected:
                return False
            expected *= length
        return True

    pairs = list(zip(shape, strides, strict=True))
    if 0 in shape:
        return True, True
    return in_order(pairs[::-1]), in_order(pairs)


class HostCopy:
    """A copy on the device of an array of the host, for one launch."""

    def __init__(self, value: Any, copy: bool) -> None:
        self.value = value
        array = np.asarray(value)
        flags = array.flags
        # Elements that do not lie side by side are put side by side first, and those of a scalar lie nowhere yet.
        side_by_side = (flags.c_contiguous or flags.f_contiguous) and isinstance(value, np.ndarray)
        packed = array if side_by_side else np.array(array, order="C", copy=True)
        self._size = packed.nbytes
        self._address = 0
        if self._size:
            allocation = machine().memory.allocate(self._size, temporary=True)
            self._address = allocation.address
            if copy:
                allocation.bytes[:] = packed.reshape(-1, order="A").view(np.uint8)
                allocation.written = True
        self._packed = packed
        if HERE.frames:
            HERE.frames[-1].copies.append(self)
        self.view = shim(self._address, packed.shape, packed.strides, packed.dtype)

    def write_back(self) -> None:
        """Give the host what the kernel left."""
        if not self._size:
            return
        value, packed = self.value, self._packed
        if isinstance(value, np.ndarray) and not value.flags.writeable:
            return
        allocation, _ = machine().memory.find(self._address, self._size)
        packed.reshape(-1, order="A").view(np.uint8)[:] = allocation.bytes
        if isinstance(value, np.ndarray):
            if not (packed is value or np.may_share_memory(packed, value)):
                value[...] = packed
        elif isinstance(value, np.void):
            host_bytes(_numba().driver.host_pointer(value), self._size)[:] = packed.reshape(-1).view(np.uint8)

    def free(self) -> None:
        """The launch is over."""
        address, self._address = self._address, 0
        if address:
            machine().memory.free(address)

    def __del__(self) -> None:
        self.free()


def to_view(obj: Any, stream: Any = 0, copy: bool = True, user_explicit: bool = False) -> tuple[Any, Any]:
    """The view of an argument, and its copy if it is of the host: what takes the place of `_to_strided_memory_view`."""
    numba = _numba()
    if isinstance(obj, numba.View):
        return obj, False
    if numba.driver.is_device_memory(obj):
        return obj._strided_memory_view_shim, False
    if not isinstance(obj, (np.ndarray, np.generic)):
        interface = getattr(obj, "__cuda_array_interface__", None)
        if interface is not None:
            return _interface_view(interface), False
        if hasattr(obj, "__dlpack__"):
            obj = np.from_dlpack(obj)
    _warn(obj, copy, user_explicit)
    made = HostCopy(obj, copy)
    return made.view, made


def _interface_view(interface: Any) -> Any:
    """The view of memory that another library says is on the device, once what that library has put into its stream is done."""
    from numba.cuda.api_util import prepare_shape_strides_dtype
    from numba.cuda.core import config
    from numba.cuda.cudadrv import devices

    if interface.get("stream") is not None and config.CUDA_ARRAY_INTERFACE_SYNC:
        devices.get_context().create_external_stream(interface["stream"]).synchronize()
    shape, strides, dtype = prepare_shape_strides_dtype(
        interface["shape"], interface.get("strides"), interface["typestr"], order="C"
    )
    return shim(interface["data"][0], tuple(shape), tuple(strides), dtype)


def _warn(obj: Any, copy: bool, user_explicit: bool) -> None:
    """Warn of copies, as numba-cuda does where it is told to."""
    config = _numba().config
    wanted = config.CUDA_WARN_ON_IMPLICIT_COPY and not config.DISABLE_PERFORMANCE_WARNINGS
    if wanted and copy and not user_explicit and isinstance(obj, np.ndarray):
        what = "Host array used in CUDA kernel will incur copy overhead to/from device."
        warn(_numba().Warning(what), stacklevel=2)


def in_to_device(hint: Any, retr: list[Any], stream: Any = 0) -> Any:
    """`In.to_device`: the copy is kept until the kernel has ended."""
    view, copy = to_view(hint.value, stream=stream)
    retr.append(lambda: copy)
    return view


def out_to_device(hint: Any, retr: list[Any], stream: Any = 0) -> Any:
    """`Out.to_device` and `InOut.to_device`."""
    view, copy = to_view(hint.value, stream=stream, copy=type(hint).copy_input)
    if copy:
        retr.append(copy.write_back)
    return view
