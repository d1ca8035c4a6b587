"""Launches: arrays in place, numbers by the parameters' types, structs, results, defects."""

from __future__ import annotations

import array
import ctypes
import pickle
import struct

import numpy as np
import pytest
import warpstep
from conftest import COPY, HEAD, SCALE, storing


def test_an_array_holds_what_the_kernel_left(scale):
    x = np.arange(1000, dtype=np.float32)
    run = scale[4, 256](x, np.int32(999), check="races,bounds")
    assert (x == 2 * np.arange(1000, dtype=np.float32)).all()
    assert run.blocks == 4 and run.thread_instructions > 1000 and run.printed == ""


def test_an_access_outside_is_a_defect_without_any_check(scale):
    x = np.arange(1000, dtype=np.float32)
    with pytest.raises(warpstep.Defect, match="just after the end of buffer `arg0` of 4000 bytes") as raised:
        scale[4, 256](x, np.int32(1000))
    defect = raised.value
    assert defect.code == "out-of-bounds"
    assert (defect.file, defect.line, defect.column) == ("scale.ptx", 17, 5)
    assert defect.instruction == "ld.global.f32 %f1, [%rd4];"
    assert (defect.kernel, defect.block, defect.thread, defect.warp, defect.lanes) == (
        "scale",
        (3, 0, 0),
        (232, 0, 0),
        7,
        [8],
    )
    assert defect.json()["place"]["line"] == 17 and defect.other is None and defect.schedule is None
    assert defect.source_file is None and defect.source_line is None
    assert (x == np.arange(1000, dtype=np.float32)).all(), "the array is as it was"
    html = defect._repr_html_()
    assert html.startswith("<pre") and "out-of-bounds" in html and "color:" in html and "<float" not in html


def test_a_defect_names_the_source_line_that_the_ptx_names():
    text = (
        HEAD
        + """.visible .entry k(.param .u64 x)
    {
        .reg .b64 %a; .reg .b32 %r;
        .loc 1 7 3
        ld.param.u64 %a, [x];
        ld.global.u32 %r, [%a+64];
        ret;
    }
    .file 1 "kernel.cu"
    """
    )
    with pytest.raises(warpstep.Defect) as raised:
        warpstep.Module(text)["k"][1, 1](np.zeros(4, np.uint32))
    assert (raised.value.source_file, raised.value.source_line) == ("kernel.cu", 7)


def test_a_race_has_two_parties(count):
    with pytest.raises(warpstep.Defect) as raised:
        count[1, 64](np.zeros(1, np.uint32), check=["races"])
    assert raised.value.code == "race"
    assert raised.value.other is not None and raised.value.other["thread"] != list(raised.value.thread)


def test_names_are_those_of_messages(scale):
    with pytest.raises(warpstep.Defect, match="buffer `x` of 16 bytes"):
        scale[1, 32](np.zeros(4, np.float32), 5, names=["x", "n"])
    with pytest.raises(ValueError, match=r"names=\['x'\] are 1, the arguments 2"):
        scale[1, 32](np.zeros(4, np.float32), 5, names=["x"])


@pytest.mark.parametrize(
    "made",
    [
        lambda: np.arange(6, dtype=np.uint32).reshape(2, 3),
        lambda: np.asfortranarray(np.arange(6, dtype=np.uint32).reshape(2, 3)),
        lambda: np.arange(12, dtype=np.uint32)[::2],
        lambda: np.arange(6, dtype=np.uint32)[::-1],
        lambda: np.arange(24, dtype=np.uint32).reshape(2, 3, 4)[:, :, 1],
        lambda: np.arange(6, dtype=np.float32),
        lambda: np.arange(6, dtype=np.int32),
        lambda: np.arange(3, dtype=np.complex64),
        lambda: np.arange(3, dtype=np.float64),
        lambda: np.arange(12, dtype=np.float16),
        lambda: np.ones(24, dtype=bool),
        lambda: np.zeros(3, dtype=[("a", np.int32), ("b", np.float32)]),
        lambda: np.array(["2020-01-01"] * 3, dtype="datetime64[s]"),
        lambda: np.arange(6, dtype=np.int32).view(np.recarray),
    ],
)
def test_arrays_of_any_layout_are_written_in_place(copy, made):
    to, given = made(), made()
    want = given.copy()
    to[...] = np.zeros((), to.dtype)
    copy[1, 6](to, given)
    assert (to == want).all() and (given == want).all()
    # A view keeps showing what its base has.
    if to.base is not None and isinstance(to.base, np.ndarray) and to.base.size > to.size:
        assert np.shares_memory(to, to.base)


def test_other_memory_than_arrays(copy):
    for to in (bytearray(24), memoryview(bytearray(24)), array.array("I", [0] * 6), (ctypes.c_uint32 * 6)()):
        copy[1, 6](to, np.arange(6, dtype=np.uint32))
        assert bytes(memoryview(to).cast("B")) == np.arange(6, dtype=np.uint32).tobytes()


def test_objects_with_array_interfaces(copy):
    class Holder:
        def __init__(self) -> None:
            self.held = np.zeros(6, np.uint32)

        @property
        def __array_interface__(self):
            return self.held.__array_interface__

    class Tensor:
        def __init__(self) -> None:
            self.held = np.zeros(6, np.uint32)

        def __dlpack__(self, **options):
            return self.held.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.held.__dlpack_device__()

    for made in (Holder, Tensor):
        holder = made()
        copy[1, 6](holder, np.arange(6, dtype=np.uint32))
        assert holder.held.tolist() == list(range(6))


def test_one_array_twice_is_one_memory(copy):
    x = np.arange(6, dtype=np.uint32)
    copy[1, 6](x, x)
    assert x.tolist() == list(range(6))
    # A part of an array is a pointer into it.
    copy[1, 3](x[3:], x)
    assert x.tolist() == [0, 1, 2, 0, 1, 2]
    x = np.arange(6, dtype=np.uint32)
    copy[1, 3](x, x[3:])
    assert x.tolist() == [3, 4, 5, 3, 4, 5]


def test_arrays_that_share_a_part_are_refused(copy):
    x = np.zeros(8, np.uint32)
    with pytest.raises(ValueError, match="arguments 0 and 1 share a part of their memory: give arrays that share none"):
        copy[1, 2](x[:5], x[3:])
    with pytest.raises(ValueError, match="not contiguous shares memory with another argument"):
        copy[1, 2](x[::2], x)


def test_a_read_only_array_may_be_read_and_not_written(copy):
    x, y = np.arange(6, dtype=np.uint32), np.zeros(6, np.uint32)
    x.setflags(write=False)
    copy[1, 6](y, x)
    assert (x == y).all()
    y[:] = 9
    with pytest.raises(ValueError, match="memory arg0: it may only be read, and the kernel wrote to it"):
        copy[1, 6](x, y)
    assert x.tolist() == list(range(6))
    with pytest.raises(ValueError, match="it may only be read"):
        copy[1, 6](np.broadcast_to(np.uint32(1), 6), y)


def test_an_empty_array_is_a_pointer_to_nothing(copy):
    with pytest.raises(warpstep.Defect):
        copy[1, 1](np.zeros(0, np.uint32), np.zeros(1, np.uint32))


@pytest.mark.parametrize(
    ("parameter", "code", "given", "kept"),
    [
        (".param .u32 v", "ld.param.u32 %r1, [v]; st.global.u32 [%a], %r1;", 7, struct.pack("<I", 7)),
        (".param .u32 v", "ld.param.u32 %r1, [v]; st.global.u32 [%a], %r1;", -1, b"\xff" * 4),
        (".param .s32 v", "ld.param.s32 %r1, [v]; st.global.u32 [%a], %r1;", 2**32 - 1, b"\xff" * 4),
        (".param .u32 v", "ld.param.u32 %r1, [v]; st.global.u32 [%a], %r1;", np.int32(-2), struct.pack("<i", -2)),
        (".param .u32 v", "ld.param.u32 %r1, [v]; st.global.u32 [%a], %r1;", True, struct.pack("<I", 1)),
        (".param .b32 v", "ld.param.b32 %r1, [v]; st.global.u32 [%a], %r1;", 5, struct.pack("<I", 5)),
        (".param .b32 v", "ld.param.b32 %r1, [v]; st.global.u32 [%a], %r1;", np.float32(1.5), struct.pack("<f", 1.5)),
        (".param .f32 v", "ld.param.f32 %f1, [v]; st.global.f32 [%a], %f1;", 1.5, struct.pack("<f", 1.5)),
        (".param .f32 v", "ld.param.f32 %f1, [v]; st.global.f32 [%a], %f1;", 3, struct.pack("<f", 3)),
        (".param .f32 v", "ld.param.f32 %f1, [v]; st.global.f32 [%a], %f1;", np.float32(2.5), struct.pack("<f", 2.5)),
        (".param .f64 v", "ld.param.f64 %fd1, [v]; st.global.f64 [%a], %fd1;", 0.1, struct.pack("<d", 0.1)),
        (".param .f64 v", "ld.param.f64 %fd1, [v]; st.global.f64 [%a], %fd1;", np.float64(0.1), struct.pack("<d", 0.1)),
        (".param .b16 v", "ld.param.b16 %h1, [v]; st.global.b16 [%a], %h1;", np.float16(1.5), struct.pack("<e", 1.5)),
        (".param .u64 v", "ld.param.u64 %d1, [v]; st.global.u64 [%a], %d1;", 2**63, struct.pack("<Q", 2**63)),
        (".param .u64 v", "ld.param.u64 %d1, [v]; st.global.u64 [%a], %d1;", None, bytes(8)),
        (".param .u64 v", "ld.param.u64 %d1, [v]; st.global.u64 [%a], %d1;", b"12345678", b"12345678"),
        (".param .u8 v", "ld.param.u8 %h1, [v]; st.global.u8 [%a], %h1;", np.bool_(True), b"\x01"),
        (".param .align 4 .b8 v[8]", "ld.param.u64 %d1, [v]; st.global.u64 [%a], %d1;", b"abcdefgh", b"abcdefgh"),
        (
            ".param .align 4 .b8 v[8]",
            "ld.param.u32 %r1, [v+4]; st.global.u32 [%a], %r1;",
            np.array((1, 2.5), dtype=[("n", np.int32), ("x", np.float32)])[()],
            struct.pack("<f", 2.5),
        ),
        (
            ".param .align 4 .b8 v[8]",
            "ld.param.u32 %r1, [v+4]; st.global.u32 [%a], %r1;",
            np.array([3, 4], np.int32),
            struct.pack("<i", 4),
        ),
    ],
)
def test_numbers_and_structs_are_converted_by_the_parameter(parameter, code, given, kept):
    to = np.zeros(8, np.uint8)
    storing(parameter, code)[1, 1](to, given)
    assert to[: len(kept)].tobytes() == kept


def test_a_ctypes_struct_is_a_struct():
    class Pair(ctypes.Structure):
        _fields_ = [("n", ctypes.c_int32), ("x", ctypes.c_float)]

    to = np.zeros(1, np.float32)
    kernel = storing(".param .align 4 .b8 v[8]", "ld.param.f32 %f1, [v+4]; st.global.f32 [%a], %f1;")
    kernel[1, 1](to, Pair(1, 2.5))
    assert to[0] == 2.5


def test_shapes_and_shared_memory():
    text = (
        HEAD
        + """.extern .shared .align 4 .b8 pool[];
    .visible .entry k(.param .u64 to)
    {
        .reg .b64 %a; .reg .b32 %r<6>;
        ld.param.u64 %a, [to];
        mov.u32 %r1, %nctaid.z; mov.u32 %r2, %ntid.y; mov.u32 %r3, %dynamic_smem_size;
        st.global.u32 [%a], %r1; st.global.u32 [%a+4], %r2; st.global.u32 [%a+8], %r3;
        ret;
    }"""
    )
    kernel = warpstep.Module(text)["k"]
    to = np.zeros(3, np.uint32)
    kernel[(1, 1, 5), (2, 3), 64](to)
    assert to.tolist() == [5, 3, 64]
    kernel[np.int64(1), [np.int32(4)]](to)
    assert to.tolist() == [1, 1, 0]


def test_what_a_kernel_prints_is_given():
    text = (
        HEAD
        + """.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
    .global .align 1 .b8 hello[4] = {104, 105, 10, 0};
    .visible .entry k()
    {
        .reg .b64 %a<3>; .reg .b32 %r;
        mov.u64 %a1, hello;
        cvta.global.u64 %a1, %a1;
        mov.u64 %a2, 0;
        { .param .b64 f; .param .b64 a; .param .b32 r;
          st.param.b64 [f], %a1; st.param.b64 [a], %a2;
          call.uni (r), vprintf, (f, a); }
        ret;
    }"""
    )
    run = warpstep.Module(text)["k"][1, 2]()
    assert run.printed == "hi\nhi\n" and run.output == b"hi\nhi\n" and "hi" in run._repr_html_()


def test_modules_are_mappings_and_pickle(scale, tmp_path):
    module = scale.module
    assert list(module) == ["scale"] and len(module) == 1 and "scale" in module and "other" not in module
    assert repr(module) == "<Module scale.ptx: scale>"
    assert repr(scale) == "<Kernel scale(scale_x: u64, scale_n: u32) of scale.ptx>"
    assert repr(scale[1, 2]) == "<Launch scale[(1, 1, 1), (2, 1, 1), 0]>"
    assert [p.takes_memory for p in scale.parameters] == [True, False]
    path = tmp_path / "scale.ptx"
    path.write_text(SCALE)
    from_file = warpstep.Module.from_file(path)
    assert from_file.name == str(path) and from_file.text == SCALE
    again = pickle.loads(pickle.dumps(scale))
    assert again == scale and hash(again) == hash(scale) and again.module.text == SCALE
    x = np.ones(4, np.float32)
    again[1, 4](x, 4)
    assert (x == 2).all()
    assert warpstep.Module(COPY.encode() + b"\0")["copy"].name == "copy"


def test_errors_pickle(scale):
    with pytest.raises(warpstep.Defect) as raised:
        scale[1, 32](np.zeros(4, np.float32), 5)
    again = pickle.loads(pickle.dumps(raised.value))
    assert isinstance(again, warpstep.Defect)
    assert (str(again), again.code, again.json()) == (str(raised.value), raised.value.code, raised.value.json())


def test_models_and_limits(scale, spin):
    x = np.ones(4, np.float32)
    for options in (
        {"control": "crs"},
        {"control": "thread", "seed": 3},
        {"memory": "fermi"},
        {"split": True},
        {"warp_size": 4},
        {"mma_exact": True},
        {"check": ""},
        {"check": None},
        {"timeout": 60, "max_memory": 1 << 20},
    ):
        scale[1, 4](x, 4, **options)
    with pytest.raises(warpstep.LimitReached) as raised:
        spin[1, 1](np.zeros(1, np.uint32), max_steps=1000)
    assert raised.value.code == "limit"
    with pytest.raises(warpstep.LimitReached):
        spin[1, 1](np.zeros(1, np.uint32), timeout=0.05)
    with pytest.raises(warpstep.LimitReached):
        scale[1, 4](np.zeros(1000, np.float32), 4, max_memory=100)


def test_a_gap_of_warpstep_is_unsupported():
    text = ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n    wgmma.fence.sync.aligned;\n    ret;\n}\n"
    with pytest.raises(warpstep.Unsupported):
        warpstep.Module(text)["k"][1, 128]()


def test_kernels_work_in_place(copy, scale):
    to, given = np.zeros(6, np.uint32), np.arange(6, dtype=np.uint32)
    run = copy[1, 6](to, given, in_place=True)
    assert (to == given).all()
    to[:] = 0
    assert run == copy[1, 6](to, given), "the same counts, and the same memory"
    for view in (to[::2], to.reshape(2, 3).T):
        copy[1, view.size](view, given, in_place=True)
        assert view.ravel(order="K").tolist() == list(range(view.size)) or view.tolist() == [0, 1, 2]
    # One memory twice, a read-only array, checks, other memory and schedules.
    x = np.arange(6, dtype=np.uint32)
    copy[1, 3](x[3:], x, in_place=True)
    assert x.tolist() == [0, 1, 2, 0, 1, 2]
    given.setflags(write=False)
    for options in (
        {"check": "races,bounds,uninit"},
        {"memory": "fermi"},
        {"split": True},
        {"seed": 3},
        {"control": "crs"},
    ):
        to[:] = 0
        copy[1, 6](to, given, in_place=True, **options)
        assert (to == given).all()
    with pytest.raises(ValueError, match="it may only be read"):
        copy[1, 6](given, to + 1, in_place=True)
    # What is not done any more is not undone.
    x = np.ones(1000, np.float32)
    with pytest.raises(warpstep.Defect, match="just after the end of buffer `arg0` of 4000 bytes"):
        scale[4, 256](x, 1000, in_place=True)
    assert (x == 2).any() and (x == 1).any()


def test_atomics_and_wide_accesses_in_place():
    text = (
        HEAD
        + """.visible .entry k(.param .u64 to)
    {
        .reg .b64 %a, %d<3>; .reg .b32 %r<6>; .reg .f32 %f<5>;
        ld.param.u64 %a, [to];
        atom.global.add.u32 %r1, [%a], 1;
        atom.global.cas.b64 %d1, [%a+8], 0, 7;
        red.global.add.f32 [%a+16], 0f3f800000;
        ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%a];
        st.global.v2.u32 [%a+24], {%r1, %r3};
        ret;
    }"""
    )
    kernel = warpstep.Module(text)["k"]
    one, other = np.zeros(32, np.uint8), np.zeros(32, np.uint8)
    assert kernel[2, 64](one, in_place=True) == kernel[2, 64](other)
    assert one.tobytes() == other.tobytes() and one.view(np.uint32)[0] == 128 and one.view(np.float32)[4] == 128
