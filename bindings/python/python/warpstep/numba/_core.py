"""What numba-cuda takes from `cuda.core`, without a driver: the device, streams, and how a launch is configured."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from warpstep.numba._machine import machine


class Device:
    """The device, as `cuda.core.Device`."""

    def __init__(self, number: int | None = 0) -> None:
        if number not in (None, 0):
            raise machine().error("CUDA_ERROR_INVALID_DEVICE", f"there is no device {number}: warpstep has one")
        self.device_id = 0
        self.name = "warpstep"
        self.uuid = "77617270-7374-6570-0000-000000000000"
        self.context = SimpleNamespace(handle=_context())

    @property
    def compute_capability(self) -> tuple[int, int]:
        """That of the programs that are compiled for it."""
        return machine().capability

    def set_current(self) -> None:
        """Make its context this thread's."""
        from numba.cuda.cudadrv.driver import driver

        driver.cuCtxPushCurrent(_context())


def _context() -> Any:
    from cuda.bindings import driver as binding

    return binding.CUcontext(1)


class Stream:
    """A stream, as `cuda.core.Stream`: what is put into it is done at once."""

    def __init__(self, handle: int = 0) -> None:
        self.handle = handle

    @staticmethod
    def from_handle(handle: Any) -> Stream:
        """The stream of a handle; 0 is the default one."""
        return Stream(int(handle))

    def __cuda_stream__(self) -> tuple[int, int]:
        """The protocol by which libraries exchange streams."""
        return (0, self.handle)

    def sync(self) -> None:
        """All is done already."""

    def __bool__(self) -> bool:
        return self.handle != 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self.handle == other.handle or other == 0 and self.handle == 0

    def __hash__(self) -> int:
        return hash(self.handle)


class LaunchConfig:
    """How a kernel is launched, as `cuda.core.LaunchConfig`."""

    def __init__(self, grid: Any, block: Any, shmem_size: int = 0, **others: Any) -> None:
        self.grid = grid if isinstance(grid, tuple) else (grid,)
        self.block = block if isinstance(block, tuple) else (block,)
        self.shmem_size = shmem_size or 0
        self.others = others
