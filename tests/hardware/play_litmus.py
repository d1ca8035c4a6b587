"""Runs litmus tests on a GPU: play_litmus.py FOLDER OUT [ROUNDS]. Reads litmus.jsonl, writes litmus.played.jsonl. Needs cupy."""

import json
import sys
from pathlib import Path

import cupy
from cupy.cuda import function


def play(job, rounds):
    module = function.Module()
    module.load(job["ptx"].encode())
    kernel = module.get_function("k")
    count = job["instances"]
    memory = cupy.zeros((job["locations"], count), dtype=cupy.uint32)
    out = cupy.zeros((max(job["registers"], 1), count), dtype=cupy.uint32)
    seen = {}
    for _ in range(rounds):
        memory.fill(0)
        out.fill(0)
        kernel((count // 256, 1, 1), (256, 1, 1), (memory, out))
        key = cupy.zeros(count, dtype=cupy.uint64)
        for kind, place in job["observed"]:
            key = key * 16 + (out if kind == "register" else memory)[place]
        for value, times in zip(*(part.get().tolist() for part in cupy.unique(key, return_counts=True))):
            seen[value] = seen.get(value, 0) + times
    digits = len(job["observed"])
    return [[[value >> 4 * (digits - 1 - k) & 15 for k in range(digits)], times] for value, times in sorted(seen.items())]


def main():
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 400
    out.mkdir(parents=True, exist_ok=True)
    with open(out / "litmus.played.jsonl", "w") as lines:
        for line in (folder / "litmus.jsonl").read_text().splitlines():
            job = json.loads(line)
            try:
                entry = {"name": job["name"], "seen": play(job, rounds)}
            except Exception as error:
                entry = {"name": job["name"], "error": f"{type(error).__name__}: {error}"}
            lines.write(json.dumps(entry) + "\n")
            print(json.dumps(entry), flush=True)


if __name__ == "__main__":
    main()
