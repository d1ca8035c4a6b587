"""Linking without a driver: what becomes of PTX, LTO-IR and CUDA C++ that numba-cuda would have a GPU's driver link.

numba-cuda gives `cuda.core` objects of code and asks it for machine code. Here the result is PTX: LTO-IR is linked and optimised by
nvJitLink, which can give PTX; texts of PTX stay as they are, and warpstep links them. Machine code (cubins, most libraries) has no
PTX to be run, and is `Unsupported`. The one library that numba-cuda itself needs is the device runtime, for the two functions by
which grids are synchronised; these are compiled from CUDA C++ (`_GRID_SYNC`).
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from warpstep._errors import Unsupported

#: What `libcudadevrt` has of cooperative groups, as the headers of CUDA give it: they synchronise the grid by themselves.
_GRID_SYNC = """
#include <cooperative_groups.h>
extern "C" __device__ unsigned long long cudaCGGetIntrinsicHandle(enum cudaCGScope scope) { return scope; }
extern "C" __device__ cudaError_t cudaCGSynchronize(unsigned long long handle, unsigned int flags)
{
    cooperative_groups::this_grid().sync();
    return cudaSuccess;
}
"""


class LinkError(RuntimeError):
    """Code cannot be compiled or linked; the text is what the compiler says."""


class Code:
    """Code of one kind, as `cuda.core.ObjectCode`; of kind ``"linked"`` it is loaded, and has kernels."""

    def __init__(self, kind: str, code: Any, name: str = "", registers: int | None = None) -> None:
        self.code_type = kind
        self.code = code
        self.name = name
        #: So many registers a thread may have, for those who ask.
        self.registers = registers
        self._loaded: Any = None

    @staticmethod
    def _maker(kind: str) -> Any:
        return staticmethod(lambda code, *, name="", symbol_mapping=None: Code(kind, _contents(code), name))

    from_ptx = _maker("ptx")
    from_ltoir = _maker("ltoir")
    from_cubin = _maker("cubin")
    from_fatbin = _maker("fatbin")
    from_object = _maker("object")
    from_library = _maker("library")

    @property
    def _module(self) -> Any:
        """The module that it is loaded as."""
        if self._loaded is None:
            from warpstep.numba._machine import machine

            texts = self.code if self.code_type == "linked" else [(self.name or "kernel.ptx", _text(self.code))]
            self._loaded = machine().load(texts, self.registers)
        return self._loaded

    @property
    def handle(self) -> int:
        """What the driver's functions know it by."""
        handle: int = self._module.handle
        return handle

    def get_kernel(self, name: str | bytes) -> Any:
        """A kernel of it."""
        return self._module.kernel(name.decode() if isinstance(name, bytes) else name)

    def __reduce__(self) -> tuple[Any, ...]:
        return Code, (self.code_type, self.code, self.name, self.registers)

    def __repr__(self) -> str:
        return f"<Code {self.name or 'unnamed'}: {self.code_type}>"


def _contents(code: Any) -> Any:
    return code.encode() if isinstance(code, str) else bytes(code)


def _text(code: Any) -> str:
    return code if isinstance(code, str) else bytes(code).decode("utf-8", "replace").rstrip("\0")


class Linker:
    """Links code to PTX, as `cuda.core.Linker` does to machine code."""

    def __init__(self, *codes: Any, options: Any = None) -> None:
        self._codes = codes
        self._arch = str(getattr(options, "arch", None) or "sm_80")
        self._registers = getattr(options, "max_register_count", None)
        self._lineinfo = bool(getattr(options, "lineinfo", False))
        self._log = ""

    def link(self, target: str) -> Code:
        """Link all of it; `target` is ``"ptx"`` (of what is optimised at this time) or ``"cubin"`` (everything, to be loaded)."""
        optimised = [code for code in self._codes if code.code_type == "ltoir"]
        if target == "ptx":
            return Code("ptx", self._optimise(optimised).encode())
        texts: list[tuple[str, str]] = []
        if optimised:
            texts.append((optimised[0].name or "linked.ptx", self._optimise(optimised)))
        texts += [self._ptx_of(code) for code in self._codes if code.code_type != "ltoir"]
        if not texts:
            raise LinkError("there is nothing to link")
        # What is linked twice by the same text, as by two device functions that need it, is there once.
        return Code("linked", list(dict.fromkeys(texts)))

    def _ptx_of(self, code: Any) -> tuple[str, str]:
        if code.code_type == "ptx":
            return (code.name or "kernel.ptx", _text(code.code))
        if code.code_type == "library" and "cudadevrt" in code.name:
            return ("cudadevrt", grid_sync(self._arch))
        raise Unsupported(
            "machine-code",
            f"`{code.name}` is a {code.code_type}, which has machine code of a GPU: warpstep runs PTX; "
            "link the PTX, LTO-IR or CUDA C++ that it was made of",
        )

    def _optimise(self, codes: Sequence[Any]) -> str:
        """The PTX of LTO-IR."""
        from cuda.bindings import nvjitlink

        options = [f"-arch={self._arch}", "-lto", "-ptx"]
        options += [f"-maxrregcount={self._registers}"] if self._registers else []
        options += ["-lineinfo"] if self._lineinfo else []
        handle = nvjitlink.create(len(options), options)
        try:
            for code in codes:
                name = code.name or "ltoir"
                nvjitlink.add_data(handle, nvjitlink.InputType.LTOIR, code.code, len(code.code), name)
            nvjitlink.complete(handle)
            linked = bytearray(nvjitlink.get_linked_ptx_size(handle))
            nvjitlink.get_linked_ptx(handle, linked)
            return _text(linked)
        except nvjitlink.nvJitLinkError as error:
            said = bytearray(nvjitlink.get_error_log_size(handle))
            nvjitlink.get_error_log(handle, said)
            self._log = _text(said)
            raise LinkError(f"{error}\n{self._log}".rstrip()) from error
        finally:
            nvjitlink.destroy(handle)

    def get_info_log(self) -> str:
        """What the linker has to say; nothing."""
        return ""

    def get_error_log(self) -> str:
        """What was wrong."""
        return self._log

    def close(self) -> None:
        """Nothing is held."""


@dataclass
class ProgramOptions:
    """How a program is compiled: the fields of `cuda.core.ProgramOptions` that numba-cuda uses."""

    arch: str | None = None
    include_path: Sequence[str] | str | None = None
    relocatable_device_code: bool | None = None
    link_time_optimization: bool | None = None
    name: str = "program"
    debug: bool | None = None
    lineinfo: bool | None = None
    define_macro: Any = None
    others: dict[str, Any] = field(default_factory=dict)

    def flags(self) -> list[bytes]:
        """The compiler's options."""
        flags = [f"--gpu-architecture={(self.arch or 'sm_80').replace('sm_', 'compute_')}"]
        paths = [self.include_path] if isinstance(self.include_path, str) else self.include_path or []
        flags += [f"--include-path={path}" for path in paths]
        flags += ["--relocatable-device-code=true"] if self.relocatable_device_code else []
        flags += ["--dlink-time-opt"] if self.link_time_optimization else []
        flags += ["--device-debug"] if self.debug else []
        flags += ["--generate-line-info"] if self.lineinfo else []
        return [flag.encode() for flag in flags]


def without_devrt(add_file: Callable[..., None]) -> Callable[..., None]:
    """`_Linker.add_file`, for which `libcudadevrt` need not be there: beside a torch of another CUDA numba-cuda does not find it.

    What it has of use is compiled here (`grid_sync`), and nothing of it is read.
    """

    @functools.wraps(add_file)
    def add(self: Any, path: Any, kind: Any) -> None:
        name = os.path.basename(path)
        if "cudadevrt" in name:
            self.add_library(b"", name)
        else:
            add_file(self, path, kind)

    return add


class Program:
    """CUDA C++ that NVRTC compiles, as `cuda.core.Program` has it done, which asks for a driver first."""

    def __init__(self, code: str, code_type: str = "c++", options: ProgramOptions | None = None) -> None:
        if code_type != "c++":
            raise Unsupported("code-type", f"a program in {code_type}: only CUDA C++ is compiled without a driver")
        self._code = code
        self._options = options or ProgramOptions()

    def compile(self, target: str, *, name_expressions: Any = (), logs: Any = None) -> Code:
        """Compile it to ``"ptx"`` or ``"ltoir"``."""
        from cuda.bindings import nvrtc

        name = self._options.name
        program = _asked(nvrtc.nvrtcCreateProgram(self._code.encode(), name.encode(), 0, [], []))
        try:
            flags = self._options.flags()
            (result,) = nvrtc.nvrtcCompileProgram(program, len(flags), flags)
            said = bytes(_asked(nvrtc.nvrtcGetProgramLogSize(program)))
            nvrtc.nvrtcGetProgramLog(program, said)
            log = said.rstrip(b"\0").decode("utf-8", "replace")
            if int(result) != 0:
                raise _compile_error()(f"{result.name}\n{log}")
            if log and logs is not None:
                logs.write(log)
            size, get = (
                (nvrtc.nvrtcGetLTOIRSize, nvrtc.nvrtcGetLTOIR)
                if target == "ltoir"
                else (nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX)
            )
            made = bytes(_asked(size(program)))
            _asked(get(program, made))
            return Code(target, made if target == "ltoir" else made.rstrip(b"\0"), name)
        finally:
            nvrtc.nvrtcDestroyProgram(program)

    def close(self) -> None:
        """Nothing is held."""


def _asked(returned: tuple[Any, ...]) -> Any:
    if int(returned[0]) != 0:
        raise LinkError(f"NVRTC gives {returned[0].name}")
    return returned[1] if len(returned) > 1 else None


def _compile_error() -> type[Exception]:
    """The exception that `cuda.core` raises for errors in CUDA C++."""
    try:
        from cuda.core._utils.cuda_utils import NVRTCError
    except ImportError:
        return LinkError
    error: type[Exception] = NVRTCError
    return error


@functools.cache
def grid_sync(arch: str) -> str:
    """The PTX by which grids are synchronised."""
    from numba.cuda.cudadrv import nvrtc

    number = arch.removeprefix("sm_")
    digits = number.rstrip("af")
    compiled, _ = nvrtc.compile(_GRID_SYNC, "grid_sync.cu", (int(digits[:-1]), int(digits[-1]), number[len(digits) :]))
    return _text(compiled.code)
