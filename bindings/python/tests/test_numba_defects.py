"""Kernels of Numba's that are wrong: what reports say, and that they name the line of Python."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba_cuda", reason="numba-cuda is not installed")

import warpstep
import warpstep.numba
from conftest import line_of
from numba import cuda

pytestmark = [pytest.mark.filterwarnings("ignore::Warning"), pytest.mark.usefixtures("numba_device")]


@cuda.jit
def shifted(data, out):
    i = cuda.grid(1)
    out[i] = data[i + 1]


@cuda.jit(device=True)
def fetch(values, at):
    return values[at]  # in a function


@cuda.jit
def by_function(data, out):
    i = cuda.grid(1)
    out[i] = fetch(data, i + 1)


@cuda.jit
def unsynchronised(out):
    here = cuda.shared.array(64, np.int32)
    i = cuda.threadIdx.x
    here[i] = i
    out[i] = here[63 - i]


@cuda.jit
def counting(counter):
    if cuda.laneid == 0:
        counter[0] = counter[0] + 1


@cuda.jit
def half_waits(x):
    if cuda.threadIdx.x < 32:
        cuda.syncthreads()
    x[0] = 1


@pytest.mark.parametrize(("kernel", "text"), [(shifted, "data[i + 1]"), (by_function, "fetch(data, i + 1)")])
def test_an_index_too_large_names_the_line_and_the_argument(kernel, text):
    data, out = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    with pytest.raises(warpstep.Defect) as raised:
        kernel[1, 32](data, out)
    defect = raised.value
    assert defect.code == "out-of-bounds" and defect.thread == (31, 0, 0)
    assert defect.source_file == __file__
    lines = (
        {line_of(kernel.py_func, text), line_of(fetch.py_func, "in a function")}
        if kernel is by_function
        else {line_of(kernel.py_func, text)}
    )
    assert defect.source_line in lines
    assert "just after the end of buffer `data` of 128 bytes" in str(defect)
    assert f"{__file__}:{defect.source_line}" in str(defect) and defect.kernel == kernel.__name__
    assert not out.any(), "what the kernel wrote is not copied back"


def test_views_of_device_arrays_have_the_bounds_of_their_allocation():
    data = cuda.to_device(np.arange(64, dtype=np.float32))
    out = cuda.device_array(32, np.float32)
    shifted[1, 32](data[:32], out)
    assert out.copy_to_host()[31] == 32
    with pytest.raises(warpstep.Defect, match="just after the end of buffer `data` of 256 bytes"):
        shifted[1, 32](data[32:], out)


def test_memory_that_was_freed_is_not_there():
    @cuda.jit("void(CPointer(float32))")
    def through_pointer(x):
        x[0] = 1

    there = cuda.device_array(8, np.float32)
    with pytest.raises(warpstep.Defect, match="just after the end of buffer `x` of 32 bytes"):
        through_pointer[1, 1](there.device_ctypes_pointer.value + 32)
    freed = cuda.device_array(8, np.float32)
    address = freed.device_ctypes_pointer.value
    del freed
    cuda.current_context().memory_manager.deallocations.clear()
    with pytest.raises(warpstep.Defect) as raised:
        through_pointer[1, 1](address)
    assert raised.value.code == "out-of-bounds"


def test_races_name_both_lines():
    with warpstep.numba.options(check="races"), pytest.raises(warpstep.Defect) as raised:
        unsynchronised[1, 64](np.zeros(64, np.int32))
    race = raised.value
    assert race.code == "race"
    told = str(race)
    for text in ("here[i] = i", "out[i] = here[63 - i]"):
        assert f"{__file__}:{line_of(unsynchronised.py_func, text)}" in told


def test_memory_that_nobody_wrote_is_found():
    data, out = cuda.device_array(8, np.int32), cuda.device_array(8, np.int32)

    @cuda.jit
    def positive(data, out):
        i = cuda.grid(1)
        if data[i] > 0:
            out[i] = 1

    with warpstep.numba.options(check="uninit"):
        with pytest.raises(warpstep.Defect):
            positive[1, 8](data, out)
        data.copy_to_device(np.ones(8, np.int32))
        positive[1, 8](data, out)
    assert out.copy_to_host().tolist() == [1] * 8


def test_a_barrier_that_some_do_not_reach():
    with warpstep.numba.options(check="barriers"), pytest.raises(warpstep.Defect) as raised:
        half_waits[1, 64](np.zeros(1))
    assert raised.value.source_file == __file__


def test_a_lost_update_is_hunted_proved_and_replayed():
    counter = np.zeros(1, np.int32)
    launch = counting[1, 64]
    expect = lambda left: left[0] == 2  # noqa: E731
    hunted = warpstep.numba.hunt(launch, (counter,), seeds=300, expect=expect)
    assert [finding.defect.code for finding in hunted.findings] == ["mismatch"] and counter[0] == 0
    assert hunted.findings[0].defect.json()
    with pytest.raises(warpstep.Defect, match="wrong"):
        warpstep.numba.replay(launch, hunted.findings[0], (counter,), expect=expect)
    assert warpstep.numba.prove(launch, (counter,), expect=[np.full(1, 2, np.int32)]).holds is False
    assert warpstep.numba.compare(launch, (counter,), expect=expect).defect
    with pytest.raises(ValueError, match="control: all models and schedules are compared"):
        warpstep.numba.compare(launch, (counter,), control="crs")
    found = warpstep.numba.hunt(launch, (cuda.to_device(counter),), seeds=5, check="races").findings[0]
    assert found.defect.code == "race" and found.defect.source_line == line_of(counting.py_func, "counter[0] + 1")
    assert found.defect.kernel == "counting"


def test_exceptions_of_debug_kernels_are_those_of_python():
    @cuda.jit(debug=True, opt=False)
    def checked(x, i):
        if i < 0:
            raise ValueError("below zero")
        if i >= 100:
            raise AssertionError("far too large")
        if x.shape[i] > 0:
            x[i] = 1

    x = np.zeros(8)
    with pytest.raises(ValueError, match=r"tid=\[0, 0, 0\] ctaid=\[0, 0, 0\]: below zero"):
        checked[1, 1](x, -1)
    with pytest.raises(AssertionError, match="far too large"):
        checked[1, 1](x, 200)
    with pytest.raises(IndexError, match="out of range"):
        checked[1, 1](x, 1)
    checked[1, 1](x, 0)
    assert x[0] == 1


def test_limits_and_models_are_options():
    @cuda.jit
    def spin(x):
        while x[0] == 0:
            cuda.threadfence()

    with warpstep.numba.options(max_steps=1000), pytest.raises(warpstep.LimitReached):
        spin[1, 1](np.zeros(1, np.int32))
    with pytest.raises(ValueError, match="no-such"), warpstep.numba.options(check="no-such"):
        spin[1, 1](np.ones(1, np.int32))
    with pytest.raises(TypeError, match="no option `sede`"), warpstep.numba.options(sede=1):
        pass
