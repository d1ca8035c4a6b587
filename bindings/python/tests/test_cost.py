"""What a launch costs: time beside the kernel's own, and memory beside the arrays."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

import numpy as np
import pytest
import warpstep
from conftest import SCALE

#: A launch with 1 GB, and how many KB the process grows by.
LARGE = """
import resource, sys
import numpy as np, warpstep
kernel = warpstep.Module(sys.argv[1])["scale"]
x = np.ones(1 << 28, np.float32)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
kernel[4, 256](x, 999, in_place=sys.argv[2] == "in place")
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert (x[:1000] == 2).all() and (x[1000:] == 1).all()
print(after - before)
"""


def overhead(launch, count: int = 2000) -> float:
    """The shortest of some means, in seconds of processors, which other programs on the computer do not make longer."""
    launch()
    best = float("inf")
    for _ in range(20):
        begun = time.process_time()
        for _ in range(count // 20):
            launch()
        best = min(best, (time.process_time() - begun) / (count // 20))
    return best


def on_the_wall(launch, count: int = 4000) -> tuple[float, float]:
    """The shortest launch and the median, in seconds that pass: who is interrupted by another program is above it."""
    launch()
    taken = []
    for _ in range(count):
        begun = time.perf_counter()
        launch()
        taken.append(time.perf_counter() - begun)
    return min(taken), statistics.median(taken)


def is_less_than(taken: float, microseconds: float, what: str) -> bool:
    """Whether a launch costs so little. Only the wheel of a release is made to be fast; others are made fast."""
    print(f"{what}: {1e6 * taken:.1f} microseconds")
    return 1e6 * taken < (microseconds if warpstep._warpstep.OPTIMISED else 10 * microseconds)


def test_a_launch_of_a_small_kernel_takes_less_than_50_microseconds(scale):
    x = np.ones(32, np.float32)
    kernel = scale[1, 32]
    assert is_less_than(overhead(lambda: kernel(x, 31)), 50, "a launch of one warp")
    shortest, median = on_the_wall(lambda: kernel(x, 31))
    print(f"the shortest of 4,000: {1e6 * shortest:.1f} microseconds that pass")
    assert is_less_than(median, 50, "the median of 4,000, in time that passes")


def test_a_launch_through_triton_takes_less_than_100_microseconds():
    pytest.importorskip("triton", reason="Triton is not installed")
    import warpstep.triton
    from triton_kernels import strided_kernel

    x, y = np.ones((2, 32), np.float32)
    with warpstep.triton.here():
        launch = strided_kernel[(1,)]
        taken = overhead(lambda: launch(x, y, 32, 1, R=1, C=32, num_warps=1))
    assert is_less_than(taken, 100, "a launch through Triton")


@pytest.mark.filterwarnings("ignore::Warning")
def test_a_launch_through_numba_takes_less_than_150_microseconds():
    pytest.importorskip("numba_cuda", reason="numba-cuda is not installed")
    import warpstep.numba
    from numba import cuda

    @cuda.jit
    def increase(x, y):
        y[cuda.grid(1)] = x[cuda.grid(1)] + 1

    x, y = np.ones((2, 32), np.float32)
    with warpstep.numba.device():
        launch, on_device = increase[1, 32], (cuda.to_device(x), cuda.to_device(y))
        device, host = overhead(lambda: launch(*on_device)), overhead(lambda: launch(x, y))
    assert is_less_than(device, 150, "a launch through Numba, arrays of the device")
    assert is_less_than(host, 150, "a launch through Numba, two arrays of the host")


@pytest.mark.parametrize(("how", "most"), [("on the device", 1.1), ("in place", 0.05)])
def test_an_array_of_a_gigabyte_is_copied_once_or_not_at_all(how, most):
    done = subprocess.run([sys.executable, "-c", LARGE, SCALE, how], capture_output=True, text=True, check=True)
    grown = int(done.stdout) << 10
    print(f"1 GB {how}: the process grows by {grown / 2**30:.3f} GB")
    assert grown < most * 2**30
