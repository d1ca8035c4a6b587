"""Bad input is an exception that says what to do, never an abort."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import warpstep
from conftest import HEAD, SCALE, storing


def floats(n: int = 4) -> np.ndarray:
    return np.ones(n, np.float32)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ((), TypeError, r"kernel `scale` takes 2 arguments \(scale_x: u64, scale_n: u32\), 0 were given"),
        ((floats(),), TypeError, r"takes 2 arguments .*, 1 was given"),
        ((floats(), 4, 5), TypeError, r"takes 2 arguments .*, 3 were given"),
        (
            (floats(), floats()),
            TypeError,
            r"argument 1 \(`scale_n`\) is an array, and the parameter is u32: give a number",
        ),
        (
            (floats(), 4.0),
            TypeError,
            r"argument 1 \(`scale_n`\) is a float, and the parameter is u32: give np.uint32\(…\) or a Python int",
        ),
        ((floats(), np.float32(4)), TypeError, r"is a float32, and the parameter is u32"),
        ((floats(), np.int64(4)), TypeError, r"is a int64, and the parameter is u32: give np.uint32\(…\)"),
        ((floats(), 2**32), ValueError, r"is 4294967296, which does not fit u32"),
        ((floats(), -(2**31) - 1), ValueError, r"does not fit u32"),
        ((floats(), None), TypeError, r"is None, and the parameter is u32: give a number"),
        ((floats(), "4"), TypeError, r"is a str: give a number"),
        ((floats(), b"123"), ValueError, r"has 3 bytes, and the parameter 4"),
        (([1.0, 2.0], 4), TypeError, r"argument 0 \(`scale_x`\) is a list, which has no memory .*: give np.array"),
        ((1.5, 4), TypeError, r"argument 0 \(`scale_x`\) is a float, and the parameter is u64"),
        ((object(), 4), TypeError, r"is a object: give an array, or a number"),
        ((np.array([object()]), 4), TypeError, r"an array of Python objects \(object\), which no kernel can read"),
        ((floats().astype(">f4"), 4), TypeError, r"dtype '>f4', whose bytes are in another order .*: give x.astype"),
        ((np.ones(4, np.longdouble), 4), TypeError, r"has dtype float128, which PTX does not have"),
    ],
)
def test_arguments_that_do_not_fit(scale, given, error, words):
    with pytest.raises(error, match=words):
        scale[1, 4](*given)
    with pytest.raises(error, match=words):
        warpstep.hunt(scale, grid=1, block=4, args=given, seeds=1)


def test_memory_of_a_gpu_is_refused(scale):
    class Gpu:
        __cuda_array_interface__ = {"shape": (4,), "typestr": "<f4", "data": (1, False), "version": 3}

    with pytest.raises(TypeError, match="is memory of a GPU: give a copy on the host"):
        scale[1, 4](Gpu(), 4)


def test_structs_that_do_not_fit():
    kernel = storing(".param .align 4 .b8 v[8]", "")
    for given, error, words in (
        (
            7,
            TypeError,
            "is 7, and the parameter is a struct of 8 bytes: give bytes, or a scalar or array of a structured dtype",
        ),
        (None, TypeError, "is None, and the parameter is a struct"),
        (b"1234", ValueError, "has 4 bytes, and the parameter 8"),
        ("12345678", TypeError, "is a str, and the parameter is a struct of 8 bytes"),
    ):
        with pytest.raises(error, match=words):
            kernel[1, 1](np.zeros(1), given)
    with pytest.raises(ValueError, match="is 1e\\+300, which is too large for f32"):
        storing(".param .f32 v", "")[1, 1](np.zeros(1), 1e300)
    with pytest.raises(TypeError, match=r"the parameter is b32: give np.uint32\(…\), np.float32\(…\) or a Python int"):
        storing(".param .b32 v", "")[1, 1](np.zeros(1), 1.5)


@pytest.mark.parametrize(
    ("shape", "error", "words"),
    [
        (5, TypeError, r"scale\[grid, block\] or scale\[grid, block, shared memory in bytes\]"),
        ((1, 2, 3, 4), TypeError, r"scale\[grid, block\]"),
        ((0, 1), ValueError, "grid: 0 is not from 1 to 4294967295"),
        ((1, -1), ValueError, "block: -1 is not from 1"),
        ((2**32, 1), ValueError, "grid: 4294967296 is not from 1"),
        ((2**200, 1), ValueError, "grid: "),
        ((1.5, 1), TypeError, "grid: 1.5 is no whole number"),
        (("1", 1), TypeError, "grid: '1' is no whole number"),
        (((1, 1, 1, 1), 1), ValueError, "grid=.*: one, two or three numbers"),
        ((1, 1, -1), ValueError, "shared memory: -1 is not from 0"),
    ],
)
def test_shapes_that_cannot_be(scale, shape, error, words):
    with pytest.raises(error, match=words):
        scale[shape]


def test_a_grid_that_no_device_has(scale):
    for shape in ((1, 2000), ((1, 70000), 1), (1, (1, 1, 65)), (1, 1, 1 << 30)):
        with pytest.raises(warpstep.InputError):
            scale[shape](floats(), 4)
    # One that devices have, and that would take years: a limit ends it.
    with pytest.raises(warpstep.LimitReached):
        idle = warpstep.Module(HEAD + ".entry idle() { ret; }")["idle"]
        idle[(2**31 - 1, 65535, 65535), 1024](timeout=0.2)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"check": "races,rases"}, ValueError, 'check="rases": there are uninit, bounds, '),
        ({"control": "cpu"}, ValueError, 'control="cpu": there are crs, its, its-split, thread'),
        ({"memory": "dram"}, ValueError, 'memory="dram": there are flat, fermi'),
        ({"memory": "fermi", "split": True}, ValueError, "has no lanes that access it one by one"),
        ({"warp_size": 64}, warpstep.InputError, "a warp has 1 to 32 threads"),
        ({"seed": -1}, OverflowError, "negative"),
        ({"timeout": -1}, ValueError, "timeout: seconds, above 0"),
        ({"timeout": 0}, ValueError, "timeout: seconds, above 0"),
        ({"max_steps": 0}, ValueError, "max_steps=0: a limit is a number above 0"),
        ({"max_memory": 0}, ValueError, "max_memory=0: a limit is a number above 0"),
        ({"sede": 1}, TypeError, "there is no option `sede`"),
        ({"check": "deterministic"}, warpstep.InputError, "one run is not compared with others"),
        ({"check": "liveness", "seed": 1}, warpstep.InputError, "a random schedule never repeats: leave the seed out"),
    ],
)
def test_options_that_mean_nothing(scale, options, error, words):
    with pytest.raises(error, match=words):
        scale[1, 4](floats(), 4, **options)


def test_a_kernel_without_blocks_and_threads_says_what_it_wants(scale):
    with pytest.raises(TypeError, match=r"how many blocks, of how many threads\? `scale\[grid, block\]\(…\)` launches"):
        scale(floats(), 4)


def test_arguments_by_name_are_no_options(scale):
    with pytest.raises(TypeError, match="no option `scale_x`; arguments of the kernel are given in their order"):
        scale[1, 4](scale_x=floats(), scale_n=4)


def test_advice_names_options_and_not_flags(spin):
    for options, words in (
        ({"timeout": 0.05}, "raise `timeout` to go on longer"),
        ({"max_steps": 5}, "raise `max_steps` to go on longer"),
        ({"max_memory": 1}, "raise `max_memory`$"),
    ):
        with pytest.raises(warpstep.LimitReached, match=words) as raised:
            spin[1, 1](np.zeros(1, np.uint32), **options)
        assert "--" not in str(raised.value)
    # What a program says is its own.
    text = "   │ st.global [%rd1], 1; // --max-steps\n   │ Help: try --check bounds\n"
    shown = '   │ st.global [%rd1], 1; // --max-steps\n   │ Help: try `check="bounds"`\n'
    assert str(warpstep._errors.made("defect", "race", text)) == shown


def test_texts_that_are_no_ptx(tmp_path):
    with pytest.raises(warpstep.InputError, match="Error") as raised:
        warpstep.Module(HEAD + ".entry k() { mov.u32 %r1, 0; }", "wrong.ptx")
    assert raised.value.file == "wrong.ptx" and raised.value.line == 4 and isinstance(raised.value, ValueError)
    with pytest.raises(warpstep.InputError, match=r"none.ptx"):
        warpstep.Module.from_file(tmp_path / "none.ptx")
    with pytest.raises(TypeError, match=r"made of a text of PTX, not of PosixPath: for a file, from_file\(path\)"):
        warpstep.Module(tmp_path)
    for text in ("", "\0", "é" * 100, "{" * 10000, ".version 8.0"):
        with pytest.raises(warpstep.Error):
            warpstep.Module(text)["k"]
    with pytest.raises(KeyError, match="scale.ptx has no kernel 'scael'; its kernels: scale"):
        warpstep.Module(SCALE, "scale.ptx")["scael"]


def test_a_module_that_was_freed_says_so():
    with warpstep.Module(SCALE, "scale.ptx") as module:
        kernel = module["scale"]
    for use in (lambda: kernel[1, 4](floats(), 4), lambda: module["scale"], lambda: list(module), lambda: module.text):
        with pytest.raises(ValueError, match="the module scale.ptx was closed: make it again"):
            use()
    assert repr(module) == "<Module scale.ptx, closed>"


def test_a_module_may_be_freed_while_it_runs(spin):
    module = warpstep.Module(spin.module.text)
    kernel = module["spin"]
    timer = threading.Timer(0.1, module.close)
    timer.start()
    with pytest.raises(warpstep.LimitReached):
        kernel[1, 1](np.zeros(1, np.uint32), timeout=0.4)
    timer.join()


def test_searches_of_what_is_no_kernel(scale):
    for wrong in ("scale", scale.module):
        with pytest.raises(TypeError, match="a kernel of a module is wanted"):
            warpstep.hunt(wrong, grid=1, block=1)
    with pytest.raises(TypeError, match="give the kernel itself"):
        warpstep.prove(scale[1, 1], grid=1, block=1)
    with pytest.raises(TypeError, match="args are a tuple"):
        warpstep.hunt(scale, grid=1, block=1, args=floats())
    with pytest.raises(ValueError, match="seeds=-1, first_seed=0: neither is below 0"):
        warpstep.hunt(scale, grid=1, block=1, args=(floats(), 4), seeds=-1)
    with pytest.raises(TypeError, match="first_seed: 1.5 is no whole number"):
        warpstep.hunt(scale, grid=1, block=1, args=(floats(), 4), first_seed=1.5)


def test_an_exception_in_expect_is_that_of_the_search(count):
    def expect(x):
        raise LookupError("nothing is known of it")

    zero = np.zeros(1, np.uint32)
    for search in (warpstep.hunt, warpstep.prove, warpstep.compare):
        with pytest.raises(LookupError, match="nothing is known of it"):
            search(count, grid=1, block=64, args=(zero,), expect=expect)
    with pytest.raises(TypeError, match="`expect` gave an array: give one truth value"):
        warpstep.hunt(count, grid=1, block=64, args=(zero,), seeds=3, expect=lambda x: x == np.ones(1))
    with pytest.raises(SystemExit):
        warpstep.hunt(count, grid=1, block=64, args=(zero,), seeds=3, expect=lambda x: sys.exit(3))


def test_expectations_that_do_not_fit(count):
    zero = np.zeros(1, np.uint32)
    with pytest.raises(ValueError, match="expect has 2 entries, and the kernel 1 array"):
        warpstep.hunt(count, grid=1, block=64, args=(zero,), expect=[None, None])
    with pytest.raises(ValueError, match=r"expect has shape \(2,\) for `arg0`, which has \(1,\)"):
        warpstep.hunt(count, grid=1, block=64, args=(zero,), expect=np.zeros(2, np.uint32))
    with pytest.raises(TypeError, match="expect is code or arrays, not a text"):
        warpstep.hunt(count, grid=1, block=64, args=(zero,), expect="right")


def test_schedules_of_others_are_refused(count, scale):
    zero = np.zeros(1, np.uint32)
    found = warpstep.hunt(count, grid=1, block=64, args=(zero,), seeds=100, expect=[np.full(1, 2, np.uint32)])
    schedule = found.findings[0].schedule
    with pytest.raises(warpstep.InputError) as raised:
        warpstep.replay(scale, schedule, grid=1, block=4, args=(floats(), 4))
    assert raised.value.code == "schedule-program"
    with pytest.raises(warpstep.InputError) as raised:
        warpstep.replay(count, schedule, grid=1, block=64, args=(np.ones(1, np.uint32),))
    assert raised.value.code == "schedule-setup"
    with pytest.raises(warpstep.InputError):
        warpstep.replay(count, "schedule", grid=1, block=64, args=(zero,))
    with pytest.raises(warpstep.InputError):
        warpstep.replay(count, schedule[:-20], grid=1, block=64, args=(zero,))
    with pytest.raises(warpstep.Defect) as defect:
        scale[1, 32](floats(), 4)
    with pytest.raises(ValueError, match="this defect has no schedule"):
        warpstep.replay(scale, defect.value, grid=1, block=32, args=(floats(), 4))


def test_threads_launch_at_the_same_time(scale):
    def launch(_: int) -> float:
        x = floats(256)
        for _ in range(20):
            scale[1, 256](x, 255, check="races")
            x /= 2
        return float(x.sum())

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(launch, range(16))) == [256.0] * 16


def test_the_lock_is_released_while_a_kernel_runs(spin):
    ticks = 0
    over = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not over.wait(0.005):
            ticks += 1

    thread = threading.Thread(target=tick)
    thread.start()
    with pytest.raises(warpstep.LimitReached):
        spin[1, 1](np.zeros(1, np.uint32), timeout=0.5)
    over.set()
    thread.join()
    assert ticks > 20


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_launches_and_hunts(count, scale):
    zero = np.zeros(1, np.uint32)
    warpstep.hunt(count, grid=1, block=64, args=(zero,), seeds=10)
    child = os.fork()
    if child == 0:
        try:
            x = floats(8)
            scale[1, 8](x, 7)
            found = warpstep.hunt(count, grid=1, block=64, args=(zero,), seeds=100, expect=lambda x: x[0] == 2)
            os._exit(0 if (x == 2).all() and len(found.findings) == 1 else 1)
        except BaseException:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


INTERRUPTED = """
import _thread, signal, sys, threading, time
import numpy as np, warpstep
kernel = warpstep.Module(sys.argv[1])[sys.argv[2]]
search = {
    "launch": lambda: kernel[1, 64](np.zeros(1, np.uint32), check=sys.argv[4]),
    "hunt": lambda: warpstep.hunt(kernel, grid=1, block=64, args=(np.zeros(1, np.uint32),), seeds=10**9),
    "judged": lambda: warpstep.hunt(
        kernel, grid=1, block=64, args=(np.zeros(1, np.uint32),), seeds=10**9, expect=lambda x: True),
    "prove": lambda: warpstep.prove(kernel, grid=16, block=64, warp_size=1, args=(np.zeros(1, np.uint32),)),
    "compare": lambda: warpstep.compare(kernel, grid=16, block=64, args=(np.zeros(1, np.uint32),), max_states=10**9),
}[sys.argv[3]]
threading.Timer(1.0, lambda: (print(time.monotonic(), flush=True), signal.raise_signal(signal.SIGINT))).start()
try:
    search()
except KeyboardInterrupt:
    print(time.monotonic())
    sys.exit(7)
sys.exit(0)
"""


@pytest.mark.parametrize(
    ("text", "name", "what", "check"),
    [
        ("SPIN", "spin", "launch", ""),
        ("SPIN", "spin", "launch", "races"),
        ("COUNT", "count", "hunt", ""),
        ("COUNT", "count", "judged", ""),
        ("COUNT", "count", "prove", ""),
        ("COUNT", "count", "compare", ""),
    ],
)
def test_ctrl_c_ends_it_in_a_fraction_of_a_second(text, name, what, check):
    import conftest

    command = [sys.executable, "-c", INTERRUPTED, getattr(conftest, text), name, what, check]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 7, done.stdout + done.stderr
    begun, ended = map(float, done.stdout.split())
    assert ended - begun < 0.8


def test_an_error_of_warpstep_itself_is_an_exception():
    with pytest.raises(warpstep.InternalError, match="an error of warpstep itself, please report it: it cannot be"):
        warpstep._warpstep.panics("it cannot be")
