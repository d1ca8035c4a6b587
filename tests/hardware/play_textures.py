"""Fetches textures on a GPU: play_textures.py FOLDER OUT. Reads textures.jsonl, writes textures.played.jsonl. Needs cupy.

Arrays and textures are made with the driver's interface: cupy makes and copies no arrays of layers.
"""

import ctypes
import json
import sys
from ctypes import c_float, c_int, c_size_t, c_uint, c_ulonglong, c_void_p
from pathlib import Path

FORMATS = {"u8": 1, "u16": 2, "u32": 3, "i8": 8, "i16": 9, "i32": 10, "f16": 16, "f32": 32}
MODES = {"wrap": 0, "clamp": 1, "mirror": 2, "border": 3}
AXES = {"1d": 1, "a1d": 1, "2d": 2, "a2d": 2, "cube": 2, "acube": 2, "3d": 3}
LAYERED, CUBEMAP, GATHER = 1, 4, 8
FROM_HOST, TO_ARRAY = 1, 3
AS_INTEGER, NORMALISED = 1, 2


class Array(ctypes.Structure):
    """CUDA_ARRAY3D_DESCRIPTOR."""

    _fields_ = [
        ("width", c_size_t), ("height", c_size_t), ("depth", c_size_t),
        ("format", c_uint), ("channels", c_uint), ("flags", c_uint),
    ]


class Copy(ctypes.Structure):
    """CUDA_MEMCPY3D."""

    _fields_ = [
        (side + name, kind)
        for side in ("src_", "dst_")
        for name, kind in [
            ("x", c_size_t), ("y", c_size_t), ("z", c_size_t), ("level", c_size_t), ("type", c_uint), ("host", c_void_p),
            ("device", c_ulonglong), ("array", c_void_p), ("reserved", c_void_p), ("pitch", c_size_t), ("height", c_size_t),
        ]
    ] + [("width_bytes", c_size_t), ("rows", c_size_t), ("slices", c_size_t)]


class Resource(ctypes.Structure):
    """CUDA_RESOURCE_DESC, of an array."""

    _fields_ = [("type", c_uint), ("padding", c_uint), ("array", c_void_p), ("reserved", c_int * 30), ("flags", c_uint), ("end", c_uint)]


class Texture(ctypes.Structure):
    """CUDA_TEXTURE_DESC."""

    _fields_ = [
        ("address", c_uint * 3), ("filter", c_uint), ("flags", c_uint), ("anisotropy", c_uint), ("level_filter", c_uint),
        ("level_bias", c_float), ("least_level", c_float), ("most_level", c_float), ("border", c_float * 4), ("reserved", c_int * 12),
    ]


def call(name, *arguments):
    status = getattr(ctypes.CDLL("libcuda.so.1"), name)(*arguments)
    if status:
        raise RuntimeError(f"{name}: {status}")


def shape(job):
    """Width, height and depth of the array, 0 where there is none, and its flags."""
    wide, high, deep = job["size"]
    geometry, layers = job["geometry"], job["layers"]
    flags = GATHER if job["gather"] else 0
    return {
        "1d": (wide, 0, 0, flags),
        "2d": (wide, high, 0, flags),
        "3d": (wide, high, deep, flags),
        "a1d": (wide, 0, layers, flags | LAYERED),
        "a2d": (wide, high, layers, flags | LAYERED),
        "cube": (wide, high, 6, flags | CUBEMAP),
        "acube": (wide, high, 6 * layers, flags | CUBEMAP | LAYERED),
    }[geometry]


def array_of(job):
    wide, high, deep, flags = shape(job)
    array = c_void_p()
    call("cuArray3DCreate_v2", ctypes.byref(array), ctypes.byref(Array(wide, high, deep, FORMATS[job["element"]], job["channels"], flags)))
    texels = bytes.fromhex(job["texels"])
    host = ctypes.create_string_buffer(texels, len(texels))
    row = wide * job["channels"] * int(job["element"][1:]) // 8
    copy = Copy()
    copy.src_type, copy.src_host, copy.src_pitch, copy.src_height = FROM_HOST, ctypes.addressof(host), row, max(high, 1)
    copy.dst_type, copy.dst_array = TO_ARRAY, array
    copy.width_bytes, copy.rows, copy.slices = row, max(high, 1), max(deep, 1)
    assert row * copy.rows * copy.slices == len(texels)
    call("cuMemcpy3D_v2", ctypes.byref(copy))
    return array


def texture_of(job, array):
    texture = Texture()
    # Modes of axes that are not there matter: a row in a texture with a border in y is blended with that border.
    for axis in range(AXES[job["geometry"]]):
        texture.address[axis] = MODES[job["address"]]
    texture.filter = int(job["filter"] == "linear")
    integers = job["read"] != "normalised" and job["element"][0] != "f"
    texture.flags = (AS_INTEGER if integers else 0) | (NORMALISED if job["normalised"] else 0)
    texture.border[:] = job["border"]
    handle = c_ulonglong()
    call("cuTexObjectCreate", ctypes.byref(handle), ctypes.byref(Resource(0, 0, array)), ctypes.byref(texture), None)
    return handle


def fetch(job):
    import cupy
    import numpy
    from cupy.cuda import function, runtime

    # This makes the context that the driver's interface works in.
    coordinates = cupy.asarray(numpy.frombuffer(bytes.fromhex(job["coordinates"]), dtype=numpy.uint8))
    out = cupy.zeros(len(coordinates), dtype=cupy.uint8)
    array = array_of(job)
    try:
        handle = texture_of(job, array)
        module = function.Module()
        module.load(job["ptx"].encode())
        grid = (len(coordinates) // 4096, 1, 1)
        module.get_function("k")(grid, (256, 1, 1), (numpy.uint64(handle.value), coordinates, out))
        runtime.deviceSynchronize()
        call("cuTexObjectDestroy", handle)
    finally:
        call("cuArrayDestroy", array)
    return out.get().tobytes().hex()


def main():
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    failed = 0
    with open(out / "textures.played.jsonl", "w") as lines:
        for line in (folder / "textures.jsonl").read_text().splitlines():
            job = json.loads(line)
            entry = {"name": job["name"], "axes": AXES[job["geometry"]]}
            try:
                entry["out"] = fetch(job)
            except Exception as error:
                failed += 1
                entry["error"] = f"{type(error).__name__}: {error}"
            lines.write(json.dumps(entry) + "\n")
    print("textures,", failed, "failed")


if __name__ == "__main__":
    main()
