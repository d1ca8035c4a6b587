"""Triton's launches: arguments of all kinds, constants, decorators, what programs ask the driver."""

from __future__ import annotations

import doctest
import gc
import importlib
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

triton = pytest.importorskip("triton", reason="Triton is not installed")
tl = pytest.importorskip("triton.language", reason="Triton is not installed")

import warpstep  # noqa: E402
import warpstep.triton  # noqa: E402
from triton_kernels import strided_kernel  # noqa: E402


@pytest.fixture
def door():
    with warpstep.triton.here(check="bounds") as door:
        yield door


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=inside) + tl.load(y_ptr + at, mask=inside), mask=inside)


@triton.jit
def scale_kernel(x_ptr, out_ptr, factor, n, rows, BLOCK: tl.constexpr):
    row = tl.program_id(1) + tl.program_id(2) * rows
    at = row * n + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, (tl.load(x_ptr + at) * factor).to(out_ptr.dtype.element_ty))


def test_vectors_are_added(door):
    x, y = np.random.default_rng(0).random((2, 1000), dtype=np.float32)
    out = np.full(1000, np.nan, np.float32)
    compiled = add_kernel[lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)](x, y, out, 1000, BLOCK=128)
    assert np.array_equal(out, x + y)
    [(name, run)] = door.runs
    assert (name, run.blocks) == ("add_kernel", 8) and door.thread_instructions == run.thread_instructions > 8 * 128
    assert ".entry add_kernel" in compiled.asm["ptx"] and ".target sm_80" in compiled.asm["ptx"]


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"]
)
def test_all_types_of_elements(door, dtype):
    x = np.arange(1, 65, dtype=dtype)
    out = np.zeros(64, dtype)
    add_kernel[(1,)](x, x, out, 64, BLOCK=64)
    assert np.array_equal(out, x + x)


def test_truth_values(door):
    @triton.jit
    def negate(x_ptr, out_ptr, N: tl.constexpr):
        at = tl.arange(0, N)
        tl.store(out_ptr + at, tl.load(x_ptr + at) == 0)

    x = np.arange(32) % 3 == 0
    out = np.zeros(32, bool)
    negate[(1,)](x, out, N=32)
    assert np.array_equal(out, ~x)


@pytest.mark.parametrize("grid", [(2, 3, 4), [2, 3, 4], lambda meta: (128 // meta["BLOCK"], 3, 4)])
@pytest.mark.parametrize("warps", [1, 2, 8])
def test_grids_of_three_axes_and_warps(door, grid, warps):
    x = np.arange(12 * 128, dtype=np.float32)
    out = np.zeros_like(x)
    scale_kernel[grid](x, out, 0.5, 128, 3, BLOCK=64, num_warps=warps)
    assert np.array_equal(out, x / 2)
    assert door.runs[0][1].blocks == 24


def test_a_grid_of_no_blocks_does_nothing(door):
    add_kernel[(0,)](np.zeros(1, np.float32), np.zeros(1, np.float32), np.zeros(1, np.float32), 0, BLOCK=64)
    assert door.runs == []


# 1 and multiples of 16 are constants and hints to the compiler.
@pytest.mark.parametrize("n", [1, 15, 16, 17, 48])
def test_specialised_numbers(door, n):
    x = np.arange(n, dtype=np.float32)
    out = np.zeros(n, np.float32)
    add_kernel[(1,)](x, x, out, n, BLOCK=64)
    assert np.array_equal(out, 2 * x)


@triton.jit(do_not_specialize=["n"])
def count_kernel(out_ptr, n):
    tl.store(out_ptr, n)


def test_numbers_that_are_not_specialised_share_a_kernel(door):
    out = np.zeros(1, np.int32)
    kernels = set()
    for n in (1, 16, 17, -3):
        kernels.add(id(count_kernel[(1,)](out, n)))
        assert out[0] == n
    assert len(kernels) == 1


@triton.jit
def scalars_kernel(out_ptr, a, b, c, d, flag, e: tl.float16, f: tl.bfloat16, g: tl.float64, h: tl.int8, i: tl.uint64):
    tl.store(out_ptr + 0, a.to(tl.float64))
    tl.store(out_ptr + 1, b.to(tl.float64))
    tl.store(out_ptr + 2, c.to(tl.float64))
    tl.store(out_ptr + 3, d.to(tl.float64))
    tl.store(out_ptr + 4, tl.where(flag, 1.0, 0.0).to(tl.float64))
    tl.store(out_ptr + 5, e.to(tl.float64))
    tl.store(out_ptr + 6, f.to(tl.float64))
    tl.store(out_ptr + 7, g)
    tl.store(out_ptr + 8, h.to(tl.float64))
    tl.store(out_ptr + 9, (i >> 32).to(tl.float64))


@pytest.mark.parametrize("flag", [True, False])
def test_numbers_of_all_types(door, flag):
    out = np.zeros(10)
    given = (-7, 1 << 40, (1 << 63) + (1 << 62), 0.1, flag, 0.1, 0.1, 0.1, -5, 1 << 63)
    scalars_kernel[(1,)](out, *given)
    brain = np.frombuffer(np.uint32(0x3DCD0000).tobytes(), np.float32)[0]
    wanted = [-7, 2.0**40, 2.0**63 + 2.0**62, np.float32(0.1), flag, np.float16(0.1), brain, 0.1, -5, 2.0**31]
    assert out.tolist() == [float(each) for each in wanted]


@triton.jit
def perhaps_kernel(x_ptr, bias_ptr, out_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    value = tl.load(x_ptr + at)
    if bias_ptr is not None:
        value += tl.load(bias_ptr + at)
    tl.store(out_ptr + at, value)


def test_none_is_no_pointer(door):
    x = np.arange(32, dtype=np.float32)
    out = np.zeros_like(x)
    perhaps_kernel[(1,)](x, None, out, N=32)
    assert np.array_equal(out, x)
    perhaps_kernel[(1,)](x, x, out, N=32)
    assert np.array_equal(out, 2 * x)


@triton.jit
def pair_kernel(pair, out_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out_ptr + at, tl.load(pair[0] + at) * pair[1])


def test_tuples(door):
    x = np.arange(32, dtype=np.int32)
    out = np.zeros_like(x)
    pair_kernel[(1,)]((x, 3), out, N=32)
    assert np.array_equal(out, 3 * x)


@triton.heuristics({"BLOCK": lambda args: triton.next_power_of_2(args["n"])})
@triton.jit
def fill_kernel(out_ptr, value, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + at, value, mask=at < n)


def test_heuristics(door):
    out = np.zeros(100, np.float32)
    fill_kernel[(1,)](out, 2.5, 100)
    assert (out == 2.5).all()


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[:8, :16],
        lambda x: x[8:16, 1:32:2],
        lambda x: x.T[:8, 4:20],
        lambda x: x[::-1, :16][:8],
        lambda x: x[:8, 31:15:-1],
        lambda x: np.broadcast_to(x[3, :16], (8, 16)),
        lambda x: np.asfortranarray(x)[2:10, 2:18],
    ],
)
def test_views_are_passed_where_they_lie(door, view):
    x = np.random.default_rng(1).random((32, 32), dtype=np.float32)
    given = view(x)
    out = np.zeros((8, 16), np.float32)
    strided_kernel[(1,)](given, out, given.strides[0] // 4, given.strides[1] // 4, R=8, C=16)
    assert np.array_equal(out, given)


def test_views_are_written_where_they_lie(door):
    x = np.random.default_rng(1).random((8, 16), dtype=np.float32)
    target = np.zeros((16, 64), np.float32)
    view = target[1:9, 5:37:2]

    @triton.jit
    def store(x_ptr, out_ptr, rows_apart, columns_apart, R: tl.constexpr, C: tl.constexpr):
        row, column = tl.arange(0, R)[:, None], tl.arange(0, C)[None, :]
        tl.store(out_ptr + row * rows_apart + column * columns_apart, tl.load(x_ptr + row * C + column))

    store[(1,)](x, view, 64, 2, R=8, C=16)
    assert np.array_equal(view, x) and np.count_nonzero(target) == np.count_nonzero(x)


def test_arguments_that_share_memory(door):
    x = np.arange(96, dtype=np.float32)
    out = np.zeros(128, np.float32)
    # Each has a part of the other; what is written is a part of none, and of the same storage as what is not.
    add_kernel[(1,)](x[:64], x[32:], out[64:], 64, BLOCK=64)
    assert np.array_equal(out[64:], x[:64] + x[32:]) and not out[:64].any()
    # In place, each block its own elements.
    add_kernel[(2,)](x, x[:64], x, 64, BLOCK=32, num_warps=1)
    assert np.array_equal(x, np.concatenate([2 * np.arange(64), np.arange(64, 96)]))


def test_read_only_arrays_are_read(door):
    x = np.arange(64, dtype=np.float32)
    x.flags.writeable = False
    out = np.zeros(64, np.float32)
    add_kernel[(1,)](x, x, out, 64, BLOCK=64)
    assert np.array_equal(out, 2 * x)
    with pytest.raises(warpstep.InputError, match="may only be read, and the kernel wrote to it"):
        add_kernel[(1,)](out, out, x, 64, BLOCK=64)


@triton.jit
def say_kernel(x_ptr):
    tl.device_print("value", tl.load(x_ptr))


def test_what_kernels_print(door, capsys):
    say_kernel[(2,)](np.array([42], np.int32), num_warps=1)
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 64 and all(line.startswith("pid (") and "value: 42" in line for line in said)


def test_kernels_are_compiled_once(door):
    x = np.ones(64, np.float32)
    first = add_kernel[(1,)](x, x, x.copy(), 64, BLOCK=64)
    assert add_kernel[(1,)](x, x, x.copy(), 64, BLOCK=64) is first
    assert add_kernel[(1,)](x, x, x.copy(), 64, BLOCK=64, num_warps=2) is not first


def test_warmup_compiles_and_launches_nothing(door):
    compiled = add_kernel.warmup(*[np.ones(64, np.float32)] * 3, 64, BLOCK=64, grid=(1,))
    assert compiled.metadata.name == "add_kernel" and door.runs == []
    compiled._init_handles()
    assert compiled.n_regs > 0 and compiled.metadata.shared == 0
    x = np.ones(64, np.float32)
    out = np.zeros(64, np.float32)
    add_kernel.run(x, x, out, 64, BLOCK=64, grid=(1,), warmup=False)
    assert (out == 2).all()


def test_what_programs_ask_the_driver(door):
    driver = triton.runtime.driver.active
    assert driver.get_current_target().backend == "cuda" and driver.get_current_target().arch == 80
    properties = driver.utils.get_device_properties(driver.get_current_device())
    assert properties["multiprocessor_count"] == 108 and properties["max_shared_mem"] == 166912
    with warpstep.triton.here(target="sm_90", properties={"multiprocessor_count": 3}):
        assert driver.get_current_target().arch == 90 and driver.get_device_capability(0) == (9, 0)
        assert driver.utils.get_device_properties(0)["multiprocessor_count"] == 3
    assert driver.get_current_target().arch == 80


def test_hooks_of_launches(door):
    seen = []
    enter = triton.knobs.runtime.launch_enter_hook
    hook = lambda metadata: seen.append(metadata.get()["name"])  # noqa: E731
    enter.add(hook)
    try:
        count_kernel[(1,)](np.zeros(1, np.int32), 5)
    finally:
        enter.remove(hook)
    assert seen == ["count_kernel"]


@triton.jit
def follow_kernel(table_ptr, sizes_ptr, out_ptr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    row_ptr = tl.load(table_ptr + row).to(tl.pointer_type(tl.float32))
    inside = at < tl.load(sizes_ptr + row)
    tl.store(out_ptr + row, tl.sum(tl.load(row_ptr + at, mask=inside, other=0.0)))
    tl.store(row_ptr + at, 7.0, mask=inside)


def test_tables_of_addresses(door):
    rows = [np.full(n, n, np.float32) for n in (5, 64, 17)]
    table = np.array([door.address(row) for row in rows], dtype=np.int64)
    before = table.copy()
    out = np.zeros(3, np.float32)
    follow_kernel[(3,)](table, np.array([5, 64, 17], np.int32), out, BLOCK=64)
    assert out.tolist() == [25, 64 * 64, 17 * 17]
    assert all((row == 7).all() for row in rows) and np.array_equal(table, before)


@triton.jit
def deep_kernel(table_ptr, out_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    inner_ptr = tl.load(table_ptr).to(tl.pointer_type(tl.int64))
    x_ptr = tl.load(inner_ptr + 1).to(tl.pointer_type(tl.float32))
    tl.store(out_ptr + at, tl.load(x_ptr + at) + tl.load(x_ptr + 1))


def test_tables_of_tables_and_parts_of_arguments(door):
    x = np.arange(40, dtype=np.float32)
    inner = np.array([0, door.address(x[8:])])
    out = np.zeros(32, np.float32)
    deep_kernel[(1,)](np.array([door.address(inner)]), out, N=32)
    assert np.array_equal(out, x[8:] + 9)
    # The address is one of an argument, which is a part of another.
    number_kernel[(1,)](door.address(x) + 8, x[2:3])
    assert x[2] == 4
    strided_kernel[(1,)](x[::2], out[: 8 * 2].reshape(8, 2), 4, 2, R=8, C=2)
    assert np.array_equal(out[:16], x[:32:2])


@triton.jit
def number_kernel(address, out_ptr):
    tl.store(out_ptr, tl.load(address.to(tl.pointer_type(tl.float32)) + 2))


def test_addresses_as_numbers(door):
    x = np.arange(8, dtype=np.float32)
    out = np.zeros(1, np.float32)
    number_kernel[(1,)](door.address(x) + 4, out)
    assert out[0] == 3


def test_nothing_stays_behind():
    from triton.backends import backends
    from triton.runtime import driver

    before = (backends["nvidia"], driver._active, triton.runtime.JITFunction.run, triton.testing.do_bench)
    with pytest.raises(KeyError), warpstep.triton.here(), warpstep.triton.here(target=90):
        raise KeyError("x")
    assert before == (backends["nvidia"], driver._active, triton.runtime.JITFunction.run, triton.testing.do_bench)
    gc.collect()


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"tune": "last"}, ValueError, "tune='last'"),
        ({"bounds": "none"}, ValueError, "bounds='none'"),
        ({"seeds": -1}, ValueError, "seeds=-1"),
        ({"seeds": 5, "seed": 7}, ValueError, "seed=7 is one schedule"),
        ({"target": "gfx90a"}, ValueError, "target='gfx90a': give a number"),
        ({"names": ["x"]}, TypeError, "called by their names"),
        ({"speed": 1}, TypeError, "no option `speed`"),
    ],
)
def test_options_that_mean_nothing(options, error, words):
    with pytest.raises(error, match=words), warpstep.triton.here(**options):
        pass


def test_arguments_that_are_none(door):
    x = np.ones(64, np.float32)
    with pytest.raises(TypeError, match="array of object"):
        add_kernel[(1,)](x.astype(object), x, x, 64, BLOCK=64)
    with pytest.raises(TypeError, match="native byte order"):
        add_kernel[(1,)](x.astype(">f4"), x, x, 64, BLOCK=64)
    for given in ([1.0], bytearray(256), object()):
        words = f" type: .*{type(given).__name__}.*: give an array of numpy, a tensor or a number"
        with pytest.raises(TypeError, match=words):
            add_kernel[(1,)](given, x, x, 64, BLOCK=64)
    with pytest.raises(TypeError, match=r"int64, a scalar of numpy, .*: give a number of Python, such as x.item\(\)"):
        add_kernel[(1,)](x, x, x, np.int64(64), BLOCK=64)
    for dtype in (np.longdouble, [("a", "f4")]):
        with pytest.raises(
            TypeError, match=r"an array of .* is no argument of a Triton kernel: give numbers that it has"
        ):
            add_kernel[(1,)](x.astype(dtype), x, x, 64, BLOCK=64)
    for grid, error, words in (
        (("1",), TypeError, "grid: '1' is no whole number"),
        ((-1,), ValueError, "grid: -1 is not from 1"),
        ((1.5,), TypeError, "grid: 1.5 is no whole number"),
        ((2**31,), warpstep.InputError, "sm_80 allows 2147483647"),
    ):
        with pytest.raises(error, match=words):
            add_kernel[grid](x, x, x, 64, BLOCK=64)
    with pytest.raises(ValueError, match='check="rases"'), warpstep.triton.here(check="rases"):
        add_kernel[(1,)](x, x, x, 64, BLOCK=64)
    with pytest.raises(NotImplementedError, match="clusters"), warpstep.triton.here(target=90):
        add_kernel[(1,)](x, x, x, 64, BLOCK=64, num_ctas=2)


def test_kernels_that_need_more_shared_memory_than_there_is(door):
    @triton.jit
    def product(x_ptr, N: tl.constexpr):
        at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
        x = tl.load(x_ptr + at)
        tl.store(x_ptr + at, tl.dot(x, tl.trans(x)))

    with (
        pytest.raises(triton.runtime.OutOfResources),
        warpstep.triton.here(properties={"max_shared_mem": 1024}, target=86),
    ):
        product[(1,)](np.ones((64, 64), np.float32), N=64)


def test_a_program_that_is_run_from_outside(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, numpy as np, triton, triton.language as tl\n"
        "@triton.jit\n"
        "def twice(x, n, B: tl.constexpr):\n"
        "    at = tl.program_id(0) * B + tl.arange(0, B)\n"
        "    tl.store(x + at, 2 * tl.load(x + at))\n"
        "x = np.ones(int(sys.argv[1]), np.float32)\n"
        "twice[(2,)](x, 64, B=32, num_warps=1)\n"
        "print(x.sum())\n"
    )

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "warpstep.triton", *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120)

    right = run("--check", "races", str(program), "64")
    assert (right.returncode, right.stdout) == (0, "128.0\n"), right.stderr
    assert "warpstep: 1 launch, " in right.stderr
    wrong = run(str(program), "63")
    assert wrong.returncode == 1 and "[out-of-bounds]" in wrong.stderr and "program.py:5:" in wrong.stderr
    for words, says in (
        (("--seed", "0", "--seeds", "3", str(program)), "error: seed=0 is one schedule, and seeds=3 are many"),
        (("--check", "rases", str(program)), 'error: check="rases": there are uninit, bounds, '),
        (("--target", "gfx90a", str(program)), "error: target='gfx90a': give a number such as 80"),
        (("none.py",), "error: there is no none.py"),
    ):
        refused = run(*words)
        assert refused.returncode == 2 and says in refused.stderr and "Traceback" not in refused.stderr, refused.stderr


@pytest.mark.parametrize("name", ["_addresses", "_backend", "_compat", "_replicas", "_values"])
def test_examples_in_docstrings_run(name):
    module = importlib.import_module(f"warpstep.triton.{name}")
    done = doctest.testmod(module)
    assert done.failed == 0 and (done.attempted > 0 or name == "_addresses")


def test_the_page_runs(tmp_path, monkeypatch, capsys):
    page = Path(__file__).resolve().parents[3] / "docs" / "triton.md"
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) > 3
    # Kernels are read from files.
    program = tmp_path / "page.py"
    program.write_text("\n".join(blocks))
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("page")


def test_everything_public_is_documented():
    for name in warpstep.triton.__all__:
        assert getattr(warpstep.triton, name).__doc__, name


def test_without_triton_it_says_what_to_install(tmp_path):
    (tmp_path / "triton").mkdir()
    (tmp_path / "triton" / "__init__.py").write_text("raise ImportError('no')")
    command = "import sys; sys.path.insert(0, '.'); import warpstep.triton"
    done = subprocess.run([sys.executable, "-c", command], cwd=tmp_path, capture_output=True, text=True)
    assert "ImportError: warpstep.triton needs Triton, which is not installed: pip install triton" in done.stderr
    (tmp_path / "triton" / "__init__.py").write_text("__version__ = '3.1.0'")
    done = subprocess.run([sys.executable, "-c", command], cwd=tmp_path, capture_output=True, text=True)
    assert "needs Triton 3.5 or later, and 3.1.0 is installed" in done.stderr


def test_threads_and_forked_processes_launch(door):
    def launch(n: int) -> bool:
        x, out = np.full(64, n, np.float32), np.zeros(64, np.float32)
        for _ in range(10):
            add_kernel[(1,)](x, x, out, 64, BLOCK=64)
        return bool((out == 2 * n).all())

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(launch, range(8)))
    assert len(door.runs) == 80
    if hasattr(os, "fork"):
        child = os.fork()
        if child == 0:
            os._exit(0 if launch(3) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
