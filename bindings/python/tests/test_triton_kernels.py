"""Kernels of the kinds that Triton is used for, against numpy in double precision: each within a stated bound."""

from __future__ import annotations

import contextvars

import numpy as np
import pytest

triton = pytest.importorskip("triton", reason="Triton is not installed")
tl = pytest.importorskip("triton.language", reason="Triton is not installed")

import warpstep.triton  # noqa: E402

RANDOM = np.random.default_rng(7)


@triton.jit
def softmax_kernel(x_ptr, y_ptr, x_apart, y_apart, rows, n, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        x = tl.load(x_ptr + row * x_apart + at, mask=at < n, other=-float("inf"))
        power = tl.exp(x - tl.max(x, axis=0))
        tl.store(y_ptr + row * y_apart + at, power / tl.sum(power, axis=0), mask=at < n)


@pytest.mark.parametrize(("n", "warps", "stages"), [(37, 1, 1), (300, 4, 2), (781, 8, 4)])
def test_softmax_of_rows(door, n, warps, stages):
    x = RANDOM.standard_normal((9, n), dtype=np.float32)
    y = np.zeros_like(x)
    softmax_kernel[(4,)](x, y, n, n, 9, n, BLOCK=triton.next_power_of_2(n), STAGES=stages, num_warps=warps)
    power = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    assert np.abs(y - power / power.sum(axis=1, keepdims=True)).max() < 1e-6


CONFIGS = [
    triton.Config({"M": 32, "N": 64, "K": 32, "GROUP": 4}, num_warps=4, num_stages=3),
    triton.Config({"M": 64, "N": 32, "K": 16, "GROUP": 2}, num_warps=2, num_stages=4),
    triton.Config({"M": 16, "N": 16, "K": 64, "GROUP": 1}, num_warps=1, num_stages=2),
]


@triton.autotune(configs=CONFIGS, key=["m", "n", "k"])
@triton.jit
def product_kernel(
    a_ptr, b_ptr, c_ptr, m, n, k, a_apart, b_apart, c_apart,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    program, down, across = tl.program_id(0), tl.cdiv(m, M), tl.cdiv(n, N)
    first = program // (GROUP * across) * GROUP
    height = min(down - first, GROUP)
    block_row = first + program % (GROUP * across) % height
    block_column = program % (GROUP * across) // height
    rows = (block_row * M + tl.arange(0, M)) % m
    columns = (block_column * N + tl.arange(0, N)) % n
    inner = tl.arange(0, K)
    a_ptrs = a_ptr + rows[:, None] * a_apart + inner[None, :]
    b_ptrs = b_ptr + inner[:, None] * b_apart + columns[None, :]
    total = tl.zeros((M, N), dtype=tl.float32)
    for step in range(tl.cdiv(k, K)):
        left = k - step * K
        a = tl.load(a_ptrs, mask=inner[None, :] < left, other=0.0)
        b = tl.load(b_ptrs, mask=inner[:, None] < left, other=0.0)
        total = tl.dot(a, b, total)
        a_ptrs += K
        b_ptrs += K * b_apart
    row, column = block_row * M + tl.arange(0, M), block_column * N + tl.arange(0, N)
    inside = (row[:, None] < m) & (column[None, :] < n)
    tl.store(c_ptr + row[:, None] * c_apart + column[None, :], total.to(c_ptr.dtype.element_ty), mask=inside)


def product(kernel, dtype, m=96, n=80, k=112):
    a, b = (RANDOM.uniform(-1, 1, shape).astype(dtype) for shape in ((m, k), (k, n)))
    c = np.zeros((m, n), dtype)
    kernel[lambda meta: (triton.cdiv(m, meta["M"]) * triton.cdiv(n, meta["N"]),)](a, b, c, m, n, k, k, n, n)
    return c, a.astype(np.float64) @ b.astype(np.float64)


# Of float32 the factors are rounded to 11 bits (tf32), of float16 the result.
@pytest.mark.parametrize(("dtype", "bound"), [("float16", 1e-2), ("float32", 2e-2)])
def test_products_of_matrices_are_tuned(door, dtype, bound):
    c, wanted = product(product_kernel, dtype)
    assert np.abs(c - wanted).max() < bound
    assert len(door.runs) == 1, "the first configuration that fits is chosen, and nothing is run for it"


@pytest.mark.parametrize("config", warpstep.triton.configs(product_kernel), ids=str)
def test_each_configuration(config):
    with warpstep.triton.here(check="races,bounds,uninit"):
        c, wanted = product(warpstep.triton.only(product_kernel, config), "float16", 64, 64, 70)
    assert np.abs(c - wanted).max() < 1e-2


def test_the_configuration_of_the_fewest_instructions():
    with warpstep.triton.here(tune="instructions") as door:
        tuned = warpstep.triton.only(product_kernel, *CONFIGS)
        product(tuned, "float16", 64, 64, 64)
        runs = [run.thread_instructions for _, run in door.runs]
        assert len(runs) == 4 and runs[3] == min(runs[:3]) < max(runs[:3])
        assert tuned.best_config == CONFIGS[runs.index(runs[3])]


def test_what_is_chosen_here_is_not_chosen_elsewhere(door):
    product(product_kernel, "float16")
    assert product_kernel.cache == {}


@triton.jit
def dropout_kernel(x_ptr, y_ptr, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    kept = tl.rand(seed, at) > p
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(y_ptr + at, tl.where(kept, x / (1 - p), 0.0), mask=at < n)


def test_dropout_by_a_seed(door):
    x = RANDOM.standard_normal(5000, dtype=np.float32)
    made = []
    for seed in (123, 123, 512):
        y = np.zeros_like(x)
        dropout_kernel[(triton.cdiv(5000, 512),)](x, y, 5000, 0.25, seed, BLOCK=512)
        kept = y != 0
        assert np.allclose(y[kept], x[kept] / np.float32(0.75), rtol=1e-6) and abs(kept.mean() - 0.75) < 0.03
        made.append(y)
    assert np.array_equal(made[0], made[1]) and not np.array_equal(made[0], made[2])


@triton.jit
def norm_kernel(x_ptr, y_ptr, weight_ptr, bias_ptr, mean_ptr, scale_ptr, apart, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * apart + at, mask=at < n, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / n
    square = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * apart + at, mask=at < n, other=0.0).to(tl.float32)
        square += tl.where(at < n, (x - mean) * (x - mean), 0.0)
    scale = 1 / tl.sqrt(tl.sum(square, axis=0) / n + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(scale_ptr + row, scale)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * apart + at, mask=at < n, other=0.0).to(tl.float32)
        weight, bias = tl.load(weight_ptr + at, mask=at < n), tl.load(bias_ptr + at, mask=at < n)
        tl.store(y_ptr + row * apart + at, (x - mean) * scale * weight + bias, mask=at < n)


@triton.jit
def norm_back_kernel(
    dx_ptr, dy_ptr, dw_ptr, x_ptr, weight_ptr, mean_ptr, scale_ptr, lock_ptr, apart, n, GROUPS: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * apart + at, mask=at < n, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + row * apart + at, mask=at < n, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + at, mask=at < n, other=0.0).to(tl.float32)
    scale = tl.load(scale_ptr + row)
    normal = tl.where(at < n, (x - tl.load(mean_ptr + row)) * scale, 0.0)
    weighed = weight * dy
    first, second = tl.sum(normal * weighed, axis=0) / n, tl.sum(weighed, axis=0) / n
    tl.store(dx_ptr + row * apart + at, (weighed - normal * first - second) * scale, mask=at < n)
    # Blocks of a group add to one row, one after another.
    group = row % GROUPS
    while tl.atomic_cas(lock_ptr + group, 0, 1) == 1:
        pass
    partial = dy * normal + tl.load(dw_ptr + group * n + at, mask=at < n, other=0.0)
    tl.store(dw_ptr + group * n + at, partial, mask=at < n)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr + group, 0)


def test_layer_norm_forward_and_backward(door):
    rows, n = 11, 200
    x, dy = (RANDOM.standard_normal((rows, n)).astype(np.float16) for _ in range(2))
    weight, bias = RANDOM.random((2, n), dtype=np.float32)
    y, dx = np.zeros((2, rows, n), np.float16)
    mean, scale = np.zeros((2, rows), np.float32)
    norm_kernel[(rows,)](x, y, weight, bias, mean, scale, n, n, 1e-5, BLOCK=128)
    exact = x.astype(np.float64)
    sigma = 1 / np.sqrt(exact.var(axis=1, keepdims=True) + 1e-5)
    normal = (exact - exact.mean(axis=1, keepdims=True)) * sigma
    assert np.abs(y - (normal * weight + bias)).max() < 4e-3, "half a unit of float16"
    assert np.abs(mean - exact.mean(axis=1)).max() < 1e-6 and np.abs(scale - sigma[:, 0]).max() < 1e-5
    partial, locks = np.zeros((3, n), np.float32), np.zeros(3, np.int32)
    norm_back_kernel[(rows,)](dx, dy, partial, x, weight, mean, scale, locks, n, n, GROUPS=3, BLOCK=256)
    weighed = dy.astype(np.float64) * weight
    wanted = (
        weighed - normal * (normal * weighed).mean(axis=1, keepdims=True) - weighed.mean(axis=1, keepdims=True)
    ) * sigma
    assert np.abs(dx - wanted).max() < 4e-3
    assert np.abs(partial.sum(axis=0) - (dy * normal).sum(axis=0)).max() < 1e-4 and not locks.any()


@triton.jit
def grouped_kernel(a_ptrs, b_ptrs, c_ptrs, sizes_ptr, apart_ptr, groups, PROGRAMS: tl.constexpr, T: tl.constexpr):
    tile, before = tl.program_id(0), 0
    for group in range(groups):
        m, n, k = (
            tl.load(sizes_ptr + group * 3),
            tl.load(sizes_ptr + group * 3 + 1),
            tl.load(sizes_ptr + group * 3 + 2),
        )
        across = tl.cdiv(n, T)
        tiles = tl.cdiv(m, T) * across
        while tile >= before and tile < before + tiles:
            a_ptr = tl.load(a_ptrs + group).to(tl.pointer_type(tl.float16))
            b_ptr = tl.load(b_ptrs + group).to(tl.pointer_type(tl.float16))
            c_ptr = tl.load(c_ptrs + group).to(tl.pointer_type(tl.float16))
            row, column = (
                (tile - before) // across * T + tl.arange(0, T),
                (tile - before) % across * T + tl.arange(0, T),
            )
            total = tl.zeros((T, T), tl.float32)
            for start in range(0, k, T):
                inner = start + tl.arange(0, T)
                a = tl.load(a_ptr + row[:, None] * tl.load(apart_ptr + group * 3) + inner[None, :])
                b = tl.load(b_ptr + inner[:, None] * tl.load(apart_ptr + group * 3 + 1) + column[None, :])
                total += tl.dot(a, b)
            tl.store(c_ptr + row[:, None] * tl.load(apart_ptr + group * 3 + 2) + column[None, :], total.to(tl.float16))
            tile += PROGRAMS
        before += tiles


def test_grouped_products_by_tables_of_addresses(door):
    sizes = [(64, 32, 32), (32, 64, 96), (32, 32, 64)]
    a = [RANDOM.uniform(-1, 1, (m, k)).astype(np.float16) for m, _, k in sizes]
    b = [RANDOM.uniform(-1, 1, (k, n)).astype(np.float16) for _, n, k in sizes]
    c = [np.zeros((m, n), np.float16) for m, n, _ in sizes]
    tables = [np.array([door.address(each) for each in group], np.int64) for group in (a, b, c)]
    apart = np.array([[x.shape[1] for x in group] for group in zip(a, b, c, strict=True)], np.int32)
    grouped_kernel[(3,)](*tables, np.array(sizes, np.int32), apart, 3, PROGRAMS=3, T=32)
    for x, y, z in zip(a, b, c, strict=True):
        assert np.abs(z - x.astype(np.float64) @ y.astype(np.float64)).max() < 1e-2


def test_functions_of_libdevice(door):
    from triton.language.extra import libdevice

    @triton.jit
    def asin_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y_ptr + at, libdevice.asin(tl.load(x_ptr + at, mask=at < n)), mask=at < n)

    for dtype, bound in (("float32", 3e-7), ("float64", 1e-15)):
        x = np.linspace(-1, 1, 999).astype(dtype)
        y = np.zeros_like(x)
        asin_kernel[(4,)](x, y, 999, BLOCK=256)
        assert np.abs(y - np.arcsin(x.astype(np.float64))).max() < bound


@triton.jit
def histogram_kernel(x_ptr, count_ptr, most_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.atomic_add(count_ptr + x, 1, mask=at < n)
    tl.atomic_max(most_ptr, tl.max(tl.where(at < n, x, -1), axis=0))


def test_atomics(door):
    x = RANDOM.integers(0, 16, 3000, dtype=np.int32)
    count, most = np.zeros(16, np.int32), np.full(1, -5, np.int32)
    histogram_kernel[(6,)](x, count, most, 3000, BLOCK=512)
    assert np.array_equal(count, np.bincount(x, minlength=16)) and most[0] == x.max()


@triton.jit
def scan_kernel(x_ptr, sum_ptr, sorted_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(sum_ptr + tl.arange(0, N), tl.cumsum(x, 0))
    tl.store(sorted_ptr + tl.arange(0, N), tl.sort(x))


def test_scans_and_sorts(door):
    x = RANDOM.integers(-100, 100, 256, dtype=np.int32)
    total, in_order = np.zeros((2, 256), np.int32)
    scan_kernel[(1,)](x, total, in_order, N=256)
    assert np.array_equal(total, np.cumsum(x)) and np.array_equal(in_order, np.sort(x))


@triton.jit
def described_kernel(x_ptr, y_ptr, m, n, M: tl.constexpr, N: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [m, n], [n, 1], [M, N])
    y = tl.make_tensor_descriptor(y_ptr, [m, n], [n, 1], [M, N])
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    y.store([row, column], x.load([row, column]) + 1.0)


def test_descriptors_made_by_a_kernel(door):
    x = RANDOM.random((20, 48), dtype=np.float32)
    y = np.zeros_like(x)
    described_kernel[(3, 3)](x, y, 20, 48, M=8, N=16)
    assert np.array_equal(y, x + 1)


def test_descriptors_of_the_copy_engine_are_refused_with_advice():
    x = np.ones((8, 16), np.float32)

    def launch():
        # They lie in memory that the program gives.
        triton.set_allocator(lambda size, align, stream: np.zeros(size, np.int8))
        with warpstep.triton.here(target=90):
            described_kernel[(1, 1)](x, x, 8, 16, M=8, N=16)

    advice = (
        r"(?s)cannot execute tensormap\.replace.*needs tensor maps.*for target=80 Triton makes PTX without tensor maps"
    )
    with pytest.raises(warpstep.Unsupported, match=advice):
        contextvars.copy_context().run(launch)
