"""Where warpstep takes the place of a GPU in numba-cuda.

The seam is the driver. numba-cuda's compiler, its dispatchers, device arrays, contexts, streams and the preparation of arguments
stay as they are, so that programs keep all of their behaviour: which copies are made, what is compiled when, what `cuda.Out` means,
how exceptions of debug kernels are raised. What lies below, the functions of `libcuda` and the parts of `cuda.core` that call them, is
replaced. To replace the launch of dispatchers instead would be less code, but device arrays, streams, variables of modules (by which
exceptions are told) and libraries that are linked would each have to be imitated above the driver, where numba-cuda changes with each
version.

While the seam is closed numba-cuda is as it was. What it keeps, such as arrays, stays in the machine, and is there when it is opened
again.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import threading
from collections.abc import Callable
from typing import Any

from warpstep.numba import _compile, _core, _frames, _launch, _link, _views
from warpstep.numba._driver import DriverFunctions
from warpstep.numba._machine import machine
from warpstep.numba._memory import host_bytes

_INSTALL = "Numba's support of CUDA is not installed: pip install 'numba-cuda[cu13]' (or [cu12])"

_DISABLED = "CUDA is disabled due to setting NUMBA_DISABLE_CUDA=1 in the environment"

#: The numba-cuda whose insides are known.
_WRITTEN_FOR = "0.30"

_MISSING = object()

#: Functions that finalizers of numba-cuda call, which may run when the seam is closed.
_FREEING = (
    "cuMemFree",
    "cuMemFreeHost",
    "cuMemHostUnregister",
    "cuEventDestroy",
    "cuStreamDestroy",
    "cuLibraryUnload",
)


def required() -> None:
    """Raise what helps, where numba-cuda cannot be used."""
    try:
        found = (
            importlib.util.find_spec("numba_cuda") is not None and importlib.util.find_spec("numba.cuda") is not None
        )
    except ImportError:
        found = False
    if not found:
        raise ImportError(_INSTALL)
    from numba.cuda.core import config

    if config.ENABLE_CUDASIM:
        raise RuntimeError(
            "NUMBA_ENABLE_CUDASIM is set, so numba-cuda runs kernels by its own simulator: unset it, and import again"
        )
    missing = [name for name in ("cuda.bindings.nvrtc", "cuda.bindings.nvvm", "cuda.core") if not _importable(name)]
    if missing:
        raise ImportError(f"{missing[0]} cannot be imported. {_INSTALL}")


def _importable(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


class Seam:
    """What is replaced, and by what."""

    def __init__(self) -> None:
        self.depth = 0
        self.lock = threading.RLock()
        #: What was there: object, attribute, value.
        self._before: list[tuple[Any, str, Any]] = []
        self._driver_before: dict[str, Any] = {}
        self._driver_now: dict[str, Any] | None = None
        self._devices: list[Any] = []

    def open(self, capability: tuple[int, int] | None) -> tuple[int, int]:
        """Put warpstep in place; gives the compute capability of before."""
        required()
        with self.lock:
            before = machine().capability
            if self.depth == 0:
                try:
                    self._replace()
                except BaseException:
                    self._restore()
                    raise
            self.depth += 1
            if capability is not None:
                self.choose(capability)
            return before

    def close(self, capability: tuple[int, int]) -> None:
        """Put back what was there, if nobody else needs it."""
        with self.lock:
            self.choose(capability)
            self.depth -= 1
            if self.depth == 0:
                self._restore()

    def choose(self, capability: tuple[int, int]) -> None:
        """Be a device of this compute capability."""
        machine().capability = capability
        for device in (self._driver_now or {}).get("devices", {}).values():
            device.compute_capability = capability

    def _put(self, where: Any, name: str, what: Any) -> None:
        before = vars(where).get(name, _MISSING)
        if before is _MISSING and name != "_logger":
            from importlib.metadata import version

            raise RuntimeError(
                f"numba-cuda {version('numba-cuda')} has no `{where.__name__}.{name}`, in whose place warpstep comes: "
                f"install the numba-cuda that it is written for, {_WRITTEN_FOR}"
            )
        self._before.append((where, name, before))
        setattr(where, name, what)

    def _replace(self) -> None:
        from numba.cuda import args, codegen, dispatcher
        from numba.cuda.cudadrv import devicearray, devices, driver, nvrtc
        from numba.cuda.memory_management import nrt

        self._replace_driver(driver)
        core = {
            "ExperimentalDevice": _core.Device,
            "ExperimentalStream": _core.Stream,
            "Linker": _link.Linker,
            "ObjectCode": _link.Code,
        }
        for name, what in core.items():
            self._put(driver, name, what)
        self._put(driver._Linker, "add_file", _link.without_devrt(driver._Linker.add_file))
        self._put(driver, "_logger", driver.make_logger())
        self._put(driver.ManagedMemory, "__init__", _managed(driver))
        self._put(driver.Stream, "add_callback", _add_callback)
        self._put(nvrtc, "Program", _link.Program)
        self._put(nvrtc, "ProgramOptions", _link.ProgramOptions)
        self._put(devices._DeviceList, "lst", property(lambda _: self._list(devices, driver)))
        for module in (dispatcher, nrt):
            self._put(module, "launch", _launch.launch)
            self._put(module, "LaunchConfig", _core.LaunchConfig)
        self._put(devicearray, "_to_strided_memory_view", _views.to_view)
        self._put(args.In, "to_device", _views.in_to_device)
        self._put(args.Out, "to_device", _views.out_to_device)
        kernel = dispatcher._Kernel
        self._put(kernel, "__init__", _compile.with_lines(kernel.__init__))
        self._put(kernel, "launch", _in_frame(kernel.launch))
        self._put(kernel, "_prepare_args", _noted(kernel._prepare_args))
        device = dispatcher.CUDADispatcher.compile_device
        self._put(dispatcher.CUDADispatcher, "compile_device", _compile.device_with_lines(device))
        self._put(codegen.CUDACodeLibrary, "get_cufunc", _compile.loaded)
        self._put(codegen.CUDACodeLibrary, "get_ltoir", _compile.linkable(codegen.CUDACodeLibrary.get_ltoir))
        self._put(codegen.JITCUDACodegen, "magic_tuple", _compile.marked(codegen.JITCUDACodegen.magic_tuple))

    def _replace_driver(self, module: Any) -> None:
        """Give numba-cuda's object for the driver other functions; the object stays, since many modules have it."""
        the_driver = module.driver
        if self._driver_now is None:
            functions = DriverFunctions(machine())

            def wrap(name: str) -> Callable[..., Any]:
                function = functions.find(name)
                setattr(the_driver, name, function)
                return function

            disabled = module.config.DISABLE_CUDA
            self._driver_now = {
                "devices": module.utils.UniqueDict(),
                "is_initialized": bool(disabled),
                "initialization_error": "CUDA is disabled due to setting NUMBA_DISABLE_CUDA=1 in the environment"
                if disabled
                else None,
                "pid": os.getpid(),
                "lib": None,
                "_cuda_python_wrap_fn": wrap,
            }
        self._driver_before = dict(vars(the_driver))
        vars(the_driver).clear()
        vars(the_driver).update(self._driver_now)

    def _restore(self) -> None:
        from numba.cuda.cudadrv import driver

        for where, name, what in reversed(self._before):
            if what is _MISSING:
                delattr(where, name)
            else:
                setattr(where, name, what)
        self._before.clear()
        the_driver = vars(driver.driver)
        self._driver_now = dict(the_driver)
        before = self._driver_before
        the_driver.clear()
        the_driver.update(before)
        for name in _FREEING:
            if not isinstance(before.get(name), _Freeing):
                the_driver[name] = _Freeing(name, before.get(name))
        # Arrays that go when the seam is closed still tell the logger.
        driver.__dict__.setdefault("_logger", driver.make_logger())

    def _list(self, devices: Any, driver: Any) -> list[Any]:
        """The devices that there are."""
        if not self._devices:
            self._devices = [devices._DeviceContextManager(driver.driver.get_device(0))]
        return self._devices


#: The seam of this process.
SEAM = Seam()


class _Freeing:
    """A function that frees what is the machine's here, and anything else by the driver that there may be."""

    def __init__(self, name: str, real: Callable[..., Any] | None) -> None:
        self.__name__ = name
        self._ours = DriverFunctions(machine()).find(name)
        self._real = real

    def __call__(self, handle: Any, *others: Any) -> Any:
        number = int(handle)
        if _is_ours(number) or number >= 1 << 40 and not self.__name__.startswith("cuMem"):
            return self._ours(handle, *others)
        if self._real is None:
            from numba.cuda.cudadrv.driver import driver

            # numba-cuda puts a function in place when it is first asked for.
            self._real = type(driver).__getattr__(driver, self.__name__)
            setattr(driver, self.__name__, self)
        return self._real(handle, *others)


def _is_ours(address: int) -> bool:
    return machine().memory.near(address) is not None or address in machine().pinned


def _managed(driver: Any) -> Callable[..., None]:
    """Managed memory has two addresses here: the device's, and the host's."""

    def init(self: Any, context: Any, pointer: Any, size: int, owner: Any = None, finalizer: Any = None) -> None:
        self.owned = owner
        driver.AutoFreePointer.__init__(self, context, pointer, size, finalizer=finalizer)
        allocation, offset = machine().memory.find(int(pointer), size)
        # The host writes to it without saying so.
        allocation.written = True
        self._buflen_ = size
        self._bufptr_ = allocation.bytes.ctypes.data + offset
        # The bytes stay as long as anybody can look at them.
        self._held = host_bytes(self._bufptr_, 0), allocation.bytes

    return init


def _add_callback(self: Any, callback: Callable[..., Any], arg: Any = None) -> None:
    """`Stream.add_callback`: all that is to come before has, so it is called now, and what it raises is a warning, as ever."""
    from warnings import warn

    try:
        callback(self, 0, arg)
    except Exception as error:
        warn(f"Exception in stream callback: {error}", stacklevel=2)


def _in_frame(launch: Callable[..., None]) -> Callable[..., None]:
    """`_Kernel.launch`, with the names of its parameters known."""

    @functools.wraps(launch)
    def launched(self: Any, args: Any, *others: Any, **kwargs: Any) -> None:
        _frames.begin(self, args)
        try:
            launch(self, args, *others, **kwargs)
        finally:
            _frames.end()

    return launched


def _noted(prepare: Callable[..., None]) -> Callable[..., None]:
    """`_Kernel._prepare_args`, which notes where arrays are."""

    @functools.wraps(prepare)
    def prepared(self: Any, ty: Any, value: Any, stream: Any, retr: Any, flat: Any) -> None:
        _frames.argument(prepare, self, ty, value, stream, retr, flat)

    return prepared
