"""Runs launch files on a GPU: play_examples.py FOLDER OUT. Reads examples.jsonl, writes examples.played.jsonl. Needs cupy."""

import json
import multiprocessing
import re
import sys
from pathlib import Path


def play(job):
    import cupy
    import numpy
    from cupy.cuda import function

    name = job["name"]
    # The driver may be older than the compiler; what it has not is an error of its own.
    job["ptx"] = [re.sub(r"\.version 9\.\d", ".version 9.0", text) for text in job["ptx"]]
    try:
        if any(arg is None for launch in job["launches"] for arg in launch["args"]):
            return {"name": name, "error": "has textures"}
        if len(job["ptx"]) == 1:
            module = function.Module()
            module.load(job["ptx"][0].encode())
        else:
            link = function.LinkState()
            for number, text in enumerate(job["ptx"]):
                link.add_ptr_data(text.encode(), f"{number}.ptx")
            module = function.Module()
            module.load(link.complete())
        buffers = {key: cupy.frombuffer(bytes.fromhex(data) + bytes(256), dtype=cupy.uint8).copy() for key, data in job["buffers"].items()}
        for key, data in job["globals"].items():
            place = module.get_global_var(key)
            host = numpy.frombuffer(bytes.fromhex(data), dtype=numpy.uint8)
            cupy.cuda.runtime.memcpy(place, host.ctypes.data, len(host), 1)
        # Only who waits for a whole grid asks for these registers.
        cooperative = any("%envreg" in text for text in job["ptx"])
        for launch in job["launches"]:
            entry = launch["entry"] or re.search(r"\.entry\s+([\w$]+)", job["ptx"][0]).group(1)
            kernel = module.get_function(entry)
            args = []
            for arg in launch["args"]:
                if "buffer" in arg:
                    args.append(numpy.uint64(buffers[arg["buffer"]].data.ptr + arg["offset"]))
                else:
                    data = bytes.fromhex(arg["hex"])
                    whole = {1: "u1", 2: "u2", 4: "u4", 8: "u8"}.get(len(data))
                    args.append(numpy.frombuffer(data, dtype=whole or f"V{len(data)}")[0])
            kernel(tuple(launch["grid"]), tuple(launch["block"]), tuple(args), launch["shared"], None, cooperative)
            cupy.cuda.runtime.deviceSynchronize()
        left = {key: buffer[: len(buffer) - 256].get().tobytes().hex() for key, buffer in buffers.items()}
        return {"name": name, "buffers": left}
    except Exception as error:
        return {"name": name, "error": f"{type(error).__name__}: {error}"}


def main():
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    jobs = [json.loads(line) for line in (folder / "examples.jsonl").read_text().splitlines()]
    out.mkdir(parents=True, exist_ok=True)
    # One process for each: a fault ends all work of its process.
    with multiprocessing.get_context("spawn").Pool(12, maxtasksperchild=1) as pool:
        waiting = [(job["name"], pool.apply_async(play, (job,))) for job in jobs]
        results = []
        for name, result in waiting:
            try:
                results.append(result.get(timeout=60))
            except Exception as error:
                results.append({"name": name, "error": f"{type(error).__name__}"})
        pool.terminate()
    (out / "examples.played.jsonl").write_text("".join(json.dumps(result) + "\n" for result in results))
    print(len(results), "launch files,", sum("error" in result for result in results), "failed")


if __name__ == "__main__":
    main()
