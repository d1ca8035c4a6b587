"""Numba: two-dimensional arrays, complex numbers and a loop that ends at different times in each thread."""
import sys

from numba import complex128, cuda, float64, int32, void


def escape(image, low, step, limit):
    x, y = cuda.grid(2)
    if y < image.shape[0] and x < image.shape[1]:
        c = low + complex(x * step, y * step)
        z = complex(0.0, 0.0)
        n = 0
        while n < limit and z.real * z.real + z.imag * z.imag <= 4.0:
            z = z * z * z + c
            n += 1
        image[y, x] = n


if __name__ == "__main__":
    version = sys.argv[2].removeprefix("sm_")
    ptx, _ = cuda.compile_ptx(escape, void(int32[:, :], complex128, float64, int32),
                              cc=(int(version[:-1]), int(version[-1])), fastmath=False)
    with open(sys.argv[1], "w") as f:
        f.write(ptx)
