"""Ways for programs of Numba's to come to warpstep, and what is wrong use."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("numba_cuda", reason="numba-cuda is not installed")

import warpstep
import warpstep.numba
from conftest import plugin_flags
from cuda.core._utils.cuda_utils import CUDAError
from numba import cuda
from numba.cuda import CUSource

pytestmark = pytest.mark.filterwarnings("ignore::Warning")
needs_no_gpu = pytest.mark.skipif(cuda.is_available(), reason="this computer has a GPU, or warpstep stands for one")


@cuda.jit
def increase(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


@needs_no_gpu
def test_outside_numba_is_as_it_was():
    from numba.cuda.cudadrv import driver, error

    before = {name: getattr(driver, name) for name in ("Linker", "ObjectCode", "ExperimentalDevice")}
    x = np.zeros(4)
    with warpstep.numba.device():
        assert cuda.is_available() and len(cuda.gpus) == 1
        increase[1, 4](x)
        kept = cuda.to_device(x)
    assert {name: getattr(driver, name) for name in before} == before
    assert not cuda.is_available()
    with pytest.raises((error.CudaSupportError, Exception), match="driver"):
        cuda.to_device(x)
    with warpstep.numba.device():
        assert kept.copy_to_host().tolist() == [1] * 4
    del kept


def test_contexts_nest_and_choose_the_compute_capability():
    @cuda.jit
    def nothing():
        pass

    with warpstep.numba.device():
        assert cuda.get_current_device().compute_capability == (8, 0)
        with warpstep.numba.device((9, 0)):
            assert cuda.get_current_device().compute_capability == (9, 0)
            nothing[1, 1]()
            assert ".target sm_90" in next(iter(nothing.inspect_asm().values()))
        assert cuda.get_current_device().compute_capability == (8, 0)
        nothing[1, 1]()
    with pytest.raises(ValueError, match="two numbers"), warpstep.numba.device("nine"):
        pass


@needs_no_gpu
def test_the_decorator_needs_no_context():
    @warpstep.numba.jit
    def plain(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] *= 2

    @warpstep.numba.jit("void(float64[::1])", check="races", cc=(7, 5))
    def eager(x):
        x[cuda.grid(1)] *= 3

    @warpstep.numba.jit(device=True)
    def five():
        return 5

    @warpstep.numba.jit()
    def calls(x):
        x[cuda.grid(1)] = five()

    @warpstep.numba.jit(check="races")
    def racing(x):
        x[0] += 1

    x = np.ones(4)
    plain[1, 4](x)
    plain.forall(4)(x)
    eager[1, 4, 0, 16](x)
    assert x.tolist() == [12] * 4 and not cuda.is_available()
    calls.configure(1, 4)(x)
    assert x.tolist() == [5] * 4
    assert ".target sm_75" in next(iter(eager.inspect_asm().values()))
    with pytest.raises(warpstep.Defect, match="race"):
        racing[1, 4](x)
    assert warpstep.numba.hunt(racing[1, 4], (x,), seeds=3).findings


def test_cuda_c_is_linked():
    source = """
    extern "C" __device__ int scaled(int *result, int x) { *result = 3 * x; return 0; }
    """
    with warpstep.numba.device():
        scaled = cuda.declare_device("scaled", "int32(int32)", link=CUSource(source))

        @cuda.jit
        def use(x):
            i = cuda.grid(1)
            x[i] = scaled(x[i])

        x = np.arange(4, dtype=np.int32)
        use[1, 4](x)
        assert x.tolist() == [0, 3, 6, 9]


def test_machine_code_is_unsupported_in_words():
    from numba.cuda import Cubin

    with warpstep.numba.device():
        there = cuda.declare_device("there", "int32(int32)", link=Cubin(b"\x7fELF", name="there.cubin"))

        @cuda.jit
        def use(x):
            x[0] = there(1)

        with pytest.raises(warpstep.Unsupported, match=r"`there.cubin` is a cubin, which has machine code"):
            use[1, 1](np.zeros(1, np.int32))


def test_threads_launch_at_a_time():
    def work(k):
        x = np.full(64, k)
        for _ in range(5):
            increase[2, 32](x)
        return (x == k + 5).all()

    with warpstep.numba.device(), concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(8)))

    def race():
        with pytest.raises(warpstep.Defect, match="data race"):
            racy[1, 4](np.zeros(1))
        with warpstep.numba.options(check=""):
            racy[1, 4](np.zeros(1))

    @cuda.jit
    def racy(x):
        x[0] += 1

    # What is looked for is looked for in threads, too.
    with warpstep.numba.device(check="races"), concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(race).result()


def _child(queue):
    x = np.zeros(4)
    increase[1, 4](x)
    queue.put(x.tolist())


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_forked_process_goes_on():
    with warpstep.numba.device():
        increase[1, 4](np.zeros(4))
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        child = context.Process(target=_child, args=(queue,))
        child.start()
        assert queue.get(timeout=60) == [1] * 4
        child.join()


def python(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NUMBA_DISABLE_PERFORMANCE_WARNINGS": "1", **variables}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=environment, check=False)


PROGRAM = """
import sys
import numpy as np
from numba import cuda

@cuda.jit
def total(x, out):
    out[0] += x[cuda.grid(1)]

x, out = np.arange(4), np.zeros(1, np.int64)
total[1, 4](x, out)
print(sys.argv[1:], cuda.get_current_device().compute_capability)
"""


def test_a_program_runs_unchanged(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    program = str(tmp_path / "program.py")
    ran = python("-m", "warpstep.numba", "--cc", "8.6", program, "--flag", "7")
    assert ran.stdout == "['--flag', '7'] (8, 6)\n", ran.stderr
    found = python("-m", "warpstep.numba", "--check", "races", program)
    assert found.returncode == 1 and f"in the source: {program}:8: out[0] += x[cuda.grid(1)]" in found.stderr
    for words, says in (
        (("--check", "rases", program), 'error: check="rases": there are uninit, bounds, '),
        (("--cc", "nine", program), "error: cc='nine': a compute capability is two numbers"),
        (("none.py",), "error: there is no none.py"),
    ):
        refused = python("-m", "warpstep.numba", *words)
        assert refused.returncode == 2 and says in refused.stderr and "Traceback" not in refused.stderr, refused.stderr


def test_without_numba_it_is_said_what_to_install():
    code = "import sys; sys.modules['numba_cuda'] = None; sys.modules['numba'] = None; import warpstep.numba"
    ran = python("-c", code)
    assert "ImportError: Numba's support of CUDA is not installed: pip install 'numba-cuda[cu13]'" in ran.stderr
    ran = python("-c", "import warpstep.numba", NUMBA_ENABLE_CUDASIM="1")
    assert "NUMBA_ENABLE_CUDASIM is set" in ran.stderr


def test_pytest_has_a_switch(tmp_path):
    (tmp_path / "test_it.py").write_text(
        PROGRAM + "\ndef test_total():\n    total[1, 4](x, out)\n    assert out[0] >= 0\n"
    )
    flags = ["-q", "-p", "no:cacheprovider", *plugin_flags()]
    ran = python("-m", "pytest", *flags, "--warpstep-numba", str(tmp_path / "test_it.py"))
    assert "1 passed" in ran.stdout, ran.stdout
    ran = python(
        "-m", "pytest", *flags, "--warpstep-numba-cc=9.0", "--warpstep-check=races", str(tmp_path / "test_it.py")
    )
    assert "1 failed" in ran.stdout and "data race" in ran.stdout, ran.stdout
    ran = python("-m", "pytest", *flags, "--warpstep-numba-cc=nine", str(tmp_path / "test_it.py"))
    assert ran.returncode == 4 and "a compute capability is two numbers" in ran.stderr


@needs_no_gpu
def test_another_numba_is_refused_in_words(monkeypatch):
    from numba.cuda.cudadrv import devicearray, driver

    before, functions = driver.Linker, dict(vars(driver.driver))
    with monkeypatch.context() as patch:
        patch.delattr(devicearray, "_to_strided_memory_view")
        said = "has no `numba.cuda.cudadrv.devicearray._to_strided_memory_view`"
        with pytest.raises(RuntimeError, match=said), warpstep.numba.device():
            pass
    assert driver.Linker is before and vars(driver.driver)["devices"] is functions["devices"]
    with warpstep.numba.device():
        increase[1, 4](np.zeros(4))


def test_wrong_use_is_an_exception():
    x = np.zeros(4)
    with warpstep.numba.device():
        with pytest.raises(TypeError, match=r"kernel\[grid, block\]"):
            warpstep.numba.hunt(increase, (x,))
        with pytest.raises(TypeError, match="args are a tuple"):
            warpstep.numba.hunt(increase[1, 4], x)
        with pytest.raises(ValueError, match="neither is below 0"):
            warpstep.numba.hunt(increase[1, 4], (x,), seeds=-1)
        with pytest.raises(warpstep.InputError, match="cannot be launched"):
            increase[1, 2000](x)
        # Programs catch what cuda.core raises.
        with pytest.raises(CUDAError, match="CUDA_ERROR_INVALID_VALUE") as refused:
            increase[1, 2000](x)
        for shape in ((0, 4), (1, 0), (-1, 4)):
            with pytest.raises(CUDAError, match=r"kernel `increase` cannot be launched: \w+: -?\d is not from 1"):
                increase[shape](x)
        assert refused.value.code == "launch-limit" and pickle.loads(pickle.dumps(refused.value)).code == "launch-limit"
        with pytest.raises(TypeError, match="give one truth value"):
            warpstep.numba.hunt(increase[1, 4], (x,), seeds=1, expect=lambda left: left == 1)
        with pytest.raises(warpstep.Unsupported, match="cuIpcGetMemHandle"):
            cuda.to_device(x).get_ipc_handle()
        increase[1, 4](x)
    assert x.tolist() == [1] * 4


def test_arguments_that_do_not_fit_a_signature():
    """numba-cuda takes what comes where a kernel was compiled for a signature, and a GPU reads other elements than were meant."""

    @cuda.jit
    def plus(x, y):
        i = cuda.grid(1)
        if i < x.size:
            y[i] = x[i] + 1

    one, two = np.ones(64, np.float32), np.ones((8, 8), np.float32)
    with warpstep.numba.device():
        eager = cuda.jit("void(float32[::1], float32[::1])")(plus.py_func)
        for given, words in (
            ((one,), r"kernel `\S*plus` takes 2 arguments \(x, y\), 1 was given"),
            ((one, one, one), r"kernel `\S*plus` takes 2 arguments \(x, y\), 3 were given"),
            ((one.astype(np.float64), one), "`x` is an array of float64, and the kernel was compiled for float32"),
            ((one, one.astype(np.int32)), "`y` is an array of int32, and the kernel was compiled for float32"),
            ((two, one), r"`x` is an array of 2 dimensions, and the kernel was compiled for 1"),
            ((cuda.to_device(np.ones(128, np.float32))[::2], one), "`x` has holes, and the kernel was compiled for "),
        ):
            with pytest.raises(TypeError, match=words):
                eager[1, 64](*given)
        # A view of the same bits is what it is where nothing else can be meant; a copy of the host's has no holes.
        y = np.zeros(128, np.float32)
        eager[1, 64](np.ones(128, np.float32)[::2], y)
        assert y.sum() == 128
        as_bytes = cuda.jit("void(uint8[::1], uint8[::1])")(plus.py_func)
        as_bytes[1, 64](np.zeros(64, bool), np.zeros(64, np.int8))


def test_expectations_that_do_not_fit():
    x = np.zeros(4)
    with warpstep.numba.device():
        for expect, error, words in (
            ([None, None], ValueError, "expect has 2 entries, and the kernel 1 array"),
            ([np.ones(3)], ValueError, r"expect has shape \(3,\) for `x`, which has \(4,\)"),
            ("right", TypeError, "expect is code or arrays, not a text"),
        ):
            with pytest.raises(error, match=words):
                warpstep.numba.hunt(increase[1, 4], (x,), seeds=1, expect=expect)
        with pytest.raises(TypeError, match="seeds: '3' is no whole number"):
            warpstep.numba.hunt(increase[1, 4], (x,), seeds="3")


def test_a_function_of_c_that_returns_nothing():
    source = """
    extern "C" __device__ void nothing(int x) { asm volatile("membar.gl;"); }
    """
    with warpstep.numba.device():
        nothing = cuda.declare_device("nothing", "void(int32)", link=CUSource(source), abi="c")

        @cuda.jit
        def use(x):
            nothing(x[0])
            x[0] = 7

        x = np.zeros(1, np.int32)
        use[1, 1](x)
        assert x[0] == 7


@cuda.jit
def count_up(counter, others):
    if cuda.laneid == 0:
        counter[0] += 1
        others[cuda.threadIdx.x // 32, 0] = 1


def counted(counter, others) -> bool:
    return bool(counter[0] == 2 and (others[:, 0] == 1).all() and others.strides == (8, 4))


def told(hunted):
    return [(f.seed, f.times, f.schedule, str(f.defect)) for f in hunted.findings]


WANTED = [np.full(1, 2, np.int32), np.array([[1, 0], [1, 0]], np.int32)]


@pytest.mark.parametrize("expect", [None, counted, WANTED], ids=["races", "code", "arrays"])
def test_hunts_are_shared_among_workers(expect):
    counter, others = np.zeros(1, np.int32), np.zeros((2, 2), np.int32)
    with warpstep.numba.device():
        others = cuda.to_device(others)
        search = {"seeds": 200, "expect": expect, "check": "" if expect else "races"}
        launch = count_up[1, 64]
        alone = warpstep.numba.hunt(launch, (counter, others), **search)
        assert alone.findings and alone.findings[0].defect.kernel == (None if expect else "count_up")
        spawn = multiprocessing.get_context("spawn")
        for pool in (
            concurrent.futures.ThreadPoolExecutor(2),
            concurrent.futures.ProcessPoolExecutor(2, mp_context=spawn),
        ):
            with pool:
                together = warpstep.numba.hunt(launch, (counter, others), executor=pool, shards=5, **search)
            assert told(together) == told(alone) and together.seeds == 200 and "in 5 parts" in together.summary
        assert counter[0] == 0 and others.copy_to_host().sum() == 0
