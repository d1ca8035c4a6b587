"""What changes in how numba-cuda compiles: lines of Python for reports, and PTX where a GPU would be given machine code."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

from warpstep.numba._launch import asked
from warpstep.numba._link import Code
from warpstep.numba._machine import machine

#: What a module of LLVM's says of its version of lines: how it behaves where another one says something else.
_FLAG = re.compile(r'(i32 )2(, !"Debug Info Version")')


def with_lines(init: Callable[..., None]) -> Callable[..., None]:
    """`_Kernel.__init__` with the lines of the Python source, which reports name."""

    @functools.wraps(init)
    def compiled(self: Any, *args: Any, **kwargs: Any) -> None:
        if kwargs.get("debug") or kwargs.get("lineinfo") or not asked().get("lineinfo", True):
            return init(self, *args, **kwargs)
        from numba.cuda.core.errors import NumbaError

        try:
            return init(self, *args, **{**kwargs, "lineinfo": True})
        except NumbaError:
            raise
        except Exception:
            # numba-cuda cannot describe some types, such as tuples of empty ones, for a debugger; nobody has asked for it.
            return init(self, *args, **kwargs)

    return compiled


def device_with_lines(compile_device: Callable[..., Any]) -> Callable[..., Any]:
    """The same of device functions."""

    @functools.wraps(compile_device)
    def compiled(self: Any, *args: Any, **kwargs: Any) -> Any:
        options = self.targetoptions
        if options.get("debug") or not asked().get("lineinfo", True):
            return compile_device(self, *args, **kwargs)
        self.targetoptions = {**options, "lineinfo": True}
        try:
            return compile_device(self, *args, **kwargs)
        finally:
            self.targetoptions = options

    return compiled


def linkable(get_ltoir: Callable[..., Any]) -> Callable[..., Any]:
    """`get_ltoir`, of programs with lines: numba-cuda's flag for these is not the one of CUDA C++, and the two are not linked."""

    @functools.wraps(get_ltoir)
    def linkable(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = self._llvm_strs
        self._llvm_strs = [_FLAG.sub(r"\g<1>1\g<2>", text) for text in self.llvm_strs]
        try:
            return get_ltoir(self, *args, **kwargs)
        finally:
            self._llvm_strs = before

    return linkable


def marked(magic_tuple: Callable[..., Any]) -> Callable[..., Any]:
    """`magic_tuple`, by which kernels that are kept in files are found: those of here are not those of a GPU."""

    @functools.wraps(magic_tuple)
    def marked(self: Any) -> tuple[Any, ...]:
        return (*magic_tuple(self), "warpstep")

    return marked


def loaded(self: Any) -> Any:
    """`CUDACodeLibrary.get_cufunc`, with functions of the machine kept apart from those of a GPU."""
    from numba.cuda.cudadrv import devices

    if self._entry_name is None:
        raise RuntimeError("Missing entry_name - are you trying to get the cufunc for a device function?")
    kept = self.__dict__.setdefault("_warpstep_functions", {})
    capability = machine().capability
    function = kept.get(capability)
    if function is None:
        context = devices.get_context()
        image = Code("linked", _texts(self), registers=self._max_registers)
        module = context.create_module_image(image, self._setup_functions, self._teardown_functions)
        function = kept[capability] = module.get_function(self._entry_name)
    return function


def _texts(library: Any) -> list[tuple[str, str]]:
    """The PTX of a kernel and of what is linked to it, with names for messages.

    Optimising at link time would give the same results, and cost as much time again as compiling does. It is done where LTO-IR is
    linked, which is no PTX yet.
    """
    lto = library._lto
    library._lto = lto and any(_is_ltoir(each) for each in library._linking_files)
    try:
        linked = library.get_cubin().code
    finally:
        library._lto = lto
    own = re.sub(r"[^\w.-]+", "_", getattr(library, "name", "") or "kernel")
    return [(f"{own}.ptx" if name.startswith("<") else name, text) for name, text in linked]


def _is_ltoir(linked: Any) -> bool:
    if isinstance(linked, str):
        return linked.endswith(".ltoir")
    from numba.cuda.cudadrv.linkable_code import LTOIR

    return isinstance(linked, LTOIR)
