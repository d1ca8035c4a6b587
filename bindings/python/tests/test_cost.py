"""What a launch costs: time beside the kernel's own, and memory beside the arrays."""

from __future__ import annotations

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
    """The shortest of some means, in seconds."""
    best = float("inf")
    for _ in range(5):
        begun = time.perf_counter()
        for _ in range(count // 5):
            launch()
        best = min(best, (time.perf_counter() - begun) / (count // 5))
    return best


def test_a_launch_of_a_small_kernel_takes_less_than_50_microseconds(scale):
    x = np.ones(32, np.float32)
    kernel = scale[1, 32]
    taken = overhead(lambda: kernel(x, 31))
    print(f"a launch of one warp: {1e6 * taken:.1f} microseconds")
    # The wheel of a release; others are built to be built fast.
    assert taken < (50e-6 if warpstep._warpstep.OPTIMISED else 500e-6)


@pytest.mark.parametrize(("how", "most"), [("on the device", 1.1), ("in place", 0.05)])
def test_an_array_of_a_gigabyte_is_copied_once_or_not_at_all(how, most):
    done = subprocess.run([sys.executable, "-c", LARGE, SCALE, how], capture_output=True, text=True, check=True)
    grown = int(done.stdout) << 10
    print(f"1 GB {how}: the process grows by {grown / 2**30:.3f} GB")
    assert grown < most * 2**30
