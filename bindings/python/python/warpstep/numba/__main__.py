"""``python -m warpstep.numba program.py …``: run a program that is written with `numba.cuda`, unchanged.

``--check races``, ``--seed 7``, ``--control its`` and ``--cc 9.0`` go before the program, as does ``-m`` for a module.
"""

from __future__ import annotations

import argparse
import os
import runpy
import sys
from contextlib import ExitStack

import warpstep.numba


def main() -> None:
    """Run the program that the command line names."""
    parser = argparse.ArgumentParser(
        prog="python -m warpstep.numba", description="Run a program of numba.cuda without a GPU."
    )
    parser.add_argument("--check", help="what is looked for in every launch, such as races,bounds")
    parser.add_argument("--seed", type=int, help="a schedule at random")
    parser.add_argument("--control", help="the control model")
    parser.add_argument("--memory", help="the memory")
    parser.add_argument("--timeout", type=float, help="seconds that a launch may take")
    parser.add_argument("--cc", help="the compute capability that kernels are compiled for; 8.0 if nothing is said")
    parser.add_argument("-m", action="store_true", dest="module", help="the program is a module")
    parser.add_argument("program", help="a file, or with -m a module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="what the program is given")
    given = parser.parse_args()
    asked = {key: getattr(given, key) for key in ("check", "seed", "control", "memory", "timeout")}
    sys.argv = [given.program, *given.arguments]
    with ExitStack() as stack:
        try:
            told = {key: value for key, value in asked.items() if value is not None}
            stack.enter_context(warpstep.numba.device(given.cc, **told))
        except (RuntimeError, ValueError) as error:
            parser.error(str(error))
        if not given.module and not os.path.exists(given.program):
            parser.error(f"there is no {given.program}")
        if given.module:
            sys.path.insert(0, os.getcwd())
            runpy.run_module(given.program, run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = os.path.dirname(os.path.abspath(given.program))
            runpy.run_path(given.program, run_name="__main__")


if __name__ == "__main__":
    main()
