"""What launches cost: the library in the process beside a process for each launch. A plugin for pytest on tinygrad's tests.

    pytest -p process_per_launch test/backend/test_ops.py                                      # launches by the library, timed
    WARPSTEP_COMMAND=target/release/warpstep pytest -p process_per_launch test/backend/...     # each by the command `warpstep`

The second way is what a mock has to do without a library: the memory that arguments point to is written to files, `warpstep run` is
started, and what it saves is read back. Both end in a line with the number of launches and the seconds they took, on the clock and
of processors.
"""

from __future__ import annotations

import bisect
import ctypes
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Callable

COMMAND = os.environ.get("WARPSTEP_COMMAND")
#: How many launches there were, and how many seconds they took, on the clock and of processors.
spent = [0, 0.0, 0.0]


def pytest_configure(config: Any) -> None:
    """Before the mock imports the function."""
    from test.mockgpu import helpers

    helpers.ptx_run = timed(by_command if COMMAND else helpers.ptx_run)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    how = "a process for each" if COMMAND else "by the library"
    terminalreporter.write_line(f"{spent[0]} launches, {how}: {spent[1]:.2f} seconds, {spent[2]:.2f} of processors")


def timed(launch: Callable[..., None]) -> Callable[..., None]:
    def run(*given: Any) -> None:
        began, before = time.perf_counter(), sum(os.times()[:4])
        try:
            launch(*given)
        finally:
            spent[0] += 1
            spent[1] += time.perf_counter() - began
            spent[2] += sum(os.times()[:4]) - before

    return run


def by_command(source: Any, count: int, args: Any, bx: int, by: int, bz: int, gx: int, gy: int, gz: int, shared: int) -> None:
    from test.mockgpu.cuda.cuda import cuda_state

    text = ctypes.cast(source, ctypes.c_char_p).value or b""
    entry = re.search(r"\.entry\s+([\w$]+)\s*\(([^)]*)\)", text.decode())
    assert entry is not None, "the module has no kernel"
    types = re.findall(r"\.param\s+\.(\w+)", entry[2])
    starts = sorted(cuda_state.memory)
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        (Path(folder) / "module.ptx").write_bytes(text)
        flags, buffers = ["--grid", f"{gx},{gy},{gz}", "--block", f"{bx},{by},{bz}", "--shared", str(shared)], {}
        for value, kind in zip(args, types, strict=True):
            value = value or 0
            at = bisect.bisect_right(starts, value) - 1
            if kind != "u64" or at < 0 or value - starts[at] >= len(cuda_state.memory[starts[at]]):
                flags += ["--arg", f"{kind}:{number(value, kind)}"]
                continue
            name = buffers.setdefault(starts[at], f"b{len(buffers)}")
            flags += ["--arg", f"buffer:{name}+{value - starts[at]}"]
        for start, name in buffers.items():
            (Path(folder) / f"{name}.in").write_bytes(cuda_state.memory[start])
            flags += ["--buffer", f"{name}:u8=raw:{name}.in", "--save", f"{name}={name}.out"]
        run = [os.path.abspath(str(COMMAND)), "run", "module.ptx", "--entry", entry[1], *flags]
        subprocess.run(run, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        for start, name in buffers.items():
            cuda_state.memory[start][:] = (Path(folder) / f"{name}.out").read_bytes()


def number(value: int, kind: str) -> int:
    """The low bytes of an entry, as a number of the parameter's type."""
    bits = int(kind[1:])
    value &= (1 << bits) - 1
    return value - (1 << bits) if kind[0] == "s" and value >> (bits - 1) else value
