#!/usr/bin/env python3
"""Writes each example's launch.toml, input data and expected results.

    make/expected.py            all examples
    make/expected.py NAME...    only these

One function per example. The expected results are computed here, with numpy or plain Python,
from the definition of the problem; no PTX is read. Inputs come from fixed seeds."""
import math
import struct
import sys
from fractions import Fraction

import numpy as np

from launch import Example

f16, f32, f64 = np.float16, np.float32, np.float64
i32, u32, i64, u64 = np.int32, np.uint32, np.int64, np.uint64


def random(seed):
    return np.random.default_rng(seed)


def uniform(seed, n, low=-1.0, high=1.0, kind=f32):
    return random(seed).uniform(low, high, n).astype(kind)


def s32(x):
    """The low 32 bits of an integer, as a signed number."""
    return (x + 2**31) % 2**32 - 2**31


def s64(x):
    return (x + 2**63) % 2**64 - 2**63


def quotient(a, b):
    """Division that rounds towards zero, as in C."""
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def bf16(x):
    """The bits of the bfloat16 nearest to a number of ordinary size (ties to even)."""
    fraction, exponent = math.frexp(x)
    nearest = math.ldexp(round(fraction * 256), exponent - 8)
    return struct.unpack("<I", struct.pack("<f", nearest))[0] >> 16


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
    e.buffer("in", "u8", x, raw=True)
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


def reduce_cg(e):
    n = 1024
    x = random(16).integers(-100, 100, n)
    e.buffer("in", "s32", x)
    e.buffer("out", "s32", "zeros", 4)
    e.buffer("tile8", "s32", "zeros", n // 8)
    e.buffer("scan", "s32", "zeros", n)
    e.buffer("odd", "u32", "zeros", 1)
    e.launch("reduce_cg", 4, 256, "in", "out", "tile8", "scan", "odd")
    e.expect("out", x.reshape(4, 256).sum(axis=1))
    e.expect("tile8", x.reshape(-1, 8).sum(axis=1))
    e.expect("scan", np.cumsum(x.reshape(-1, 8), axis=1))
    e.expect("odd", [int(np.count_nonzero(x % 2))])


def bitonic(e):
    x = random(17).integers(0, 2**32, 1024)
    e.buffer("keys", "u32", x)
    e.launch("bitonic", 2, 512, "keys")
    e.expect("keys", np.sort(x.reshape(2, 512), axis=1))


def radix_sort(e):
    n, blocks = 1024, 4
    x = random(18).integers(0, 2**16, n)
    e.buffer("a", "u32", x)
    e.buffer("b", "u32", "zeros", n)
    e.buffer("hist", "u32", "zeros", 16 * blocks)
    source, target = "a", "b"
    for shift in range(0, 16, 4):
        e.launch("count", blocks, 256, source, "hist", ("s32", shift))
        e.launch("offsets", 1, 32, "hist")
        e.launch("scatter", blocks, 256, source, target, "hist", ("s32", shift))
        source, target = target, source
    e.expect("a", np.sort(x))


def nbody(e):
    n, soft2 = 128, f32(0.1)
    body = uniform(19, 4 * n).reshape(n, 4)
    body[:, 3] = abs(body[:, 3])
    e.buffer("body", "f32", body)
    e.buffer("accel", "f32", "zeros", 4 * n)
    e.launch("nbody", 2, 64, "body", "accel", ("s32", n), ("f32", soft2))
    p, mass = body[:, :3].astype(f64), body[:, 3].astype(f64)
    d = p[None, :, :] - p[:, None, :]
    r2 = (d * d).sum(axis=2) + f64(soft2)
    a = (mass[None, :, None] * d / (r2 ** 1.5)[:, :, None]).sum(axis=1)
    e.expect("accel", np.hstack([a, np.zeros((n, 1))]), rel=1e-4, abs=1e-3,
             note="An approximate reciprocal square root (2^-22 relative), cubed, in sums of 128 terms of at most 32.")


def mandelbrot(e):
    w, h, limit = 48, 40, 100
    x0, y0, step = f32(-2.0), f32(-1.25), f32(0.0625)
    e.buffer("out", "u16", "zeros", w * h)
    e.launch("mandelbrot", [3, 5], [16, 8], "out", ("s32", w), ("s32", h), ("f32", x0), ("f32", y0), ("f32", step),
             ("s32", limit))
    counts = []
    for py in range(h):
        for px in range(w):
            cx, cy = x0 + f32(px) * step, y0 + f32(py) * step
            x, y, n = f32(0), f32(0), 0
            while n < limit:
                xx, yy = x * x, y * y
                if xx + yy > f32(4):
                    break
                y = f32(2) * x * y + cy
                x = xx - yy + cx
                n += 1
            counts.append(n)
    e.expect("out", counts)


def spmv(e):
    rows, columns = 120, 100
    g = random(20)
    lengths = g.integers(0, 40, rows)
    lengths[7], lengths[50] = 0, 90
    ptr = np.concatenate([[0], np.cumsum(lengths)])
    col = np.concatenate([np.sort(g.permutation(columns)[:n]) for n in lengths])
    val, x = uniform(21, len(col)), uniform(22, columns)
    for name, kind, data in (("ptr", "s32", ptr), ("col", "s32", col), ("val", "f32", val), ("x", "f32", x)):
        e.buffer(name, kind, data)
    e.buffer("y_scalar", "f32", "zeros", rows)
    e.buffer("y_vector", "f32", "zeros", rows)
    e.launch("spmv_scalar", 2, 64, ("s32", rows), "ptr", "col", "val", "x", "y_scalar")
    e.launch("spmv_vector", 30, 128, ("s32", rows), "ptr", "col", "val", "x", "y_vector")
    y = [(val[a:b].astype(f64) * x[col[a:b]].astype(f64)).sum() for a, b in zip(ptr, ptr[1:])]
    bound = dot_bound(90, 90)
    e.expect("y_scalar", y, abs=bound, note="At most 90 products of magnitude at most 1.")
    e.expect("y_vector", y, abs=bound)


def bfs(e):
    n = 300
    g = random(23)
    neighbours = [set() for _ in range(n)]
    for _ in range(360):
        a, b = (int(v) for v in g.integers(0, n - 10, 2))
        neighbours[a].add(b)
        neighbours[b].add(a)
    for a in range(n - 10, n - 4):  # a tail of six vertices; the last four stay alone
        b = a - 1 if a > n - 10 else 3
        neighbours[a].add(b)
        neighbours[b].add(a)
    ptr = np.concatenate([[0], np.cumsum([len(s) for s in neighbours])])
    adj = [w for s in neighbours for w in sorted(s)]
    dist, frontier, level = [-1] * n, [0], 0
    dist[0] = 0
    while frontier:
        level += 1
        frontier = [w for v in frontier for w in sorted(neighbours[v])]
        frontier = [w for w in dict.fromkeys(frontier) if dist[w] < 0]
        for w in frontier:
            dist[w] = level
    levels = max(dist) + 1
    e.buffer("ptr", "s32", ptr)
    e.buffer("adj", "s32", adj)
    e.buffer("dist", "s32", [0] + [-1] * (n - 1))
    e.buffer("q0", "s32", "zeros", n, note="The queue holds vertex 0 at first.")
    e.buffer("q1", "s32", "zeros", n)
    e.buffer("counts", "s32", [1] + [0] * levels)
    for k in range(levels):
        queues = ("q0", "q1") if k % 2 == 0 else ("q1", "q0")
        e.launch("bfs_level", 2, 64, "ptr", "adj", "dist", *queues, "counts", ("s32", k))
    e.expect("dist", dist)
    e.expect("counts", [dist.count(k) for k in range(levels + 1)])


def kmeans_step(e):
    n, k = 500, 5
    g = random(24)
    p = g.integers(-40, 41, (n, 2)).astype(f32)
    c = np.array([[-20, -20], [20, 20], [0, 0], [-15, 25], [30, -10]], f32)
    e.buffer("point", "f32", p)
    e.buffer("centre", "f32", c)
    e.buffer("label", "s32", "zeros", n)
    e.buffer("sum", "f32", "zeros", 2 * k)
    e.buffer("size", "s32", "zeros", k)
    e.launch("assign", 4, 128, "point", "centre", "label", "sum", "size", ("s32", n))
    e.launch("update", 1, k, "centre", "sum", "size")
    d = ((p[:, None, :] - c[None, :, :]) ** 2).sum(axis=2)
    label = d.argmin(axis=1)
    size = np.bincount(label, minlength=k)
    sums = np.array([p[label == j].sum(axis=0) for j in range(k)], f32)
    e.expect("label", label)
    e.expect("sum", sums)
    e.expect("size", size)
    e.expect("centre", sums / size.astype(f32)[:, None], note="One correctly rounded division of exact sums.")


def convolution(e):
    w, h = 300, 6
    x = uniform(25, w * h).reshape(h, w)
    taps = np.array([0.0625, -0.125, 0.25, 0.5, 1.0, 0.5, 0.25, -0.125, 0.0625], f32)
    e.buffer("in", "f32", x)
    e.buffer("out", "f32", "zeros", w * h)
    e.globals(filter=("f32", taps))
    e.launch("_Z8convolveILi4EEvPKfPfi", [3, h], 128, "in", "out", ("s32", w))
    wide = np.pad(x.astype(f64), ((0, 0), (4, 4)))
    y = sum(f64(taps[k]) * wide[:, k:k + w] for k in range(9))
    e.expect("out", y, abs=dot_bound(9, 3), note="Nine products whose magnitudes sum to at most 2.9.")


def zoom(e):
    w, h = 8, 6
    picture = random(61).integers(0, 256, (h, w, 4))
    width, height, left, top, step = 20, 12, -0.75, 0.25, 0.5
    e.image("textures", "picture", picture, geometry="2d", size=[w, h], format="u8", channels=4, filter="linear", read="normalised")
    e.image("surfaces", "view", geometry="2d", size=[width, height], format="u8", channels=4)
    e.launch("zoom", [2, 2], [16, 8], ("texture", "picture"), ("surface", "view"), ("s32", width), ("s32", height),
             ("f32", left), ("f32", top), ("f32", step))
    # Places are multiples of a quarter, so that weights are exact.
    view = np.zeros((height, width, 4), u32)
    for y in range(height):
        for x in range(width):
            px, py = Fraction(left) + (x + Fraction(1, 2)) * Fraction(step) - Fraction(1, 2), Fraction(top) + (y + Fraction(1, 2)) * Fraction(step) - Fraction(1, 2)
            i, j = math.floor(px), math.floor(py)
            a, b = px - i, py - j
            at = lambda k, m: picture[min(max(m, 0), h - 1)][min(max(k, 0), w - 1)]
            for c in range(3):
                value = ((1 - a) * (1 - b) * int(at(i, j)[c]) + a * (1 - b) * int(at(i + 1, j)[c])
                         + (1 - a) * b * int(at(i, j + 1)[c]) + a * b * int(at(i + 1, j + 1)[c]))
                # What the texture gives is rounded to single precision, and so is its product with 255.
                view[y][x][c] = int(np.rint(f32(f32(value.numerator / value.denominator / 255) * f32(255))))
            view[y][x][3] = 255
    e.expect("view", view)


def lookback_scan(e):
    n, tiles = 2048, 16
    x = random(26).integers(0, 1000, n)
    e.buffer("in", "u32", x)
    e.buffer("out", "u32", "zeros", n)
    e.buffer("state", "u64", "zeros", tiles)
    e.buffer("ticket", "u32", "zeros", 1)
    e.launch("lookback_scan", tiles, 128, "in", "out", "state", "ticket")
    sums = np.cumsum(x)
    e.expect("out", sums)
    e.expect("state", (2 << 32) + sums[127::128], note="Every tile ends with its whole prefix.")
    e.expect("ticket", [tiles])


def warp_aggregated(e):
    n = 1000
    x = random(27).integers(-100, 101, n)
    kept = x[x >= 40]
    e.buffer("in", "s32", x)
    e.buffer("out", "s32", "zeros", n)
    e.buffer("count", "s32", "zeros", 1)
    e.launch("warp_aggregated", 8, 128, "in", "out", "count", ("s32", n), ("s32", 40))
    e.expect("out", np.concatenate([kept, np.zeros(n - len(kept))]), unordered=True,
             note="The order of the warps' parts depends on the schedule.")
    e.expect("count", [len(kept)])


def spinlock(e):
    warps = 16
    e.buffer("lock", "s32", "zeros", 1)
    e.buffer("counter", "s32", "zeros", 1)
    e.buffer("log", "s32", "zeros", warps)
    e.launch("spinlock", 4, 128, "lock", "counter", "log")
    e.expect("lock", [0])
    e.expect("counter", [warps])
    e.expect("log", np.arange(warps), unordered=True, note="The order in which the warps took the lock.")


def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def recursion(e):
    n = 32
    for name, length in (("f", n), ("e", n), ("a", 9)):
        e.buffer(name, "s32", "zeros", length)
    e.launch("recursion", 1, n, "f", "e", "a")
    e.expect("f", [fibonacci(t % 13) for t in range(n)])
    e.expect("e", [1 - t % 2 for t in range(n)])
    closed = (lambda y: y + 1, lambda y: y + 2, lambda y: 2 * y + 3)  # Ackermann's function for 0, 1, 2
    e.expect("a", [closed[t // 3](t % 3) for t in range(9)])


def function_pointers(e):
    n, b = 64, 3
    ops = (lambda a: a + b, lambda a: a - b, lambda a: a * b, lambda a: a**b)
    for which in range(4):
        e.buffer(f"same{which}", "s32", "zeros", n)
    e.buffer("each", "s32", "zeros", n)
    for which in range(4):
        e.launch("same", 1, n, f"same{which}", ("s32", which), ("s32", b))
    e.launch("each", 1, n, "each", ("s32", b))
    for which in range(4):
        e.expect(f"same{which}", [ops[which](t) for t in range(n)])
    e.expect("each", [ops[t % 4](t) for t in range(n)])


def virtual_calls(e):
    n = 48
    e.buffer("area", "f32", "zeros", n)
    e.buffer("corners", "s32", "zeros", n)
    e.launch("virtual_calls", 1, n, "area", "corners")
    e.expect("area", [(t * t, 3 * t * t, t)[t % 3] for t in range(n)], note="Small integers: exact.")
    e.expect("corners", [(4, 0, 3)[t % 3] for t in range(n)])


def printf(e):
    e.launch("hello", 2, 4, ("s32", 7))
    big, x = -81985529216486896, 1234.5678
    e.launch("conversions", 1, 1, ("s64", big), ("f64", x))
    text = ""
    for i in range(7):
        text += "block %d thread %d: %5.2f %s\n" % (i // 4, i % 4, i * 0.25, "odd" if i % 2 else "even")
    text += "%d %d %x %X %o %c %%\n" % (-1, 4000000000, 48879, 48879, 8, "z")
    text += "[%6d] [%-6d] [%06d] [%+d] [%.3s]\n" % (42, 42, 42, 42, "abcdef")
    text += "%d %x %f %e %g %8.3f\n" % (big, big % 2**64, x, x, x, x)
    text += "no arguments\n"
    e.stdout(text, sort=True)


def double_math(e):
    x = np.concatenate([[1.0, 2.0, 0.5, 3.25, 1e-300, 1e300, 1e10, 123456789.125, 2.0**60, 5e-324],
                        random(28).uniform(0.001, 500, 54)])
    n = len(x)
    e.buffer("in", "f64", x)
    e.buffer("out", "f64", "zeros", 8 * n)
    e.launch("double_math", 2, 48, "in", "out", ("s32", n))
    rows = []
    for v in map(float, x):
        square = float(Fraction(v) ** 2 - 1) if v < 1e150 else math.inf  # one rounding
        rows.append([1 / v if v > 1e-308 else math.inf, math.sqrt(v), square, math.exp(-v * 0.01),
                     math.log(v), math.sin(v), v**0.3, math.floor(v) + min(v, 3.0)])
    e.expect("out", np.array(rows), rel=4e-15, abs=1e-300,
             note="The library's functions are within 2 units in the last place here and in the CUDA guide.")


def half_math(e):
    n = 64
    x = np.concatenate([[0.0, -0.0, 1.0, -1.0, 0.1, 255.0, 1e-5, 6e-8, 300.0, 1e9],
                        random(29).normal(0, 3, n - 10)]).astype(f32)
    e.buffer("in", "f32", x)
    e.buffer("out", "f16", "zeros", n)
    e.buffer("back", "f32", "zeros", n)
    e.launch("half_scalar", 1, n, "in", "out", "back")
    a, b = uniform(30, 2 * n, -2, 2, f16), uniform(31, 2 * n, -2, 2, f16)
    e.buffer("a", "f16", a)
    e.buffer("b", "f16", b)
    e.buffer("pairs", "f16", "zeros", 2 * n)
    e.buffer("sum", "f16", "zeros", 2)
    e.launch("half_pairs", 1, n, "a", "b", "pairs", "sum")
    with np.errstate(all="ignore"):
        h = x.astype(f16)
        g = (h.astype(f64) * h.astype(f64) + 0.5).astype(f16)  # exact in double, rounded once
        e.expect("out", np.where(g > h, g - h, -h), note="Correctly rounded operations: exact.")
        e.expect("back", g.astype(f32))
        p = (a.astype(f64) * b.astype(f64) + a.astype(f64)).astype(f16)
        e.expect("pairs", p + b.reshape(-1, 2)[:, ::-1].ravel())
        e.expect("sum", [n, n])
    bits = [bf16(float(v)) for v in uniform(32, n, -4, 4)]
    values = [struct.unpack("<f", struct.pack("<I", v << 16))[0] for v in bits]
    e.buffer("bf_in", "bf16", values)
    e.buffer("bf_out", "bf16", "zeros", n)
    e.buffer("bf_back", "f32", "zeros", n)
    e.launch("bfloat", 1, n, "bf_in", "bf_out", "bf_back")
    e.expect("bf_out", struct.pack(f"<{n}H", *(bf16(v * v - 1.0) for v in values)), note="Bit for bit.")
    e.expect("bf_back", values)


def int64(e):
    n = 32
    g = random(33)
    a = g.integers(-2**63, 2**63, n, dtype=i64)
    b = g.integers(-2**63, 2**63, n, dtype=i64)
    b[::3] >>= 40
    b[1::4] >>= 57
    a[:4] = [0, -1, 2**63 - 1, -2**63]
    b[:4] = [1, 7, 2, 3]
    b[b == 0] = 5
    e.buffer("a", "s64", a)
    e.buffer("b", "s64", b)
    e.buffer("out", "s64", "zeros", 12 * n)
    e.launch("int64", 1, n, "a", "b", "out")
    rows = []
    for i, (x, y) in enumerate(zip(a.tolist(), b.tolist())):
        ux, uy = x % 2**64, y % 2**64
        q = quotient(x, y)
        low = (ux & -ux).bit_length()  # __ffsll
        rows.append([s64(v) for v in (
            x + y, x * y, (x * y) >> 64, (ux * uy) >> 64, q, x - q * y, ux // uy, ux % uy, quotient(x, 1000),
            (x << i % 64) ^ (x >> i % 7) ^ (ux >> i % 11),
            ux.bit_count() + 100 * (64 - uy.bit_length()) + 10000 * low, (ux * uy + i) >> 37)])
    e.expect("out", np.array(rows, dtype=i64))


def local_arrays(e):
    threads = 64
    x = random(34).integers(0, 1000, (threads, 16))
    e.buffer("in", "s32", x)
    e.buffer("sorted", "s32", "zeros", 16 * threads)
    e.buffer("visited", "s32", "zeros", threads)
    e.launch("local_arrays", 2, 32, "in", "sorted", "visited")
    y = np.sort(x, axis=1)
    visited = []
    for t in range(threads):
        seen, at = set(), t % 16
        while at not in seen:
            seen.add(at)
            at = (int(y[t, at]) + at) % 16
        visited.append(len(seen))
    e.expect("sorted", y)
    e.expect("visited", visited)


def dynamic_shared(e):
    n, blocks = 96, 3
    x = random(35).integers(-50, 50, (blocks, n)) / 4.0
    e.buffer("in", "f64", x)
    e.buffer("out", "f64", "zeros", n * blocks)
    e.buffer("rank", "u8", "zeros", n * blocks)
    e.launch("dynamic_shared", blocks, n, "in", "out", "rank", shared=9 * n)
    e.expect("out", np.sort(x, axis=1))
    order = np.argsort(x, axis=1, kind="stable")
    rank = np.argsort(order, axis=1)
    e.expect("rank", rank[:, ::-1])


def constant_memory(e):
    n = 64
    t = np.arange(n)
    e.buffer("p", "f32", "zeros", n)
    e.buffer("e", "f32", "zeros", n)
    e.buffer("d", "f64", "zeros", n)
    e.globals(scale=("s32", [2, -3, 5]), offset=("f64", [0.125]))
    e.launch("constant_memory", 1, n, "p", "e", "d")
    x = t * 0.125
    e.expect("p", 1 - 0.5 * x + 0.25 * x**2 - 0.125 * x**3 + 0.0625 * x**4, rel=1e-5, abs=1e-6,
             note="Four roundings, with some cancellation.")
    table = [(1, 2, 0.5), (-3, 0, 4.0), (100, -1, -2.0), (0, 7, 1.0)]
    e.expect("e", [(table[i % 4][0] + table[i % 4][1] * i) * table[i % 4][2] for i in range(n)], note="Exact.")
    e.expect("d", [(2, -3, 5)[i % 3] * i + 0.125 for i in range(n)], note="Exact.")


def grid_barrier(e):
    n, rounds = 256, 6
    e.buffer("a", "u32", "iota", n)
    e.buffer("b", "u32", "zeros", n)
    e.buffer("arrived", "u32", "zeros", 1)
    e.buffer("generation", "u32", "zeros", 1)
    e.launch("grid_barrier", 4, 64, "a", "b", "arrived", "generation", ("s32", rounds))
    x = np.arange(n, dtype=u32)
    for _ in range(rounds):
        x = x + np.roll(x, -1) + np.roll(x, 1)
    e.expect("a", x)
    e.expect("arrived", [0])
    e.expect("generation", [rounds])


def structs_by_value(e):
    n = 24
    layout = "<cxxxidhhhxx"
    pairs = uniform(36, 2 * n)
    e.buffer("out", "b8", "zeros", 24 * n)
    e.buffer("in", "f32", pairs)
    e.buffer("pairs", "f32", "zeros", 2 * n)
    e.launch("structs_by_value", 1, n, ("bytes", struct.pack(layout, b"a", -5, 2.5, 10, 20, 30)), "out", "in", "pairs")
    made = b""
    for t in range(n):
        cell = [10, 20, 30]
        cell[t % 3] = t
        made += struct.pack(layout, b"ab"[t % 2:t % 2 + 1], t - 5, 1.25, *cell)
    e.expect("out", made, note="The padding was zero and is not written.")
    e.expect("pairs", np.sort(pairs.reshape(n, 2), axis=1))


def switch(e):
    threads, length = 96, 24
    code = random(37).integers(0, 12, (threads, length)).astype(np.uint8)
    code[code == 11] = random(38).integers(0, 11)  # the default case resets: keep it rare
    code[::5, 3] = 200
    e.buffer("code", "u8", code)
    e.buffer("out", "s32", "zeros", 2 * threads)
    e.launch("interpret", 3, 32, "code", "out", ("s32", length))
    out = []
    for t in range(threads):
        a, b, pc = t, 1, 0
        while pc < length:
            match int(code[t, pc]):
                case 0: a = s32(a + b)
                case 1: a = s32(a - 3 * b)
                case 2: b = s32(a ^ (b << 1))
                case 3: a = s32(a * 5 + 1)
                case 4: a, b = b & 0xFF, 7
                case 5: a ^= a >> 3
                case 6: b = s32(-b)
                case 7: a = s32(a | 1 << (b & 15))
                case 8: pc += 1 if a > b else 0
                case 9: a = s32(~a + pc)
                case 10: b = s32(b + pc * pc)
                case _: a = 0
            pc += 1
        out += [a, b]
    e.expect("out", out)


def votes_and_match(e):
    n = 64
    x = random(39).integers(0, 9, n)
    x[32:] %= 8
    e.buffer("in", "s32", x)
    e.buffer("out", "u32", "zeros", 8 * n)
    e.launch("votes", 1, n, "in", "out")
    rows = []
    for warp in (x[:32].tolist(), x[32:].tolist()):
        def ballot(test, lanes=range(32)):
            return sum(1 << i for i in lanes if test(warp[i]))
        below = ballot(lambda v: v < 4)
        first = (below & -below).bit_length() - 1
        uniform_eighth = len({v // 8 for v in warp}) == 1
        base = len(rows)
        for lane, v in enumerate(warp):
            low = lane < 20
            rows.append([
                ballot(lambda u: u > 2), int(5 in warp) + 2 * int(max(warp) < 8),
                ballot(lambda u: u & 1, range(20)) if low else ballot(lambda u: u & 2, range(20, 32)),
                1 if low else int(7 in warp[20:]),
                warp[first] * 10 + base + first if v < 4 else below.bit_count(),
                ballot(lambda u: u == v), 0xFFFFFFFF if uniform_eighth else 0, int(uniform_eighth) + 2])
    e.expect("out", np.array(rows))


def atomics_all(e):
    n, blocks = 256, 4
    e.buffer("s", "s32", [0, 0, 0, 0, 0, 0])
    e.buffer("u", "u32", [2**32 - 1, 0, 2**32 - 1, 0, 0x1234, 0, 10, 0, 0])
    e.buffer("l", "u64", [0, 2**63, 0, 2**64 - 1, 0, 99, 1, 0])
    e.buffer("f", "f32", "zeros", 1)
    e.buffer("d", "f64", "zeros", 1)
    e.buffer("tickets", "u32", "zeros", n)
    e.buffer("sums", "u32", "zeros", 2)
    e.buffer("last", "u32", [5])
    e.launch("atomics_all", blocks, n // blocks, "s", "u", "l", "f", "d", "tickets", "sums", "last")
    e.launch("finish", 1, 1, "sums", "last")
    ids = range(n)
    total = sum(ids)
    e.expect("s", [total, -3 * n, -(n - 1), max(i * 7 % 101 for i in ids), n, total + n])
    xor, dec = 0x1234, 10
    for i in ids:
        xor ^= 0x01010101 * i % 2**32
        dec = 49 if dec == 0 or dec > 49 else dec - 1
    e.expect("u", [1000 - (n - 1), n - 1, 0, 2**29 - 1, xor, n % 100, dec, n, 77])
    xor, product, wide = 99, 1, 0
    for i in ids:
        xor ^= i**4
        product = product * (2 * i + 1) % 2**64
    for b in range(blocks):
        wide ^= (2**64 - 1 + b) % 2**64
    e.expect("l", np.array([total << 32, 2**63, (n - 1) * 0x100000001, 0, 2**61 - 1, xor, product, wide], dtype=u64),
             note="The halves of 64-bit results and the modular product are the same in every order.")
    e.expect("f", [n / 2], note="Multiples of one half: exact in any order.")
    e.expect("d", [total / 4])
    e.expect("tickets", [1] * n)
    e.expect("sums", [5 + total, 1])
    e.expect("last", [0])


def two_modules(e):
    n = 96
    e.ptx = ["two_modules.first.ptx", "two_modules.second.ptx"]
    e.buffer("in", "s32", "iota", n)
    e.buffer("out", "s32", "zeros", n)
    e.launch("first", 3, 32, "in", "out")
    e.launch("second", 3, 32, "out")
    e.expect("out", [(3 * i + 3) * 5 for i in range(n)])


def carry_chains(e):
    n = 40
    g = random(40)
    a = [int.from_bytes(g.bytes(32), "little") for _ in range(n)]
    b = [int.from_bytes(g.bytes(32), "little") for _ in range(n)]
    a[:5] = [2**256 - 1, 0, 2**255, 2**256 - 1, 2**128 - 1]
    b[:5] = [1, 1, 2**255, 2**256 - 1, 1]
    pack = lambda xs, size: np.frombuffer(b"".join(x.to_bytes(size, "little") for x in xs), "<u4")
    e.buffer("a", "u32", pack(a, 32))
    e.buffer("b", "u32", pack(b, 32))
    e.buffer("sum", "u32", "zeros", 9 * n)
    e.buffer("diff", "u32", "zeros", 9 * n)
    e.launch("wide_sum", 1, n, "a", "b", "sum", "diff")
    e.expect("sum", pack([x + y for x, y in zip(a, b)], 36))
    e.expect("diff", pack([(x - y) % 2**288 for x, y in zip(a, b)], 36))

    p, q = [x % 2**64 for x in a], [x % 2**64 for x in b]
    p[0] = q[0] = 2**64 - 1
    e.buffer("p", "u32", pack(p, 8))
    e.buffer("q", "u32", pack(q, 8))
    e.buffer("product", "u32", "zeros", 4 * n)
    e.launch("wide_product", 1, n, "p", "q", "product")
    e.expect("product", pack([x * y for x, y in zip(p, q)], 16))

    ones = 2**32 - 1
    u = [x % 2**32 for x in a]
    v = [(x >> 32) % 2**32 for x in b]
    u[:4], v[:4] = [0, 1, ones, 2**31], [ones, 0, 2**31, 5]
    e.buffer("u", "u32", u)
    e.buffer("v", "u32", v)
    e.buffer("bits", "u32", "zeros", 24 * n)
    e.launch("bits", 1, n, "u", "v", "bits")

    def permute(x, y, selectors):
        source = (x | y << 32).to_bytes(8, "little")
        out = 0
        for i, s in enumerate(selectors):
            byte = source[s & 7]
            out |= (byte if s < 8 else 0xFF * (byte >> 7)) << 8 * i
        return out

    def field(x, at, length, signed):
        if length == 0:
            return 0
        value = x >> at & ((1 << length) - 1)  # bits beyond 31 are zero so far
        if signed and x >> min(at + length - 1, 31) & 1:
            value |= -1 << min(length, 32 - at)
        return value

    rows = []
    for t, (x, y) in enumerate(zip(u, v)):
        c = t % 32
        sx, sy = s32(x), s32(y)
        low24 = lambda z: (z + 2**23) % 2**24 - 2**23
        mask = (1 << 12) - 1
        top = (sy if sy >= 0 else ~sy).bit_length() - 1
        rows.append([w % 2**32 for w in (
            permute(x, y, (0, 1, 4, 5)), permute(x, y, (3, 12, 9, 14)),
            permute(x, y, [t % 4 + i for i in range(4)]), permute(x, y, [2 * (t % 2), 2 * (t % 2) + 1] * 2),
            field(x, c, 9, False), field(x, c, 9, True), field(x, 3, c, True),
            (y & ~(mask << c)) | (x & mask) << c,
            x & y | x & t | y & t, x ^ y ^ t,
            ((y << 32 | x) << c >> 32), (y << 32 | x) >> min(t, 32),
            x.bit_length() - 1, 31 - top if top >= 0 else -1,
            int(f"{x:032b}"[::-1], 2), x.bit_count(), 32 - y.bit_length(), t + abs(sx - sy),
            (x % 2**24) * (y % 2**24), low24(x) * low24(y) + t, x if sx >= 0 else y, int(t == 0),
            sx >> min(2 * t, 32), sx * sy % 2**64 >> 16)])
    e.expect("bits", np.array(rows, dtype=u32))


def named_barriers(e):
    rounds = 5
    x = random(41).integers(0, 1000, (rounds, 64))
    e.buffer("in", "u32", x)
    e.buffer("out", "u32", "zeros", rounds * 64)
    e.launch("pipeline", 1, 128, "in", "out", ("u32", rounds))
    e.expect("out", 3 * x[:, ::-1] + np.arange(rounds)[:, None])
    y = random(42).integers(1, 100, 128)
    y[5], y[100] = -4, 150
    e.buffer("values", "s32", y)
    e.buffer("reduced", "u32", "zeros", 3 * 128)
    e.launch("reductions", 1, 128, "values", "reduced")
    rows = []
    for t in range(128):
        half = y[:64] if t < 64 else y[64:]
        rows.append([np.count_nonzero(y % 2), int((half > 0).all()), int((half >= 100).any())])
    e.expect("reduced", rows)


def vector_loads(e):
    n = 64
    x = random(43).integers(-1000, 1000, (n, 8)).astype(f32)
    e.buffer("in", "f32", x)
    e.buffer("out", "f32", "zeros", 8 * n)
    e.launch("floats", 1, n, "in", "out")
    following = np.roll(x, -1, axis=0)
    e.expect("out", np.hstack([x[:, :4] + np.array([1, 2, 0.5, -1], f32), following[:, [6, 7, 4, 5]]]), note="Exact.")
    m = 32
    raw = random(44).bytes(24 * m)
    e.buffer("raw", "b8", np.frombuffer(raw, np.uint8))
    e.buffer("mixed", "b8", "zeros", 24 * m)
    e.launch("small", 1, m, "raw", "mixed")
    made = b""
    for i in range(m):
        r = raw[24 * i:24 * i + 24]
        swapped = r[12:16] + r[8:12]
        made += r[3::-1] + r[6:8] + r[4:6] + swapped + bytes(p ^ q for p, q in zip(swapped, r[16:24]))
    e.expect("mixed", np.frombuffer(made, np.uint8))
    e.buffer("words", "u32", "zeros", 6)
    e.buffer("double", "f64", "zeros", 1)
    e.launch("tables", 1, 1, "words", "double")
    e.expect("words", [50, 60, ord("w") * 1000 + ord("p"), 0, 10, 0])
    e.expect("double", [0.2], note="Twice the double nearest to 0.1: exact.")


def indexed_branch(e):
    n = 128
    x = random(45).integers(0, 2**32, n)
    e.buffer("in", "u32", x)
    e.buffer("out", "u32", "zeros", n)
    e.launch("cases", 2, 64, "in", "out")
    case = (lambda v: v + 1000, lambda v: v * 7 % 2**32 ^ 255, lambda v: v ^ 255, lambda v: v ^ 255, lambda v: ~v)
    e.expect("out", [case[v % 5](v) % 2**32 for v in x.tolist()])
    limit = 60
    e.buffer("n", "u32", "iota", n)
    e.buffer("steps", "u32", "zeros", n)
    e.launch("collatz", 2, 64, "n", "steps", ("u32", limit))
    steps = []
    for v in range(n):
        k = 0
        while v > 1 and k < limit:
            v = 3 * v + 1 if v % 2 else v // 2
            k += 1
        steps.append(k if v <= 1 else k + 1000000)
    e.expect("steps", steps)
    e.buffer("nested", "u32", "zeros", 64)
    e.launch("nested", 1, 64, "nested")
    out = []
    for t in range(64):
        lane, r = t % 32, 1
        if lane < 8 or lane > 24:
            r += 10
            if (lane ^ t // 32) & 1:
                r += 100 + (1000 if lane > 4 else 0) + (20000 if lane < 16 else 10000)
        out.append(r + 32)
    e.expect("nested", out)


def triton_softmax(e):
    e.note = ("The compiler lets all lanes of a warp store their common maximum, and later their common sum, to one\n"
              "# shared word: several writes of one value, so the result is the same in every order.")
    rows, columns = 6, 200
    x = uniform(46, rows * columns, -5, 5).reshape(rows, columns)
    e.buffer("out", "f32", "zeros", rows * columns)
    e.buffer("x", "f32", x)
    e.launch("softmax", rows, 128, "out", "x", ("s32", columns), None, None, shared=16,
             note="The last two parameters are Triton's scratch memory, unused here.")
    p = np.exp(x.astype(f64))
    e.expect("out", p / p.sum(axis=1, keepdims=True), rel=2e-5, abs=1e-9,
             note="An approximate 2^x of a rounded argument of at most 15, and an approximate division.")


def triton_matmul(e):
    m, n, k = 40, 35, 50
    a, b = uniform(47, m * k).reshape(m, k), uniform(48, k * n).reshape(k, n)
    e.buffer("a", "f32", a)
    e.buffer("b", "f32", b)
    e.buffer("c", "f32", "zeros", m * n)
    e.launch("matmul", [3, 3], 64, "a", "b", "c", ("s32", m), ("s32", n), ("s32", k), None, None, shared=2048,
             note="The last two parameters are Triton's scratch memory, unused here.")
    e.expect("c", a.astype(f64) @ b.astype(f64), abs=dot_bound(k, k), note="50 products of magnitude at most 1.")


def entry_of(name):
    """The one kernel of a file, for Numba's long names."""
    with open(f"{name}/{name}.ptx", encoding="utf-8") as f:
        return next(line for line in f if ".entry" in line).split(".entry")[1].strip().rstrip("(")


def numba_array(buffer, item, *shape):
    """Numba's parameters for an array: two unused addresses, items, item size, data, shape, strides."""
    strides = [item * math.prod(shape[i + 1:]) for i in range(len(shape))]
    return [None, None, ("u64", math.prod(shape)), ("u64", item), buffer,
            *(("u64", v) for v in shape), *(("u64", v) for v in strides)]


def numba_reduce(e):
    n = 2000
    a, b = random(49).integers(-50, 50, n), random(50).integers(-50, 50, n)
    e.buffer("a", "s32", a)
    e.buffer("b", "s32", b)
    e.buffer("out", "s32", "zeros", 1)
    e.launch(entry_of("numba_reduce"), 3, 128, *numba_array("a", 4, n), *numba_array("b", 4, n),
             *numba_array("out", 4, 1), note="An array is seven parameters: two unused addresses, items, item size, data, shape, stride.")
    e.expect("out", [(a * b).sum()])


def numba_escape(e):
    w, h, limit = 40, 30, 25
    low, step = complex(-1.3, -1.1), 0.07
    e.buffer("image", "s32", "zeros", w * h)
    e.launch(entry_of("numba_escape"), [3, 4], [16, 8], *numba_array("image", 4, h, w), ("f64", low.real),
             ("f64", low.imag), ("f64", step), ("s32", limit))
    image = []
    for y in range(h):
        for x in range(w):
            c, z, n = low + complex(x * step, y * step), 0j, 0
            while n < limit and z.real * z.real + z.imag * z.imag <= 4.0:
                z = z * z * z + c
                n += 1
            image.append(n)
    e.expect("image", image, note="No point comes near enough to the edge for a fused multiply-add to change its count.")


def feat(e):
    layout = "<cxxxidhhhxx"  # struct S

    def out(name, n, kind="s32"):
        e.buffer(name, kind, "zeros", n)

    e.globals(ci=("s32", [1, -2, 3, 5]))

    out("rec", 16)
    e.launch("k_rec", 1, 16, "rec")
    e.expect("rec", [fibonacci(t) for t in range(16)])

    for which, op in ((0, lambda t: t + 3), (1, lambda t: 3 * t)):
        out(f"fptr{which}", 40)
        e.launch("k_fptr", 1, 40, f"fptr{which}", ("s32", which))
        e.expect(f"fptr{which}", [op(t) for t in range(40)])

    out("structs", 24 * 16, "b8")
    e.launch("k_struct", 1, 16, "structs", ("bytes", struct.pack(layout, b"z", 100, -0.75, -1, 2, -3)))
    e.expect("structs", b"".join(struct.pack(layout, b"z", 100 + t, -0.75, -1, 2, -3) for t in range(16)))

    for which, factor in ((0, 1), (1, 5)):
        out(f"virt{which}", 32)
        e.launch("k_virt", 1, 32, f"virt{which}", ("s32", which))
        e.expect(f"virt{which}", [factor * t for t in range(32)])

    e.launch("k_printf", 1, 32, ("s32", 3))
    e.stdout("".join("t %d %f %s\n" % (t, 1.5, "x") for t in range(3)), sort=True)

    out("const", 64, "f32")
    e.launch("k_const", 1, 64, "const")
    coef = np.zeros(16, f32)
    coef[:4] = [1, 0.5, 0.25, 3.1415926]
    e.expect("const", [coef[t % 16] * f32((1, -2, 3, 5)[t % 4]) for t in range(64)], note="One correctly rounded product.")

    out("glob", 1)
    e.launch("k_glob", 1, 1, "glob", note="One thread: every thread adds to one double without an atomic.")
    e.expect("glob", [1 + 3 + 7 + ord("h")])

    e.buffer("dyn", "f32", "iota", 96)
    e.launch("k_dyn", 1, 96, "dyn", shared=4 * 96)
    e.expect("dyn", np.arange(96)[::-1])

    local = [5, 11, -7, 3, 8, 1000, 4, 9, 2, 6, 1, 0]
    e.buffer("local", "s32", local)
    e.launch("k_local", 1, 1, "local", ("s32", 12), note="One thread: threads would overwrite what others read.")
    e.expect("local", [5 * local[5], *local[1:]])

    x = random(60).integers(-1000, 1000, 32)
    e.buffer("shfl", "s32", x)
    e.launch("k_shfl", 1, 32, "shfl")
    e.expect("shfl", [4 * x.sum()] * 32, note="After the butterfly every lane holds the sum; three shuffles of it are added.")

    x = random(61).integers(0, 3, 96)
    e.buffer("bar", "s32", x)
    e.launch("k_bar", 1, 96, "bar")
    e.expect("bar", [int(np.count_nonzero(x)) + int((x != 0).all()) + int((x != 0).any())] * 96)

    # k_atom, one thread: the operations one after the other.
    o = max(0 + 1 - 2, 3)
    o = min(o, 4)
    u = ((13 & 5) | 6) ^ 7
    u = 0 if u >= 8 else u + 1        # inc
    u = 9 if u == 0 or u > 9 else u - 1  # dec
    o = 10                            # exch
    u = 2 if u == 1 else u            # cas
    old_u, u = u, 4 if u == 3 else u
    old_o, o = o, o + 1
    old_l = 20 + 1
    e.buffer("atom_o", "s32", [0, 0, 0])
    e.buffer("atom_u", "u32", [13, 0])
    e.buffer("atom_f", "f32", [0.25, 0])
    e.buffer("atom_d", "f64", [-0.5])
    e.buffer("atom_l", "u64", [20, 0])
    e.buffer("atom_h", "f16", [0.5, -3.0])
    e.launch("k_atom", 1, 1, "atom_o", "atom_u", "atom_f", "atom_d", "atom_l", "atom_h",
             note="One thread: the result of a mixture of operations depends on their order.")
    e.expect("atom_o", [o + 2, old_o, 1])
    e.expect("atom_u", [u, old_u])
    e.expect("atom_f", [2.0, 1.25])
    e.expect("atom_d", [0.5])
    e.expect("atom_l", [old_l, old_l])
    e.expect("atom_h", [1.5, -2.0])

    a, b, c = [0.75, 9.0, 0.5, 4.0], [1.5, -0.375], 1.25
    e.buffer("half_a", "f16", a)
    e.buffer("half_b", "f16", b)
    e.buffer("half_c", "u16", [bf16(c)])
    e.launch("k_half", 1, 1, "half_a", "half_b", "half_c", note="One thread: threads read their neighbours' elements.")
    root = math.sqrt(0.75**2 + 1.5)
    e.expect("half_a", [max(root, 4.0) if root > 0.5 else root, math.exp(f16(root)), 0.5, 4.0], rel=1e-3,
             note="sqrt and exp are approximate; one unit of a half's last place.")
    e.expect("half_b", [2 * v * v for v in b], note="Exact.")
    e.expect("half_c", [bf16(c * c + c)])

    x = random(62).uniform(0.1, 20, 32)
    e.buffer("f64", "f64", x)
    e.launch("k_f64", 1, 32, "f64")
    e.expect("f64", [math.sqrt(v) + math.sin(v) / math.exp(v) + v**1.7 + (2 * v + 1) + round(v) + v + math.erf(v)
                     + math.lgamma(v) + v / 3 + 2 * v for v in x.tolist()], rel=1e-14, abs=1e-13,
             note="Library functions within 2 units in the last place, lgamma within 4.")

    x = uniform(63, 32, 0.25, 4)
    e.buffer("f32", "f32", x)
    e.launch("k_f32", 1, 32, "f32")
    e.expect("f32", [2 * math.sqrt(v) + math.sin(v) / math.exp(v) + v**1.7 + math.sin(v) + math.cos(v) + math.exp(v)
                     + math.log(v) + 1 / math.sqrt(v) + math.tanh(v) + v ** (1 / 3) + math.floor(v) + v / 3 + 1 / v
                     + math.trunc(v) + math.atan2(v, 2) + math.fmod(v, float(f32(0.3))) + min(v, 1) for v in x.tolist()],
             rel=1e-5, abs=1e-5, note="Some functions are the fast approximations, within 2^-21.")

    g, n = random(64), 16
    o, s, c = g.integers(-3000, 3000, n), g.integers(-3000, 3000, n), g.integers(0, 256, n)
    l, d = g.integers(-9000, 9000, n), g.integers(-9000, 9000, n) / 4
    for name, kind, data in (("f", "f32", np.zeros(n)), ("d", "f64", d), ("o", "s32", o), ("s", "s16", s), ("c", "u8", c),
                             ("l", "s64", l)):
        e.buffer("cvt_" + name, kind, data)
    e.launch("k_cvt", 1, n, "cvt_f", "cvt_d", "cvt_o", "cvt_s", "cvt_c", "cvt_l")
    f = (o + s + c + l + d).tolist()  # multiples of 1/4 below 2^15: exact
    d = [x * y for x, y in zip(f, l.tolist())]
    o = []
    for x, y in zip(f, d):
        bits = struct.unpack("<i", struct.pack("<f", x))[0]
        high = struct.unpack("<ii", struct.pack("<d", y))[1]
        o.append(s32(math.trunc(x) + round(x) + math.ceil(x) + math.trunc(y) + bits + high))
    e.expect("cvt_f", f)
    e.expect("cvt_d", d)
    e.expect("cvt_o", o)
    e.expect("cvt_s", [math.trunc(x) for x in f])
    e.expect("cvt_c", [x % 256 for x in o])
    e.expect("cvt_l", [math.trunc(y) + math.floor(y) for y in d])

    e.buffer("vec_a", "f32", [1, 2, 3, 4.5, 0, 0, 0, 0])
    e.buffer("vec_b", "s32", [12, 10])
    e.buffer("vec_c", "u8", [200, 100, 7, 9])
    e.buffer("vec_d", "f64", [1.5, -2.5])
    e.launch("k_vec", 1, 1, "vec_a", "vec_b", "vec_c", "vec_d", note="One thread: each writes its neighbour's element.")
    e.expect("vec_a", [1, 2, 3, 4.5, 5.5, 2, 3, 4.5])
    e.expect("vec_b", [12 ^ 10, 10])
    e.expect("vec_c", [300 % 256, 100, 7, 9])
    e.expect("vec_d", [-2.5, -2.5])

    e.buffer("switch", "s32", [0, 1, 2, 3, 4, 6, 8, -5, 5, 123])
    e.buffer("switch7", "s32", [7])
    e.launch("k_switch", 1, 9, "switch", note="Case 5 reads the element behind the last thread's.")
    e.launch("k_switch", 1, 1, "switch7", note="Case 7 is a barrier: one thread.")
    e.expect("switch", [5, 9, 6, -4, 5, 2, 0, 0, 123, 123])
    e.expect("switch7", [7])

    start = [3, 7, 8, 20, 44, 9, 31, 100, 102, 6]
    e.buffer("loop", "s32", [*start, 0, 0])
    e.launch("k_loop", 1, 1, ("loop", 0), ("s32", 10), note="One thread: all would count down the same elements.")
    after, steps = list(start), 0
    for i, v in enumerate(start):
        if v % 2:
            continue
        if v > 100:
            break
        after[i], steps = v - v % 3, steps + v % 3
    e.expect("loop", [steps, *after[1:], 0, 0])

    out("lb", 512)
    e.launch("k_lb", 1, 256, ("lb", 1024))
    e.expect("lb", [0] * 256 + list(range(256)))

    e.buffer("volatile", "s32", [0, 1])
    e.launch("k_volatile", 1, 1, "volatile", note="The second word is not zero, so the loop ends at once.")
    e.expect("volatile", [1, 1])

    e.buffer("ldg_a", "f32", [0.5, 2.0])
    out("ldg", 2, "f32")
    e.launch("k_ldg", 1, 1, "ldg_a", "ldg", note="One thread: all threads store to the first two elements.")
    e.expect("ldg", [1.0, 2.0])

    # Kernels that need more than the others have their own files.
    def part(suffix, note, schedule_dependent=False):
        return Example("feat", suffix=suffix, ptx="feat.ptx", note=note, schedule_dependent=schedule_dependent)

    w = part(".video", "k_int: integer arithmetic, among it a video instruction (vabsdiff4).")
    groups = [([100, 7, 0], [0xDEADBEEF, 0x01234567], [10**15, -77, 0], [2**63 + 5, 1000, 0]),
              ([-12345, 10, 0], [0x80FF017F, 0xFFFEFDFC], [-5, 3, 0], [7, 9, 0])]
    for k, (o, u, l, m) in enumerate(groups):
        w.buffer(f"o{k}", "s32", o)
        w.buffer(f"u{k}", "u32", u)
        w.buffer(f"l{k}", "s64", l)
        w.buffer(f"m{k}", "u64", m)
        w.launch("k_int", 1, 1, f"o{k}", f"u{k}", f"l{k}", f"m{k}",
                 note="One thread: each reads and writes its neighbours' elements." if k == 0 else None)
    for k, (o, u, l, m) in enumerate(groups):
        x, y, p, q = o[0], o[1], u[0], u[1]
        ux, up = x % 2**32, list(p.to_bytes(4, "little"))
        signed = lambda v: [(b + 128) % 256 - 128 for b in (v % 2**32).to_bytes(4, "little")]
        total = quotient(x, 7) + (x - quotient(x, y) * y) + (x * y >> 32) + (32 - ux.bit_length())
        total += (ux & -ux).bit_length() + int(f"{p:032b}"[::-1], 2)
        total += p                                   # byte_perm with 0x3210
        total += q                                   # funnel shift by 0: the high word
        total += sum(i * j for i, j in zip(signed(x), signed(y))) + 3
        total += abs(x - y) + p
        total += int.from_bytes(bytes((i + j) % 256 for i, j in zip(up, q.to_bytes(4, "little"))), "little")
        total += sum(abs(i - j) for i, j in zip(up, (1, 0, 0, 0)))
        r = s32(total)
        last = abs(r) + min(r, 3) + max(p, 4) + r + (p >> 3) + p % 2**24 * 3
        w.expect(f"o{k}", [r, y, s32(last)])
        a, b = l[0], l[1]
        ua = a % 2**64
        w.expect(f"l{k}", [s64(quotient(a, b) + (a - quotient(a, 3) * 3) + (a * b >> 64) + ua.bit_count()
                               + 64 - ua.bit_length()), b, 0])
        w.expect(f"m{k}", [m[0] // m[1] * m[0] % 2**64, m[1], 0])
    w.write()

    w = part(".alloca", "k_alloca: a stack array whose size the argument gives (alloca).")
    w.buffer("o", "s32", "zeros", 1)
    w.launch("k_alloca", 1, 1, "o", ("s32", 37))
    w.expect("o", [18])
    w.write()

    w = part(".malloc", "k_malloc: the device heap. The address it stores is the machine's choice: nothing to compare.")
    w.buffer("o", "u64", "zeros", 2)
    w.launch("k_malloc", 1, 1, "o")
    w.write()

    w = part(".cooperative", "k_cg: needs a cooperative launch (%envreg1 and %envreg2 hold the address of the grid's\n"
             "# barrier words); without one it ends in trap.")
    x = random(65).integers(-50, 50, 32)
    x[0] += 1 - x[:16].sum() % 2  # the first tile's sum is odd, the second's even
    x[16] += x[16:].sum() % 2
    w.buffer("o", "s32", x)
    w.launch("k_cg", 1, 32, "o")
    sums = x.reshape(2, 16).sum(axis=1)
    w.expect("o", [2 * sums[t // 16] + sums[t // 16] * (t % 16 + 1) + 32 + 16 for t in range(32)],
             note="Lane 0 leads the odd tile, adds to o[0] and then overwrites it. All 32 lanes are active together.")
    w.write()

    w = part(".races", "k_vote: at the end all lanes read o[0] and write the same value back, a race by PTX's rules;\n"
             "# in lockstep the result is the one below.", schedule_dependent=True)
    x = random(66).integers(0, 8, 32)
    high = sum(1 << t for t in range(32) if x[t] > 3)
    w.buffer("o", "s32", x)
    w.launch("k_vote", 1, 32, "o")
    w.expect("o", [s32(high + 1 + 32 + (high if x[t] > 3 else 2**32 - 1 - high) + high.bit_count()) for t in range(32)])
    w.write()


EXAMPLES = [
    vecadd, saxpy, matmul, matmul_tiled, reduction, reduce_shuffle, scan_block, scan_warp,
    transpose, stencil, histogram_global, histogram_shared, reduce_cg, bitonic, radix_sort, nbody,
    mandelbrot, spmv, bfs, kmeans_step, convolution, zoom, lookback_scan, warp_aggregated, spinlock,
    recursion, function_pointers, virtual_calls, printf, double_math, half_math, int64,
    local_arrays, dynamic_shared, constant_memory, grid_barrier, structs_by_value, switch,
    votes_and_match, atomics_all, two_modules, carry_chains, named_barriers, vector_loads, indexed_branch,
    triton_softmax, triton_matmul, numba_reduce, numba_escape, feat,
]

if __name__ == "__main__":
    for make in EXAMPLES:
        if len(sys.argv) == 1 or make.__name__ in sys.argv[1:]:
            example = Example(make.__name__)
            make(example)
            example.write()
