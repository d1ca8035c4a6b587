"""Fetches textures on a GPU: play_textures.py FOLDER OUT. Reads textures.jsonl, writes textures.played.jsonl. Needs cupy."""

import json
import sys
from pathlib import Path

import cupy
import numpy
from cupy.cuda import function, runtime, texture

KINDS = {"u": runtime.cudaChannelFormatKindUnsigned, "i": runtime.cudaChannelFormatKindSigned, "f": runtime.cudaChannelFormatKindFloat}
MODES = {"wrap": 0, "clamp": 1, "mirror": 2, "border": 3}


def fetch(job):
    bits = int(job["element"][1:])
    channels = [bits if k < job["channels"] else 0 for k in range(4)]
    form = texture.ChannelFormatDescriptor(*channels, KINDS[job["element"][0]])
    wide, high, deep = job["size"]
    texels = numpy.frombuffer(bytes.fromhex(job["texels"]), dtype={"f32": "f4", "f16": "f2", "u8": "u1", "i8": "i1", "u16": "u2", "i16": "i2"}[job["element"]])
    geometry, layers = job["geometry"], job["layers"]
    flags = 0
    if geometry == "1d":
        extent, shape = (wide, 0, 0), (wide,)
    elif geometry == "2d":
        extent, shape = (wide, high, 0), (high, wide)
    elif geometry == "3d":
        extent, shape = (wide, high, deep), (deep, high, wide)
    elif geometry == "a1d":
        extent, shape, flags = (wide, 0, layers), (layers, wide), 1
    else:
        extent, shape, flags = (wide, high, layers), (layers, high, wide), 1
    if job["gather"]:
        flags |= 8
    array = texture.CUDAarray(form, *extent, flags)
    shape = shape[:-1] + (shape[-1] * job["channels"],)
    host = numpy.ascontiguousarray(texels.reshape(shape))
    if geometry in ("a1d", "a2d"):
        # cupy copies layered arrays as if they had slices.
        pointer = runtime.malloc(1)
        runtime.free(pointer)
        copy_layers(array, host, wide, 1 if geometry == "a1d" else high, layers, job["channels"] * bits // 8)
    else:
        array.copy_from(host)
    resource = texture.ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=array)
    description = texture.TextureDescriptor(
        (MODES[job["address"]],) * 3,
        runtime.cudaFilterModeLinear if job["filter"] == "linear" else runtime.cudaFilterModePoint,
        runtime.cudaReadModeNormalizedFloat if job["read"] == "normalised" else runtime.cudaReadModeElementType,
        None,
        tuple(job["border"]),
        job["normalised"],
    )
    image = texture.TextureObject(resource, description)
    module = function.Module()
    module.load(job["ptx"].encode())
    coordinates = cupy.frombuffer(bytes.fromhex(job["coordinates"]), dtype=cupy.uint8).copy()
    out = cupy.zeros(len(coordinates), dtype=cupy.uint8)
    module.get_function("k")((len(coordinates) // 4096, 1, 1), (256, 1, 1), (image, coordinates, out))
    runtime.deviceSynchronize()
    return out.get().tobytes().hex()


def copy_layers(array, host, wide, high, layers, bytes_each):
    import ctypes

    class Pitched(ctypes.Structure):
        _fields_ = [("ptr", ctypes.c_void_p), ("pitch", ctypes.c_size_t), ("x", ctypes.c_size_t), ("y", ctypes.c_size_t)]

    class Copy(ctypes.Structure):
        _fields_ = [
            ("src_array", ctypes.c_void_p), ("src_pos", ctypes.c_size_t * 3), ("src", Pitched),
            ("dst_array", ctypes.c_void_p), ("dst_pos", ctypes.c_size_t * 3), ("dst", Pitched),
            ("extent", ctypes.c_size_t * 3), ("kind", ctypes.c_int),
        ]

    copy = Copy()
    copy.src = Pitched(host.ctypes.data, wide * bytes_each, wide, high)
    copy.dst_array = array.ptr
    copy.extent = (ctypes.c_size_t * 3)(wide, high, layers)
    copy.kind = 1
    library = next(line.split()[-1] for line in open("/proc/self/maps") if "libcudart" in line)
    status = ctypes.CDLL(library).cudaMemcpy3D(ctypes.byref(copy))
    if status:
        raise RuntimeError(f"cudaMemcpy3D: {status}")


def main():
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    failed = 0
    with open(out / "textures.played.jsonl", "w") as lines:
        for line in (folder / "textures.jsonl").read_text().splitlines():
            job = json.loads(line)
            try:
                entry = {"name": job["name"], "out": fetch(job)}
            except Exception as error:
                failed += 1
                entry = {"name": job["name"], "error": f"{type(error).__name__}: {error}"}
            lines.write(json.dumps(entry) + "\n")
    print("textures,", failed, "failed")


if __name__ == "__main__":
    main()
