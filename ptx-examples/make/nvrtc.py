#!/usr/bin/env python3
"""nvrtc.py IN.cu OUT.ptx sm_XX [option...]: CUDA C++ to PTX with NVRTC (no GPU, no C++ compiler).

Uses the NVRTC library of the Python environment that runs it."""
import ctypes
import glob
import site
import sys


def library():
    for folder in site.getsitepackages():
        for pattern in ("nvidia/cuda_nvrtc/lib/libnvrtc.so.*", "nvidia/cu13/lib/libnvrtc.so.*"):
            for path in sorted(glob.glob(f"{folder}/{pattern}")):
                return ctypes.CDLL(path)
    raise SystemExit("nvrtc.py: no NVRTC library in this environment")


def compile_ptx(source, name, options):
    lib = library()
    prog = ctypes.c_void_p()
    if lib.nvrtcCreateProgram(ctypes.byref(prog), source.encode(), name.encode(), 0, None, None):
        raise SystemExit("nvrtc.py: cannot create a program")
    array = (ctypes.c_char_p * len(options))(*[o.encode() for o in options])
    status = lib.nvrtcCompileProgram(prog, len(options), array)
    size = ctypes.c_size_t()
    lib.nvrtcGetProgramLogSize(prog, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    lib.nvrtcGetProgramLog(prog, log)
    if status:
        raise SystemExit(f"nvrtc.py: {name} does not compile\n{log.value.decode()}")
    lib.nvrtcGetPTXSize(prog, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    lib.nvrtcGetPTX(prog, text)
    return text.value.decode()


if __name__ == "__main__":
    source, output, target = sys.argv[1:4]
    arch = "--gpu-architecture=" + target.replace("sm_", "compute_")
    with open(source) as f:
        text = compile_ptx(f.read(), source, [arch, *sys.argv[4:]])
    with open(output, "w") as f:
        f.write(text)
