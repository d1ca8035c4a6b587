#!/usr/bin/env python3
"""Makes the PTX of this folder's kernels, their launch files and `verdicts.csv`.

    NVCC=…/bin/nvcc make.py     compiles too (nvcc 13.5 with the headers of CCCL, as in ptx-examples/README.md)
    make.py                     launch files and the table only
    make.py --check             changes nothing; exit code 1 and a line for each file that differs

What a kernel is expected to do is written here by hand, in KERNELS.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def zeros(n):
    return [0] * n


def lock(words, end):
    """A lock of so many words and what they hold in the end, for n threads."""
    def launch(block, grid):
        n = block * grid
        buffers = {"lock": zeros(words), "counter": [0], "seen": zeros(n)}
        return buffers, list(buffers), {"lock": end(n), "counter": [n], "seen": list(range(n))}
    return launch


def barrier(block, grid):
    n = block * grid
    buffers = {"flags": zeros(grid), "cells": zeros(n), "sums": zeros(n)}
    return buffers, list(buffers), {"flags": zeros(grid), "sums": [n] * n}


def passing(block, grid):
    data = [40 + k for k in range(block)]
    buffers = {"data": zeros(block), "flag": [0], "out": zeros(block * grid)}
    return buffers, list(buffers), {"data": data, "out": data * grid}


def lookback(block, grid):
    items = [3 * k + 1 for k in range(block * grid)]
    buffers = {"in": items, "tiles": zeros(3 * grid), "out": zeros(len(items))}
    return buffers, list(buffers), {"out": [sum(items[:k + 1]) for k in range(len(items))]}


def seqlock(block, grid):
    buffers = {"pair": zeros(3), "out": zeros(block * grid)}
    return buffers, ["pair", 1, "out"], {"pair": [2, 1, 1], "out": [1] * (block * grid)}


def deque(block, grid):
    buffers = {"deque": zeros(8), "taken": zeros(3)}
    return buffers, ["deque", 2, "taken"], {"taken": [0, 1, 1]}


# Columns: folder; entry; threads of a block; blocks; what may happen under PTX's axioms: "holds" (every execution ends with the
# expected results and without a race), or which of "result", "race" and "hang" some execution shows; the planted error: a pattern
# of the PTX lines it may be in and which of these it is, and what it is. A fence or barrier that is left out is missing beside
# that line.
KERNELS = {
    "caslock": (lock(1, lambda n: [0]), [
        ("caslock", 2, 3, "holds", None, ""),
        ("caslock_acq2rx", 4, 2, "result race", (r"atom\.", 0), "the lock is taken relaxed"),
        ("caslock_rel2rx", 4, 2, "result race", (r"st\.relaxed", 0), "the lock is given back relaxed"),
        ("caslock_dv2wg", 4, 1, "holds", None, "one block: its scope is enough"),
        ("caslock_dv2wg", 4, 2, "result race", (r"atom\.", 0), "scope of the block, used by two blocks"),
    ]),
    "ticketlock": (lock(2, lambda n: [n, n]), [
        ("ticketlock", 2, 3, "holds", None, ""),
        ("ticketlock_acq2rx", 4, 2, "result race", (r"ld\.relaxed", 0), "the number served is read relaxed"),
        ("ticketlock_rel2rx", 4, 2, "result race", (r"atom\.", 1), "the next number is served relaxed"),
        ("ticketlock_dv2wg", 4, 1, "holds", None, "one block: its scope is enough"),
        ("ticketlock_dv2wg", 4, 2, "result race hang", (r"atom\.", 0), "scope of the block, used by two blocks"),
    ]),
    "ttaslock": (lock(1, lambda n: [0]), [
        ("ttaslock", 2, 2, "holds", None, ""),
        ("ttaslock_acq2rx", 4, 2, "result race", (r"atom\.", 0), "the lock is taken relaxed"),
        ("ttaslock_rel2rx", 4, 2, "result race", (r"st\.relaxed", 0), "the lock is given back relaxed"),
        ("ttaslock_dv2wg", 4, 1, "holds", None, "one block: its scope is enough"),
        ("ttaslock_dv2wg", 4, 2, "result race", (r"atom\.", 0), "scope of the block, used by two blocks"),
    ]),
    "xf_barrier": (barrier, [
        ("xf_barrier", 3, 3, "holds", None, ""),
        ("xf_barrier", 2, 2, "holds", None, ""),
        ("xf_barrier_acq2rx_1", 2, 2, "result race", (r"ld\.relaxed", 0), "the leader hears relaxed"),
        ("xf_barrier_acq2rx_2", 2, 2, "result race", (r"ld\.relaxed", 0), "the representative leaves relaxed"),
        ("xf_barrier_rel2rx_1", 2, 2, "result race", (r"st\.relaxed", 0), "the leader answers relaxed"),
        ("xf_barrier_rel2rx_2", 2, 2, "result race", (r"st\.relaxed", 0), "the representative arrives relaxed"),
    ]),
    "message_passing": (passing, [
        ("mp", 2, 2, "holds", None, ""),
        ("mp_relaxed_store", 2, 2, "result race", (r"st\.relaxed", 0), "the flag is set relaxed"),
        ("mp_relaxed_load", 2, 2, "result race", (r"ld\.relaxed", 0), "the flag is waited for relaxed"),
        ("mp_block_scope", 2, 2, "result race", (r"st\.release\.cta", 0), "thread_scope_block between blocks"),
        ("mp_no_barrier", 2, 2, "result race", (r"st\.release", 0), "no __syncthreads between the data and the flag"),
        ("mp_fences", 2, 2, "holds", None, ""),
        ("mp_no_first_fence", 2, 2, "result race", (r"st\.relaxed", 0), "no __threadfence between the data and the flag"),
        ("mp_no_second_fence", 2, 2, "result race", (r"ld\.relaxed", 0), "no __threadfence between the flag and the data"),
    ]),
    "lookback": (lookback, [
        ("lookback", 2, 2, "holds", None, ""),
        ("lookback", 2, 3, "holds", None, ""),
        ("lookback_relaxed_store", 2, 2, "result race", (r"st\.relaxed", 1), "the state is published relaxed"),
        ("lookback_relaxed_load", 2, 2, "result race", (r"ld\.relaxed", 0), "the state is looked at relaxed"),
        ("lookback_block_scope", 2, 2, "result race", (r"st\.release\.cta", 1), "thread_scope_block between blocks"),
        ("lookback_fences", 2, 2, "holds", None, ""),
        ("lookback_no_fences", 2, 2, "result race", (r"st\.relaxed", 1), "no __threadfence before the state is published"),
    ]),
    "seqlock": (seqlock, [
        ("seqlock", 2, 2, "holds", None, ""),
        ("seqlock_relaxed_first", 2, 2, "result", (r"ld\.relaxed", 0), "the first look at the sequence is relaxed"),
        ("seqlock_relaxed_last", 2, 2, "result", (r"st\.relaxed", 3), "the last number is stored relaxed"),
        ("seqlock_block_scope", 2, 2, "result race", (r"st\.relaxed\.cta", 0), "thread_scope_block between blocks"),
        ("seqlock_no_writer_fence", 2, 2, "result", (r"st\.relaxed", 1), "no fence between the odd number and the words"),
        ("seqlock_no_reader_fence", 2, 2, "result", (r"ld\.relaxed", 2), "no fence between the words and the second look"),
    ]),
    "deque": (deque, [
        ("deque", 2, 2, "holds", None, ""),
        ("deque", 1, 2, "holds", None, "one thief"),
        ("deque_no_push_fence", 1, 2, "result race", (r"st\.relaxed", 0), "no fence between the item and the index"),
        ("deque_weak_take_fence", 2, 2, "result", (r"fence\.acq_rel", 1), "acq_rel where the owner needs sc"),
        ("deque_weak_steal_fence", 2, 2, "result", (r"fence\.acq_rel", 0), "acq_rel where the thief needs sc"),
        ("deque_relaxed_look", 1, 2, "result race", (r"ld\.relaxed", 0), "the thief reads the index relaxed"),
        ("deque_block_scope", 1, 2, "result race", (r"ld\.acquire\.cta", 0), "thread_scope_block between blocks"),
    ]),
}


def compile(folder):
    name = f"{folder}.cu"
    nvcc = [os.environ["NVCC"], "-ptx", "-arch=sm_80", "-std=c++17", "-O3", name, "-o", f"{folder}.ptx"]
    subprocess.run(nvcc, cwd=HERE / folder, check=True)


def launch_file(folder, entry, block, grid, launch):
    buffers, args, expect = launch(block, grid)
    lines = [f'ptx = "{folder}.ptx"', ""]
    if "seen" in buffers:
        lines = [lines[0], "# Who takes the lock first is open.", "schedule_dependent = true", ""]
    for name, values in buffers.items():
        init = '"zeros"' if not any(values) else f"{{ values = {values} }}"
        lines += [f"[buffers.{name}]", 'type = "u32"', f"len = {len(values)}", f"init = {init}", ""]
    said = ", ".join(f'{{ buffer = "{a}" }}' if isinstance(a, str) else f"{{ u32 = {a} }}" for a in args)
    lines += ["[[launch]]", f'entry = "{entry}"', f"grid = {grid}", f"block = {block}", f"args = [{said}]"]
    for name, values in expect.items():
        lines += ["", f"[expect.{name}]", f"values = {values}"]
        lines += ["unordered = true"] if name == "seen" else []
    return "\n".join(lines) + "\n"


def line_of(ptx, entry, where):
    """The line of a kernel where a pattern is found for the `where[1]`th time."""
    lines = ptx.splitlines()
    start = next(k for k, text in enumerate(lines) if re.search(rf"\.entry {entry}\(", text))
    found = 0
    for k in range(start, len(lines)):
        if lines[k] == "}":
            break
        if re.search(where[0], lines[k]):
            if found == where[1]:
                return k + 1
            found += 1
    sys.exit(f"{entry}: no line {where}")


def files():
    made = {}
    rows = ["ptx,entry,grid,block,launch,expected,line,about"]
    for folder, (launch, kernels) in KERNELS.items():
        ptx = (HERE / folder / f"{folder}.ptx").read_text()
        for entry, block, grid, expected, where, about in kernels:
            path = f"{folder}/{entry}.{block}.{grid}.toml"
            made[path] = launch_file(folder, entry, block, grid, launch)
            line = line_of(ptx, entry, where) if where else ""
            rows.append(f'{folder}/{folder}.ptx,{entry},{grid},{block},{path},{expected},{line},"{about}"')
    made["verdicts.csv"] = "\n".join(rows) + "\n"
    return made


def main():
    if "NVCC" in os.environ and sys.argv[1:] != ["--check"]:
        for folder in KERNELS:
            compile(folder)
    made = files()
    if sys.argv[1:] == ["--check"]:
        there = {str(p.relative_to(HERE)) for p in HERE.rglob("*") if p.suffix in (".toml", ".csv")}
        wrong = [f"{name}: not made by make.py" for name in sorted(there - made.keys())]
        for name, text in made.items():
            path = HERE / name
            if not path.exists() or path.read_text() != text:
                wrong.append(f"{name}: not as make.py makes it")
        print("\n".join(wrong), end="\n" if wrong else "")
        sys.exit(bool(wrong))
    for name, text in made.items():
        (HERE / name).write_text(text)


main()
