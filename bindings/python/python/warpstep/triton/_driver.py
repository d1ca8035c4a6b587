"""The driver that Triton launches with, in place of CUDA's."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

import warpstep
from warpstep._module import Kernel, Module
from warpstep.triton import _launch, _settings
from warpstep.triton._stream import Interface

#: Registers of a thread that are told to who asks. PTX has none that are counted; programs that fill a device by it get a number.
REGISTERS = 32
#: Threads of a block at most.
THREADS = 1024

#: Shared memory of a block at most, by the target.
_SHARED = {70: 98304, 72: 98304, 75: 65536, 80: 166912, 86: 101376, 87: 166912, 89: 101376}
#: Devices that a target is the architecture of: multiprocessors, and names.
_DEVICES = {80: (108, "A100"), 90: (132, "H100")}


class Loaded(NamedTuple):
    """What the driver has of a kernel, as CUDA's has a handle."""

    kernel: Kernel
    shared: int


@lru_cache(maxsize=256)
def _loaded(name: str, text: bytes, shared: int) -> Loaded:
    module = Module(text, f"{name}.ptx")
    return Loaded(module[name], shared)


class Utils:
    """What Triton asks CUDA's driver for."""

    def get_device_properties(self, device: int) -> dict[str, int]:
        """Say what the device has: that of the target, where nothing else is asked for."""
        settings = _settings.current()
        count, _ = _DEVICES.get(settings.target.arch, (64, ""))
        properties = {
            "max_shared_mem": _SHARED.get(settings.target.arch, 232448 if settings.target.arch >= 90 else 49152),
            "max_num_regs": 65536,
            "multiprocessor_count": count,
            "warpSize": 32,
            "sm_clock_rate": 1410000,
            "mem_clock_rate": 1215000,
            "mem_bus_width": 5120,
        }
        return {**properties, **settings.properties}

    # Triton unloads the first of these when the kernel goes, by the driver of that time: there is nothing to unload.
    def load_binary(self, name: str, text: bytes, shared: int, device: int) -> tuple[None, Loaded, int, int, int]:
        """Read the PTX of a kernel."""
        return None, _loaded(name, bytes(text), shared), REGISTERS, 0, THREADS

    def unload_module(self, module: Any) -> None:
        """Do nothing."""

    def set_printf_fifo_size(self, size: int) -> None:
        """Do nothing: there is no limit of what kernels print."""


class Launcher:
    """Launches one compiled kernel; Triton makes one for each."""

    def __init__(self, source: Any, metadata: Any) -> None:
        self._plan = _launch.Plan(source, metadata)

    def __call__(
        self,
        x: int,
        y: int,
        z: int,
        stream: Any,
        function: Loaded,
        packed: Any,
        launch_metadata: Any,
        enter: Callable[[Any], None] | None,
        leave: Callable[[Any], None] | None,
        *arguments: Any,
    ) -> None:
        """Launch it with so many blocks."""
        if enter is not None:
            enter(launch_metadata)
        launched = _launch.launch_of(self._plan, function, (x, y, z), stream, arguments)
        if launched is not None:
            _settings.current().act(launched)
        if leave is not None:
            leave(launch_metadata)


class Driver(DriverBase):
    """The device that Triton's programs see."""

    launcher_cls = Launcher

    def __init__(self) -> None:
        self.utils = Utils()

    @classmethod
    def is_active(cls) -> bool:
        """Nobody gets it who does not ask for it."""
        return False

    def map_python_to_cpp_type(self, ty: str) -> str:
        """There is no C++ here."""
        raise NotImplementedError(f"warpstep has no launchers in C++, which a type of it would be for: {ty}")

    def get_current_target(self) -> GPUTarget:
        """Give the target that kernels are compiled for."""
        return _settings.current().target

    # Triton keeps compiled kernels, and limits, by the number of the device. It is that of the target, so that neither those of
    # another target are met nor those of a GPU that the same process uses, too.
    def get_current_device(self) -> int:
        """Give the number of the device."""
        return int(self.get_current_target().arch)

    def set_current_device(self, device: int) -> None:
        """There is one device only."""

    def get_current_stream(self, device: int) -> int:
        """Give the one stream, whose launches are done when they come back."""
        return 0

    def get_device_capability(self, device: int | None = None) -> tuple[int, int]:
        """Give the target as two numbers."""
        return divmod(int(self.get_current_target().arch), 10)

    def get_active_torch_device(self) -> Any:
        """Give the device that tensors lie on: the CPU."""
        import torch

        return torch.device("cpu")

    def get_device_interface(self) -> Interface:
        """Give what programs measure time with, which is counted in instructions here."""
        return Interface()

    def get_benchmarker(self) -> Callable[..., Any]:
        """Give what autotuning compares configurations with."""
        from warpstep.triton._tuning import benchmark

        return benchmark

    def get_empty_cache_for_benchmark(self) -> Any:
        """There is no cache that results depend on."""
        return None

    def clear_cache(self, cache: Any) -> None:
        """There is no cache that results depend on."""

    def assemble_tensormap_to_arg(self, tensormaps_info: Any, args: Any) -> Any:
        """Older versions of Triton ask for it."""
        return args

    def allocate_default_profile_scratch(self, size: int, alignment: int, stream: Any) -> Any:
        """Give memory that kernels write what they measure into."""
        import numpy as np

        from warpstep.triton._arrays import Array

        return Array(np.zeros(size, dtype=np.int8))


def device_name() -> str:
    """What programs are told that the device is called."""
    arch = int(_settings.current().target.arch)
    name = _DEVICES.get(arch, (0, f"sm_{arch}"))[1]
    return f"warpstep {warpstep.__version__} ({name})"
