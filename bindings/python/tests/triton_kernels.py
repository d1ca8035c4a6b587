"""Kernels that several files of tests of Triton's door launch."""

import triton
import triton.language as tl


@triton.jit
def strided_kernel(x_ptr, out_ptr, rows_apart, columns_apart, R: tl.constexpr, C: tl.constexpr):
    """Copies a matrix of any strides, in elements, to one whose elements lie side by side."""
    row, column = tl.arange(0, R)[:, None], tl.arange(0, C)[None, :]
    tl.store(out_ptr + row * C + column, tl.load(x_ptr + row * rows_apart + column * columns_apart))
