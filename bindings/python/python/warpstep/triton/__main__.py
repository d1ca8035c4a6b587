"""``python -m warpstep.triton program.py …``: a program of Triton, unmodified, on warpstep."""

from __future__ import annotations

import argparse
import runpy
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from warpstep._errors import Error
from warpstep._warpstep import CHECKS
from warpstep.triton import here


def main(arguments: list[str] | None = None) -> int:
    """Run a program; gives the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m warpstep.triton", description="run a program whose Triton kernels are launched on warpstep"
    )
    parser.add_argument("--check", metavar="CHECKS", help=f"look for these in every launch: {', '.join(CHECKS)}")
    parser.add_argument("--seed", type=int, help="a random schedule")
    parser.add_argument(
        "--seeds", type=int, default=0, metavar="N", help="hunt every launch through N random schedules first"
    )
    parser.add_argument("--control", help="the control model")
    parser.add_argument("--target", default="80", help="the architecture that kernels are compiled for (80)")
    parser.add_argument("--tune", choices=("first", "instructions"), default="first", help="how autotuning chooses")
    parser.add_argument("--bounds", choices=("tensor", "storage"), default="tensor", help="the bounds of pointers")
    parser.add_argument(
        "--benchmarks", action="store_true", help="run the program's benchmarks, which count instructions"
    )
    parser.add_argument("--multiprocessors", type=int, metavar="N", help="what programs are told that the device has")
    parser.add_argument("program", type=Path)
    parser.add_argument("rest", nargs=argparse.REMAINDER, metavar="…", help="arguments of the program")
    given = parser.parse_args(arguments)
    options: dict[str, Any] = {key: getattr(given, key) for key in ("check", "seed", "control")}
    options = {key: value for key, value in options.items() if value is not None}
    if given.multiprocessors is not None:
        options["properties"] = {"multiprocessor_count": given.multiprocessors}
    sys.argv = [str(given.program), *given.rest]
    sys.path.insert(0, str(given.program.resolve().parent))
    with ExitStack() as stack:
        own = {key: getattr(given, key) for key in ("target", "seeds", "tune", "bounds", "benchmarks")}
        try:
            door = stack.enter_context(here(**own, **options))
        except (RuntimeError, ValueError) as error:
            parser.error(str(error))
        if not given.program.exists():
            parser.error(f"there is no {given.program}")
        try:
            runpy.run_path(str(given.program), run_name="__main__")
        except Error as error:
            print(error, file=sys.stderr)
            return 1
    launches = f"{len(door.runs)} launch{'' if len(door.runs) == 1 else 'es'}"
    print(f"warpstep: {launches}, {door.thread_instructions:,} thread instructions", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
