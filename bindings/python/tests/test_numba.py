"""Programs of `numba.cuda`, unchanged: what they compute on warpstep."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("numba_cuda", reason="numba-cuda is not installed")

import warpstep
import warpstep.numba
from numba import cuda, float32, guvectorize, vectorize
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

pytestmark = [pytest.mark.filterwarnings("ignore::Warning"), pytest.mark.usefixtures("numba_device")]


@cuda.jit
def add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


TILE = 8


@cuda.jit
def tiled(a, b, c):
    left = cuda.shared.array((TILE, TILE), float32)
    right = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for step in range((a.shape[1] + TILE - 1) // TILE):
        left[tx, ty] = a[x, ty + step * TILE] if x < a.shape[0] and ty + step * TILE < a.shape[1] else 0
        right[tx, ty] = b[tx + step * TILE, y] if y < b.shape[1] and tx + step * TILE < b.shape[0] else 0
        cuda.syncthreads()
        for k in range(TILE):
            total += left[tx, k] * right[k, ty]
        cuda.syncthreads()
    if x < c.shape[0] and y < c.shape[1]:
        c[x, y] = total


def test_vectors_are_added_from_the_host_and_from_the_device():
    x, y = np.arange(1000.0), np.ones(1000)
    out = np.zeros(1000)
    add[4, 256](x, y, out)
    assert (out == x + 1).all()
    device = cuda.to_device(x)
    result = cuda.device_array_like(device)
    add.forall(1000)(device, cuda.to_device(y), result)
    assert (result.copy_to_host() == x + 1).all()
    assert (result[10:20].copy_to_host() == x[10:20] + 1).all()


@pytest.mark.parametrize("shape", [(8, 8, 8), (13, 21, 9)])
def test_matrices_are_multiplied_in_tiles(shape):
    rng = np.random.default_rng(3)
    n, k, m = shape
    a, b = rng.random((n, k), np.float32), rng.random((k, m), np.float32)
    c = np.empty((n, m), np.float32)
    with warpstep.numba.options(check="races,bounds,uninit"):
        tiled[((n + 7) // 8, (m + 7) // 8), (TILE, TILE)](a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)


def test_a_histogram_by_atomics_in_shared_memory():
    @cuda.jit
    def histogram(data, counts):
        here = cuda.shared.array(16, np.int32)
        if cuda.threadIdx.x < 16:
            here[cuda.threadIdx.x] = 0
        cuda.syncthreads()
        for i in range(cuda.grid(1), data.size, cuda.gridsize(1)):
            cuda.atomic.add(here, data[i], 1)
        cuda.syncthreads()
        if cuda.threadIdx.x < 16:
            cuda.atomic.add(counts, cuda.threadIdx.x, here[cuda.threadIdx.x])

    data = np.random.default_rng(1).integers(0, 16, 3000)
    counts = np.zeros(16, np.int32)
    with warpstep.numba.options(check="races"):
        histogram[3, 64](data, counts)
    assert (counts == np.bincount(data, minlength=16)).all()


def test_reductions_by_warps_and_by_decorator():
    @cuda.jit
    def reduce_warps(x, out):
        value = x[cuda.grid(1)]
        for step in (16, 8, 4, 2, 1):
            value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
        if cuda.laneid == 0:
            cuda.atomic.add(out, 0, value)

    x = np.arange(256, dtype=np.int64)
    out = np.zeros(1, np.int64)
    reduce_warps[2, 128](x, out)
    assert out[0] == x.sum()

    largest = cuda.reduce(lambda a, b: a if a > b else b)
    assert largest(np.array([3.0, 9.5, 2.0, 7.0] * 50)) == 9.5


def test_pi_by_random_numbers():
    @cuda.jit
    def sample(states, inside):
        i = cuda.grid(1)
        count = 0
        for _ in range(50):
            x, y = xoroshiro128p_uniform_float32(states, i), xoroshiro128p_uniform_float32(states, i)
            count += x * x + y * y <= 1
        inside[i] = count

    states = create_xoroshiro128p_states(128, seed=1)
    inside = np.zeros(128, np.int32)
    sample[2, 64](states, inside)
    assert abs(4 * inside.sum() / (128 * 50) - math.pi) < 0.1
    again = np.zeros(128, np.int32)
    sample[2, 64](create_xoroshiro128p_states(128, seed=1), again)
    assert (inside == again).all()


@pytest.mark.parametrize("there", [True, False])
def test_a_grid_is_synchronised(monkeypatch, there):
    if not there:
        # What numba-cuda makes of `libcudadevrt` beside the libraries of another CUDA, as torch brings them.
        monkeypatch.setattr("numba.cuda.codegen.get_cudalib", lambda lib, static=False: f"lib{lib}.a")

    @cuda.jit
    def rounds(x):
        grid = cuda.cg.this_grid()
        i = cuda.grid(1)
        for _ in range(3):
            neighbour = x[(i + 1) % x.size]
            grid.sync()
            x[i] = neighbour
            grid.sync()

    x = np.arange(64)
    with warpstep.numba.options(check="races"):
        rounds[2, 32](x)
    assert (x == np.roll(np.arange(64), -3)).all()


def test_ufuncs():
    @vectorize(["float32(float32, float32)", "int64(int64, int64)"], target="cuda")
    def twice_and(a, b):
        return 2 * a + b

    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert (twice_and(x, x[:, :1]) == 2 * x + x[:, :1]).all()

    @vectorize(["int64(int64, int64)"], target="cuda")
    def larger(a, b):
        return max(a, b)

    assert larger.reduce(np.array([1, 12, 3, 7, 11])) == 12

    @guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),(n)->()", target="cuda")
    def dot(a, b, out):
        out[0] = 0
        for i in range(a.size):
            out[0] += a[i] * b[i]

    a, b = np.arange(15.0).reshape(5, 3), np.ones((5, 3))
    assert (dot(a, b) == a.sum(axis=1)).all()


def test_device_functions_local_and_constant_arrays():
    table = np.array([1.0, 10.0, 100.0])

    @cuda.jit(device=True)
    def digit(value, place):
        weights = cuda.const.array_like(table)
        return value * weights[place]

    @cuda.jit
    def spread(x, out):
        local = cuda.local.array(3, np.float64)
        i = cuda.grid(1)
        for k in range(3):
            local[k] = digit(x[i], k)
        for k in range(3):
            out[i, k] = local[2 - k]

    x, out = np.arange(4.0), np.zeros((4, 3))
    spread[1, 4](x, out)
    assert (out == np.outer(x, table[::-1])).all()


def test_dynamic_shared_memory_and_block_wide_votes():
    @cuda.jit
    def votes(x, out):
        here = cuda.shared.array(0, np.int32)
        i = cuda.threadIdx.x
        here[cuda.blockDim.x - 1 - i] = x[i]
        count = cuda.syncthreads_count(np.int32(x[i] > 2))
        some, every = cuda.syncthreads_or(np.int32(x[i] > 6)), cuda.syncthreads_and(np.int32(x[i] >= 0))
        out[i] = here[i]
        if i == 0:
            out[8], out[9], out[10] = count, some, every

    out = np.zeros(11, np.int32)
    votes[1, 8, 0, 8 * 4](np.arange(8, dtype=np.int32), out)
    assert out.tolist() == [7, 6, 5, 4, 3, 2, 1, 0, 5, 1, 1]


def test_math_of_libdevice_and_halves():
    @cuda.jit
    def maths(x, out, halves):
        i = cuda.grid(1)
        out[i, 0], out[i, 1], out[i, 2] = math.sin(x[i]), math.exp(x[i]), math.pow(x[i], 1.5)
        halves[i] = halves[i] * halves[i] + halves[i]

    x = np.linspace(0.1, 3, 16)
    out, halves = np.zeros((16, 3)), np.arange(16).astype(np.float16)
    maths[1, 16](x, out, halves)
    np.testing.assert_allclose(out, np.stack([np.sin(x), np.exp(x), x**1.5], axis=1), rtol=1e-14)
    assert (halves == np.arange(16.0) ** 2 + np.arange(16)).all()


def test_what_a_kernel_prints(capsys):
    @cuda.jit
    def hello(n):
        print("thread", cuda.threadIdx.x, "of", n)

    hello[1, 2](7)
    assert sorted(capsys.readouterr().out.splitlines()) == ["thread 0 of 7", "thread 1 of 7"]
    assert warpstep.numba.last_run().printed.count("thread") == 2
