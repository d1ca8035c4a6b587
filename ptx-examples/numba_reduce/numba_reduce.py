"""Numba: the dot product of two arrays, with a shared array, barriers and one atomic per block."""
import sys

from numba import cuda, float32, int32, void


def dot(a, b, out):
    part = cuda.shared.array(128, int32)
    t = cuda.threadIdx.x
    total = int32(0)
    for i in range(cuda.grid(1), a.shape[0], cuda.gridsize(1)):
        total += a[i] * b[i]
    part[t] = total
    cuda.syncthreads()
    half = 64
    while half > 0:
        if t < half:
            part[t] += part[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        cuda.atomic.add(out, 0, part[0])


if __name__ == "__main__":
    version = sys.argv[2].removeprefix("sm_")
    ptx, _ = cuda.compile_ptx(dot, void(int32[::1], int32[::1], int32[::1]), cc=(int(version[:-1]), int(version[-1])))
    with open(sys.argv[1], "w") as f:
        f.write(ptx)
