#!/usr/bin/env python3
"""Writes each example's launch.toml, input data and expected results.

    make/expected.py            all examples
    make/expected.py NAME...    only these

One function per example. The expected results are computed here, with numpy or plain Python,
from the definition of the problem; no PTX is read. Inputs come from fixed seeds."""
import sys

import numpy as np

from launch import Example

f16, f32, f64 = np.float16, np.float32, np.float64
i32, u32, i64, u64 = np.int32, np.uint32, np.int64, np.uint64


def random(seed):
    return np.random.default_rng(seed)


def uniform(seed, n, low=-1.0, high=1.0, kind=f32):
    return random(seed).uniform(low, high, n).astype(kind)


# A sum of n float32 products in any order is within n * 2^-24 of the exact one, relative to the
# sum of the magnitudes. DOT turns that into an absolute bound for given magnitudes.
def dot_bound(n, magnitude):
    return float(f"{n * 2.0**-24 * magnitude * 2:.1e}")


def vecadd(e):
    n = 1000
    a, b = uniform(1, n), uniform(2, n)
    e.buffer("a", "f32", a)
    e.buffer("b", "f32", b)
    e.buffer("c", "f32", "zeros", n)
    e.launch("vecadd", 4, 256, "a", "b", "c", ("s32", n))
    e.expect("c", a + b, note="One correctly rounded addition: exact.")


def saxpy(e):
    n, a = 3000, f32(2.5)
    x = np.arange(n, dtype=f32)
    y = uniform(3, n)
    e.buffer("x", "f32", "iota", n)
    e.buffer("y", "f32", y)
    e.launch("saxpy", 5, 128, ("u32", n), ("f32", a), "x", "y")
    exact = f64(a) * x.astype(f64) + y.astype(f64)
    e.expect("y", exact.astype(f32), rel=1e-6, abs=1e-6,
             note="A fused multiply-add rounds once, a separate multiplication and addition twice.")


def matmul(e):
    m, n, k = 48, 40, 36
    a, b = uniform(4, m * k).reshape(m, k), uniform(5, k * n).reshape(k, n)
    e.buffer("a", "f32", a)
    e.buffer("b", "f32", b)
    e.buffer("c", "f32", "zeros", m * n)
    e.launch("matmul", [3, 6], [16, 8], "a", "b", "c", ("s32", m), ("s32", n), ("s32", k))
    e.expect("c", a.astype(f64) @ b.astype(f64), abs=dot_bound(k, k),
             note="36 products of magnitude at most 1: 36 roundings of sums of at most 36.")


def matmul_tiled(e):
    n = 64
    a, b = uniform(6, n * n).reshape(n, n), uniform(7, n * n).reshape(n, n)
    e.buffer("a", "f32", a)
    e.buffer("b", "f32", b)
    e.buffer("c", "f32", "zeros", n * n)
    e.launch("matmul_tiled", [4, 4], [16, 16], "a", "b", "c", ("s32", n))
    e.expect("c", a.astype(f64) @ b.astype(f64), abs=dot_bound(n, n),
             note="64 products of magnitude at most 1: 64 roundings of sums of at most 64.")


def reduction(e):
    n, blocks = 8000, 32
    x = uniform(8, n)
    e.buffer("in", "f32", x)
    e.buffer("out", "f32", "zeros", blocks)
    e.launch("reduce", blocks, 256, "in", "out", ("u32", n))
    sums = [x[i * 256:(i + 1) * 256].astype(f64).sum() for i in range(blocks)]
    e.expect("out", sums, abs=dot_bound(8, 256),
             note="A tree of depth 8 over 256 numbers of magnitude at most 1.")


def reduce_shuffle(e):
    n = 5000
    x = random(9).integers(-1000, 1000, n)
    e.buffer("in", "s32", x)
    e.buffer("out", "s32", "zeros", 1)
    e.launch("reduce_shuffle", 8, 128, "in", "out", ("s32", n))
    e.expect("out", [x.sum()])


def scan_block(e):
    x = random(10).integers(-50, 50, 2048)
    e.buffer("in", "s32", x)
    e.buffer("out", "s32", "zeros", 2048)
    e.launch("scan_block", 4, 512, "in", "out")
    e.expect("out", np.cumsum(x.reshape(4, 512), axis=1))


def scan_warp(e):
    x = random(11).integers(-10**6, 10**6, 512)
    y = random(12).integers(-2**50, 2**50, 512)
    e.buffer("in32", "s32", x)
    e.buffer("out32", "s32", "zeros", 512)
    e.buffer("in64", "s64", y)
    e.buffer("out64", "s64", "zeros", 512)
    e.launch("scan_warp32", 4, 128, "in32", "out32")
    e.launch("scan_warp64", 8, 64, "in64", "out64")
    e.expect("out32", np.cumsum(x.reshape(-1, 32), axis=1))
    e.expect("out64", np.cumsum(y.reshape(-1, 32), axis=1))


def transpose(e):
    w, h = 100, 70
    e.buffer("in", "s32", "iota", w * h)
    e.buffer("out", "s32", "zeros", w * h)
    e.launch("transpose", [4, 3], [32, 8], "in", "out", ("s32", w), ("s32", h))
    e.expect("out", np.arange(w * h).reshape(h, w).T)


def stencil(e):
    w, h = 60, 50
    a = uniform(13, w * h).reshape(h, w)
    e.buffer("a", "f32", a)
    e.buffer("b", "f32", "zeros", w * h)
    for step in range(4):
        e.launch("stencil", [4, 7], [16, 8], *(("a", "b") if step % 2 == 0 else ("b", "a")), ("s32", w), ("s32", h))
    x = a.astype(f64)
    for step in range(4):
        y = x.copy()
        y[1:-1, 1:-1] = 0.5 * x[1:-1, 1:-1] + 0.125 * (x[1:-1, :-2] + x[1:-1, 2:] + x[:-2, 1:-1] + x[2:, 1:-1])
        x = y
    e.expect("a", x, abs=2e-6, note="Four steps of five roundings of numbers of magnitude at most 4.")


def histogram_global(e):
    n = 4000
    x = np.minimum(random(14).exponential(40, n), 255).astype(np.uint8)
    e.buffer("in", "u8", x)
    e.buffer("bins", "u32", "zeros", 256)
    e.launch("histogram_global", 6, 128, "in", "bins", ("u32", n))
    e.expect("bins", np.bincount(x, minlength=256))


def histogram_shared(e):
    n = 8192
    x = np.minimum(random(15).exponential(40, n), 255).astype(np.uint8)
    e.buffer("in", "u8", x)
    e.buffer("bins", "u32", "zeros", 256)
    e.launch("histogram_shared", 4, 128, "in", "bins", ("u32", n // 4))
    e.expect("bins", np.bincount(x, minlength=256))


EXAMPLES = [
    vecadd, saxpy, matmul, matmul_tiled, reduction, reduce_shuffle, scan_block, scan_warp, transpose,
    stencil, histogram_global, histogram_shared,
]

if __name__ == "__main__":
    for make in EXAMPLES:
        if len(sys.argv) == 1 or make.__name__ in sys.argv[1:]:
            example = Example(make.__name__)
            make(example)
            example.write()
