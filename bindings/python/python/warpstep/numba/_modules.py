"""Modules of PTX that are loaded on the machine: their kernels, and the variables that they keep from launch to launch."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from warpstep._module import Kernel as PtxKernel
from warpstep._module import Module as PtxModule
from warpstep.numba._memory import Allocation

if TYPE_CHECKING:
    from warpstep.numba._machine import Machine

#: Numbers of 64 bits as PTX writes them: addresses of arrays that a kernel has as constants are among them.
_LONG = re.compile(r"\b(?:\d{15,20}|0[xX][0-9a-fA-F]{12,16})\b")
#: A declaration of registers, of which there are so many.
_REGISTERS = re.compile(r"\.reg\s+\.(\w+)\s+%\w+<(\d+)>")
#: An array in a state space: alignment and name may be missing.
_ARRAY = re.compile(r"\.(shared|local|const)\b[^;={]*?\.b8\s+[\w$]+\[(\d+)\]")
_MOST_THREADS = re.compile(r"\.maxntid\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?")


class Module:
    """A module that is loaded: ``cuLibraryLoadData`` has given its handle."""

    def __init__(self, machine: Machine, texts: list[tuple[str, str]], handle: int, registers: int) -> None:
        self.machine = machine
        self.handle = handle
        #: Registers of a thread at most.
        self.registers = registers
        #: The module as warpstep reads it.
        self.program = PtxModule.linked(texts)
        self._kernels: dict[str, Kernel] = {}
        #: Numbers in its texts that may be addresses.
        self.constants = sorted({int(word, 0) for _, text in texts for word in _LONG.findall(text)})
        #: Its variables in global memory, with what they hold now.
        self.variables: dict[str, Allocation] = {}
        for name, held in self.program.native.variables():
            # What numba-cuda calls an environment is nothing that kernels look at.
            if held and not name.startswith("_ZN08NumbaEnv"):
                variable = machine.memory.map(np.frombuffer(bytearray(held), dtype=np.uint8))
                variable.label = name
                self.variables[name] = variable

    def unload(self) -> None:
        """Free what it has in device memory."""
        for variable in self.variables.values():
            self.machine.memory.free(variable.address, mapped=True)
        self.variables.clear()

    def kernel(self, name: str) -> Kernel:
        """A kernel of it."""
        found = self._kernels.get(name)
        if found is None:
            try:
                found = self._kernels[name] = Kernel(self, self.program[name])
            except KeyError as error:
                raise self.machine.error("CUDA_ERROR_NOT_FOUND", error.args[0]) from None
        return found


class Kernel:
    """A kernel of a loaded module, as `cuda.core.Kernel`."""

    def __init__(self, module: Module, ptx: PtxKernel) -> None:
        self.module = module
        self.ptx = ptx
        self.handle = module.machine.handle_of(self)
        self._handle = self.handle
        self._attributes: SimpleNamespace | None = None

    @property
    def attributes(self) -> Any:
        """What the driver would know of it; registers are those of PTX, which are allocated by nobody."""
        if self._attributes is None:
            self._attributes = self._count()
        return self._attributes

    def _count(self) -> SimpleNamespace:
        whole = "\n".join(text for _, text in self.module.program.texts)
        begin = re.search(rf"\.entry\s+{re.escape(self.ptx.name)}\b", whole)
        text = whole[begin.start() :] if begin else ""
        end = re.search(r"^}", text, re.MULTILINE)
        text = text[: end.end()] if end else text
        width = {"b64": 2, "f64": 2, "pred": 0}
        registers = sum(width.get(kind, 1) * (int(count) - 1) for kind, count in _REGISTERS.findall(text))
        sizes = {"shared": 0, "local": 0, "const": 0}
        # Variables of the module's scope count for a kernel that names them.
        head = whole[: begin.start()] if begin else ""
        for space, size in _ARRAY.findall(text):
            sizes[space] += int(size)
        for found in _ARRAY.finditer(head):
            name = found.group(0).rsplit(None, 1)[-1].split("[")[0]
            if re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", text):
                sizes[found.group(1)] += int(found.group(2))
        most = _MOST_THREADS.search(text)
        threads = 1024
        if most:
            threads = int(np.prod([int(each) for each in most.groups() if each]))
        return SimpleNamespace(
            num_regs=min(max(registers, 1), self.module.registers),
            const_size_bytes=sizes["const"],
            local_size_bytes=sizes["local"],
            shared_size_bytes=sizes["shared"],
            max_threads_per_block=threads,
        )

    def __repr__(self) -> str:
        return f"<Kernel {self.ptx.name}>"
