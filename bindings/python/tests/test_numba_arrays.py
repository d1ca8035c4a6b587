"""What kernels of Numba's take: layouts, dtypes, and memory of all kinds."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

pytest.importorskip("numba_cuda", reason="numba-cuda is not installed")

from numba import cuda

pytestmark = [pytest.mark.filterwarnings("ignore::Warning"), pytest.mark.usefixtures("numba_device")]


@cuda.jit
def increase(x):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        x[i, j] += 10 * i + j


@cuda.jit
def copy(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i]


LAYOUTS = {
    "C": lambda x: x,
    "F": lambda x: np.asfortranarray(x),
    "every other row": lambda x: np.repeat(x, 2, axis=0)[::2],
    "every other column": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "backwards": lambda x: np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1],
    "transposed": lambda x: np.ascontiguousarray(x.T).T,
    "a part": lambda x: np.pad(x, 2)[2:-2, 2:-2],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout):
    x = LAYOUTS[layout](np.arange(20.0).reshape(4, 5))
    base = x.base if x.base is not None else x
    outside = base.sum() - x.sum()
    increase[(1, 1), (4, 8)](x)
    assert (x == np.arange(20.0).reshape(4, 5) + np.add.outer(10 * np.arange(4), np.arange(5))).all()
    if layout == "a part":
        assert base.sum() - x.sum() == outside, "what lies between is left alone"


@pytest.mark.parametrize(
    "dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16", "?", "M8[s]", "m8[ms]"]
)
def test_dtypes(dtype):
    x = np.arange(6).astype(dtype)
    out = np.zeros_like(x)
    copy[1, 8](x, out)
    assert (out == x).all()


def test_records_tuples_and_arrays_of_no_dimension():
    particle = np.dtype([("mass", "f4"), ("at", "f8", 2), ("id", "i4")], align=True)

    @cuda.jit
    def move(particles, by, count):
        i = cuda.grid(1)
        if i < particles.size:
            particles[i].at[0] += by[0]
            particles[i].at[1] += by[1]
            particles[i].id = i
            if i == 0:
                count[()] = particles.size

    particles, count = np.zeros(5, particle), np.array(0)
    move[1, 8](particles, (1.5, 2), count)
    assert particles["at"].tolist() == [[1.5, 2]] * 5 and particles["id"].tolist() == list(range(5)) and count == 5

    @cuda.jit
    def heavier(one, arrays):
        one.mass *= 2
        arrays[1][0] = arrays[0][0] + 1

    a, b = np.ones(1), np.zeros(1)
    particles["mass"] = 3
    heavier[1, 1](particles[2], (a, b))
    assert particles["mass"].tolist() == [3, 3, 6, 3, 3] and b[0] == 2


def test_numbers_of_all_kinds():
    @cuda.jit
    def store(out, whole, real, pair, truth, half):
        out[0], out[1], out[2], out[3] = whole, real, pair.real, pair.imag
        out[4] = 1 if truth else 0
        out[5] = half

    out = np.zeros(6)
    store[1, 1](out, np.int8(-3), 0.1, 2 + 3j, True, np.float16(1.5))
    assert out.tolist() == [-3, 0.1, 2, 3, 1, 1.5]


def test_in_out_and_inout():
    x = np.arange(4.0)
    out = np.full(4, 7.0)

    @cuda.jit
    def both(x, out):
        i = cuda.grid(1)
        x[i] += 1
        out[i] = x[i]

    both[1, 4](cuda.In(x), cuda.Out(out))
    assert x.tolist() == [0, 1, 2, 3] and out.tolist() == [1, 2, 3, 4]
    both[1, 4](cuda.InOut(x), out)
    assert x.tolist() == [1, 2, 3, 4]


def test_memory_of_the_host_that_the_device_has():
    for make in (cuda.mapped_array, cuda.managed_array):
        x = make(8, dtype=np.int32)
        x[:] = np.arange(8)
        increase_one[1, 8](x)
        cuda.synchronize()
        assert x.tolist() == list(range(1, 9))
    pinned = cuda.pinned_array(8, np.int32)
    pinned[:] = 5
    increase_one[1, 8](pinned)
    assert pinned.tolist() == [6] * 8
    own = np.zeros(8, np.int32)
    with cuda.mapped(own) as device:
        increase_one[1, 8](device)
    with cuda.pinned(own):
        increase_one[1, 8](own)
    assert own.tolist() == [2] * 8


@cuda.jit
def increase_one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


def test_streams_and_events_keep_their_order():
    stream, start, end = cuda.stream(), cuda.event(), cuda.event()
    x = np.zeros(8, np.int32)
    said = []
    start.record(stream)
    device = cuda.to_device(x, stream=stream)
    increase_one[1, 8, stream](device)
    stream.add_callback(lambda *given: said.append(given[2]), "done")
    device.copy_to_host(x, stream=stream)
    end.record(stream)
    end.synchronize()
    assert x.tolist() == [1] * 8 and said == ["done"] and start.elapsed_time(end) >= 0 and end.query()


def test_arrays_that_a_kernel_has_as_constants_and_pointers_in_memory():
    table = cuda.to_device(np.arange(10.0, 18.0))

    @cuda.jit
    def look_up(out):
        i = cuda.grid(1)
        out[i] = table[i]

    out = np.zeros(8)
    look_up[1, 8](out)
    table.copy_to_device(np.arange(20.0, 28.0))
    look_up[1, 8](out)
    assert out.tolist() == list(range(20, 28))


def test_views_device_to_device_and_the_array_interface():
    class Foreign:
        def __init__(self, array):
            self.array, self.__cuda_array_interface__ = array, array.__cuda_array_interface__

    device = cuda.to_device(np.arange(12).reshape(3, 4))
    increase[(1, 1), (4, 4)](device[1:, ::2])
    assert device.copy_to_host().tolist() == [[0, 1, 2, 3], [4, 5, 7, 7], [18, 9, 21, 11]]
    increase_one[1, 4](Foreign(device[1]))
    assert device[1].copy_to_host().tolist() == [5, 6, 8, 8]
    other = cuda.device_array_like(device)
    other.copy_to_device(device)
    device[:] = 0
    assert other.copy_to_host().sum() > 0 and device.copy_to_host().sum() == 0


def test_memory_that_is_not_there_is_an_error_of_the_driver():
    from numba.cuda.cudadrv.driver import CudaAPIError, driver

    with pytest.raises(CudaAPIError, match="no .* bytes of device memory|there are no"):
        driver.cuMemcpyDtoH(ctypes.addressof(ctypes.c_int()), 4096, 4)
    with pytest.raises(CudaAPIError, match="OUT_OF_MEMORY"):
        cuda.device_array(1 << 40, np.uint8)
    free, total = cuda.current_context().get_memory_info()
    assert 0 < free <= total
