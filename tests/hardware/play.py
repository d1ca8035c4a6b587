"""Runs probes on a GPU: play.py FOLDER OUT [WORKERS]. Reads probes.jsonl and probes.bin, writes played.jsonl and played.bin. Needs cupy."""

import json
import multiprocessing
import sys
from pathlib import Path


def play(job):
    """One worker's probes: a list of (index, bytes or error)."""
    folder, probes = job
    import cupy
    from cupy.cuda import function

    data = (Path(folder) / "probes.bin").read_bytes()
    results = []
    for index, probe in probes:
        try:
            module = function.Module()
            module.load(probe["ptx"].encode())
            entry = probe["ptx"].split(".entry", 1)[1].split("(", 1)[0].strip()
            buffers = []
            for at, size, read in probe["buffers"]:
                # One more than asked for, so that what has no bytes has an address.
                buffer = cupy.zeros(size + 256, dtype=cupy.uint8)
                if not read:
                    buffer[:size] = cupy.frombuffer(data[at : at + size], dtype=cupy.uint8)
                buffers.append((buffer, size, read))
            kernel = module.get_function(entry)
            kernel((probe["grid"], 1, 1), (probe["block"], 1, 1), tuple(b for b, _, _ in buffers))
            cupy.cuda.runtime.deviceSynchronize()
            results.append((index, b"".join(b[:size].get().tobytes() for b, size, read in buffers if read)))
        except Exception as error:
            results.append((index, f"{type(error).__name__}: {error}"))
    return results


def main():
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    workers = int(sys.argv[3]) if len(sys.argv) > 3 else 12
    probes = [json.loads(line) for line in (folder / "probes.jsonl").read_text().splitlines()]
    jobs = [(str(folder), list(enumerate(probes))[worker::workers]) for worker in range(workers)]
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        results = sorted(entry for part in pool.map(play, jobs) for entry in part)
    out.mkdir(parents=True, exist_ok=True)
    at = 0
    with open(out / "played.bin", "wb") as binary, open(out / "played.jsonl", "w") as lines:
        for index, result in results:
            entry = {"name": probes[index]["name"]}
            if isinstance(result, bytes):
                binary.write(result)
                entry |= {"at": at, "size": len(result)}
                at += len(result)
            else:
                entry["error"] = result
            lines.write(json.dumps(entry) + "\n")
    failed = sum(not isinstance(result, bytes) for _, result in results)
    print(f"{len(results)} probes, {failed} failed")


if __name__ == "__main__":
    main()
