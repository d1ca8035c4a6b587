"""Kernels that the tests launch."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib.metadata import entry_points

import pytest
import warpstep

pytest_plugins = ["pytester"]

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"

#: Doubles what has an index of at most n, which is one too many: docs/tour/scale.ptx.
SCALE = """.version 7.0
.target sm_70
.address_size 64
.visible .entry scale(.param .u64 scale_x, .param .u32 scale_n)
{
    .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<5>; .reg .f32 %f<3>;
    ld.param.u64 %rd1, [scale_x];
    ld.param.u32 %r1, [scale_n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.gt.u32 %p1, %r5, %r1;
    @%p1 bra DONE;
    mul.wide.u32 %rd3, %r5, 4;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.f32 %f1, [%rd4];
    add.f32 %f2, %f1, %f1;
    st.global.f32 [%rd4], %f2;
DONE:
    ret;
}
"""

#: Two warps each add one to a counter, by a load and a store: an update is lost when they overlap.
COUNT = (
    HEAD
    + """.visible .entry count(.param .u64 counter)
{
    .reg .pred %p<2>; .reg .b32 %r<5>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [counter];
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 31;
    setp.ne.u32 %p1, %r2, 0;
    @%p1 bra DONE;
    ld.global.u32 %r3, [%rd1];
    add.u32 %r4, %r3, 1;
    st.global.u32 [%rd1], %r4;
DONE:
    ret;
}
"""
)

#: One warp counts a word up to 3 while the other one reads it three times. Where it has read 1, 2 and 3, it stores behind the end of
#: `out`: a defect that only one schedule in about 100,000 shows.
RARE = (
    HEAD
    + """.visible .entry rare(.param .u64 word, .param .u64 out)
{
    .reg .pred %p<2>; .reg .b32 %r<5>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [word];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra READ;
    setp.ne.u32 %p1, %r1, 32;
    @%p1 bra DONE;
"""
    + "".join(f"    st.volatile.global.u32 [%rd1], {k};\n" for k in (1, 2, 3))
    + """    bra DONE;
READ:
    mov.u32 %r4, 0;
"""
    + "".join(
        f"    ld.volatile.global.u32 %r3, [%rd1];\n    xor.b32 %r3, %r3, {k};\n    or.b32 %r4, %r4, %r3;\n"
        for k in (1, 2, 3)
    )
    + """    setp.ne.u32 %p1, %r4, 0;
    @%p1 bra DONE;
    st.global.u32 [%rd2+4], %r4;
DONE:
    ret;
}
"""
)

#: Copies 32-bit words, one for each thread of a block.
COPY = (
    HEAD
    + """.visible .entry copy(.param .u64 to, .param .u64 from)
{
    .reg .b32 %r<3>; .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [to];
    ld.param.u64 %rd2, [from];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd1, %rd1, %rd3;
    add.s64 %rd2, %rd2, %rd3;
    ld.global.u32 %r2, [%rd2];
    st.global.u32 [%rd1], %r2;
    ret;
}
"""
)

#: Never ends.
SPIN = (
    HEAD
    + """.visible .entry spin(.param .u64 x)
{
    .reg .b64 %rd<2>; .reg .b32 %r<2>;
    ld.param.u64 %rd1, [x];
LOOP:
    ld.volatile.global.u32 %r1, [%rd1];
    add.u32 %r1, %r1, 1;
    st.volatile.global.u32 [%rd1], %r1;
    bra LOOP;
}
"""
)


@pytest.fixture(scope="session")
def scale() -> warpstep.Kernel:
    return warpstep.Module(SCALE, "scale.ptx")["scale"]


@pytest.fixture(scope="session")
def count() -> warpstep.Kernel:
    return warpstep.Module(COUNT, "count.ptx")["count"]


@pytest.fixture(scope="session")
def rare() -> warpstep.Kernel:
    return warpstep.Module(RARE, "rare.ptx")["rare"]


@pytest.fixture(scope="session")
def copy() -> warpstep.Kernel:
    return warpstep.Module(COPY, "copy.ptx")["copy"]


@pytest.fixture(scope="session")
def spin() -> warpstep.Kernel:
    return warpstep.Module(SPIN, "spin.ptx")["spin"]


def storing(parameter: str, instructions: str) -> warpstep.Kernel:
    """A kernel of one thread that takes a pointer `to` and another parameter, and does something with it."""
    text = (
        HEAD
        + f""".visible .entry store(.param .u64 to, {parameter})
    {{
        .reg .b64 %a, %d<4>; .reg .b32 %r<4>; .reg .b16 %h<4>; .reg .f32 %f<4>; .reg .f64 %fd<4>;
        ld.param.u64 %a, [to];
        {instructions}
        ret;
    }}"""
    )
    return warpstep.Module(text)["store"]


@pytest.fixture
def numba_device() -> Iterator[None]:
    """Numba's programs find warpstep."""
    import warpstep.numba

    with warpstep.numba.device():
        yield


@pytest.fixture
def door() -> Iterator[object]:
    """Triton's programs find warpstep, which looks for accesses out of bounds and values that nobody wrote."""
    import warpstep.triton

    with warpstep.triton.here(check="bounds,uninit") as door:
        yield door


def plugin_flags() -> list[str]:
    """What a session of pytest needs to have the plugin, where the package is no installed one."""
    installed = any(entry.name == "warpstep" for entry in entry_points(group="pytest11"))
    return [] if installed else ["-p", "warpstep.pytest_plugin"]


def line_of(function, text: str) -> int:
    """The number of the one line of a function that has a text."""
    lines, first = inspect.getsourcelines(function)
    [at] = [k for k, line in enumerate(lines) if text in line]
    return first + at
