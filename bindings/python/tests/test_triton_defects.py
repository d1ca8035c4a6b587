"""Defects of Triton's kernels: each is told with its line of Python."""

from __future__ import annotations

import multiprocessing
import re
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

triton = pytest.importorskip("triton", reason="Triton is not installed")
tl = pytest.importorskip("triton.language", reason="Triton is not installed")

import warpstep  # noqa: E402
import warpstep.triton  # noqa: E402
from conftest import line_of  # noqa: E402


def told(error: warpstep.Error, kernel, text: str) -> bool:
    """Whether an error names the line of Python."""
    line = line_of(kernel.fn, text)
    named = error.source_file == __file__ and error.source_line == line
    return named and f"{__file__}:{line}: " in str(error) and text in str(error)


@triton.jit
def masked_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + at, mask=inside)
    tl.store(y_ptr + at, x, mask=inside)


@triton.jit
def unmasked_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tl.store(y_ptr + at, x, mask=at < n)


@triton.jit
def overrun_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(y_ptr + at, x)


@pytest.mark.parametrize(
    ("kernel", "text", "name", "write"),
    [
        (unmasked_kernel, "x = tl.load(x_ptr + at)", "x_ptr", False),
        (overrun_kernel, "tl.store(y_ptr + at, x)", "y_ptr", True),
    ],
)
@pytest.mark.parametrize("n", [100, 252])
def test_a_mask_that_is_not_there(kernel, text, name, write, n):
    x, y = np.ones((2, n), np.float32)
    with warpstep.triton.here(), pytest.raises(warpstep.Defect) as raised:
        kernel[(2,)](x, y, n, BLOCK=128)
    assert raised.value.code == "out-of-bounds" and told(raised.value, kernel, text)
    assert f"the end of buffer `{name}` of {4 * n} bytes" in str(raised.value)
    assert ("write" if write else "read") in str(raised.value).splitlines()[0]
    with warpstep.triton.here(check="bounds"):
        masked_kernel[(2,)](x, y, n, BLOCK=128)


def test_bounds_of_views():
    storage = np.ones(256, np.float32)
    x, y = storage[:100], np.zeros(128, np.float32)
    with warpstep.triton.here():
        with pytest.raises(warpstep.Defect, match="the end of buffer `x_ptr` of 400 bytes"):
            unmasked_kernel[(1,)](x, y, 100, BLOCK=128)
        with warpstep.triton.here(bounds="storage"):
            unmasked_kernel[(1,)](x, y, 100, BLOCK=128)
            with pytest.raises(warpstep.Defect, match="out-of-bounds"):
                unmasked_kernel[(3,)](x, y, 100, BLOCK=128)
        # With holes between its elements it has the bounds of its storage.
        unmasked_kernel[(1,)](storage[::2][:100], y, 100, BLOCK=128)


@triton.jit
def stale_kernel(table_ptr, out_ptr):
    x_ptr = tl.load(table_ptr).to(tl.pointer_type(tl.float32))
    tl.store(out_ptr, tl.load(x_ptr))


@pytest.mark.parametrize("address", [0, 64, 0x10_0000, 0x7FFF_0000_0000, -8])
def test_addresses_of_nothing(address):
    with warpstep.triton.here(), pytest.raises(warpstep.Defect) as raised:
        stale_kernel[(1,)](np.array([address]), np.zeros(1, np.float32))
    assert told(raised.value, stale_kernel, "tl.store(out_ptr, tl.load(x_ptr))")


def test_an_address_that_nobody_was_asked_for():
    x = np.ones(4, np.float32)
    with warpstep.triton.here() as door:
        table = np.array([x.ctypes.data])
        with pytest.raises(warpstep.Defect):
            stale_kernel[(1,)](table, np.zeros(1, np.float32))
        table[0] = door.address(x)
        stale_kernel[(1,)](table, np.zeros(1, np.float32))
        # Once it is gone it is not there any more.
        del x
        with pytest.raises(warpstep.Defect):
            stale_kernel[(1,)](table, np.zeros(1, np.float32))


@triton.jit
def assert_kernel(x_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.device_assert(x < 9, "too large")


def test_assertions():
    with warpstep.triton.here():
        assert_kernel[(1,)](np.arange(32), N=32)
        with pytest.raises(warpstep.Defect) as raised:
            assert_kernel[(1,)](np.arange(32), N=32, debug=True)
    assert raised.value.code == "assertion" and "`too large` failed at" in str(raised.value)
    assert told(raised.value, assert_kernel, "tl.device_assert")


@triton.jit
def sum_kernel(x_ptr, total_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    tl.store(total_ptr, tl.load(total_ptr) + tl.sum(x, axis=0))


@triton.jit
def atomic_sum_kernel(x_ptr, total_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    tl.atomic_add(total_ptr, tl.sum(x, axis=0))


def test_a_race_of_blocks():
    x, total = np.ones(128, np.int32), np.zeros(1, np.int32)
    with warpstep.triton.here(check="races"):
        with pytest.raises(warpstep.Defect) as raised:
            sum_kernel[(2,)](x, total, BLOCK=64, num_warps=1)
        assert total[0] == 0, "memory is as it was"
        atomic_sum_kernel[(2,)](x, total, BLOCK=64, num_warps=1)
    assert raised.value.code == "race" and "`total_ptr`" in str(raised.value)
    assert told(raised.value, sum_kernel, "tl.store(total_ptr, tl.load(total_ptr)")
    assert raised.value.other is not None


def right(x, total):
    return None if total[0] == 128 else f"the sum is {total[0]}"


def test_hunts_of_a_launch():
    x, total = np.ones(128, np.int32), np.zeros(1, np.int32)
    with warpstep.triton.here():
        racy = warpstep.triton.prepare(sum_kernel[(2,)], x, total, BLOCK=64, num_warps=1)
        assert total[0] == 0 and "sum_kernel" in repr(racy) and ".entry sum_kernel" in racy.ptx
        hunted = racy.hunt(seeds=50, expect=right)
        [finding] = hunted.findings
        assert finding.defect.code == "mismatch" and str(finding) == "mismatch: the sum is 64" and total[0] == 0
        with pytest.raises(warpstep.Defect, match="the sum is 64"):
            racy.replay(finding, expect=right)
        racy.replay(finding)
        assert total[0] == 64
        total[0] = 0
        assert racy.hunt(seeds=2, check="races").findings[0].defect.code == "race"
        atomic = warpstep.triton.prepare(atomic_sum_kernel[(2,)], x, total, BLOCK=64, num_warps=1)
        assert not atomic.hunt(seeds=50, expect=right).findings
        assert atomic.run().blocks == 2 and total[0] == 128
        assert atomic.compare is not None
    with warpstep.triton.here(seeds=50, check="deterministic"):
        total[0] = 0
        with pytest.raises(warpstep.Defect, match="depend on the schedule"):
            sum_kernel[(2,)](x, total, BLOCK=64, num_warps=1)
        atomic_sum_kernel[(2,)](x, total, BLOCK=64, num_warps=1)


def test_results_of_one_schedule_are_not_compared_in_silence():
    x, total = np.ones(128, np.int32), np.zeros(1, np.int32)
    with warpstep.triton.here(check="deterministic"):
        with pytest.raises(warpstep.InputError, match="one run is not compared with others"):
            sum_kernel[(2,)](x, total, BLOCK=64, num_warps=1)
        launch = warpstep.triton.prepare(sum_kernel[(2,)], x, total, BLOCK=64, num_warps=1)
        with pytest.raises(warpstep.InputError, match="one run is not compared with others"):
            launch.run(expect=right)
        assert launch.hunt(seeds=50).findings
    assert total[0] == 0


def test_hunts_are_shared_among_workers():
    x, total = np.ones(128, np.int32), np.zeros(1, np.int32)
    with warpstep.triton.here():
        racy = warpstep.triton.prepare(sum_kernel[(2,)], x, total, BLOCK=64, num_warps=1)
        for search in ({"expect": right}, {"check": "races"}):
            alone = racy.hunt(seeds=60, **search)
            for pool in (
                ThreadPoolExecutor(2),
                ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")),
            ):
                with pool:
                    together = racy.hunt(seeds=60, executor=pool, shards=3, **search)
                assert list(map(str, together.findings)) == list(map(str, alone.findings)) != []
                assert [f.schedule for f in together.findings] == [f.schedule for f in alone.findings]
                assert together.seeds == 60 and "in 3 parts" in together.summary
    assert total[0] == 0


def test_a_proof_of_a_launch():
    x, total = np.ones(4, np.int32), np.zeros(1, np.int32)
    with warpstep.triton.here(target=80, warp_size=32):
        racy = warpstep.triton.prepare(sum_kernel[(2,)], x[:2], total, BLOCK=1, num_warps=1)
        proof = racy.prove(expect=lambda x, total: total[0] == 2, max_states=20_000)
        assert proof.holds is False
        atomic = warpstep.triton.prepare(atomic_sum_kernel[(2,)], x[:2], total, BLOCK=1, num_warps=1)
        assert atomic.prove(expect=lambda x, total: total[0] == 2, max_states=20_000).holds is True


def test_what_cannot_be_prepared():
    x, total = np.ones(128, np.int32), np.zeros(1, np.int32)
    with warpstep.triton.here():
        with pytest.raises(ValueError, match="no launch"):
            warpstep.triton.prepare(lambda: None)
        with pytest.raises(ValueError, match="2 launches"):
            warpstep.triton.prepare(lambda: [atomic_sum_kernel[(1,)](x, total, BLOCK=64) for _ in range(2)])
        with pytest.raises(TypeError, match="expect is code here"):
            warpstep.triton.prepare(atomic_sum_kernel[(1,)], x, total, BLOCK=64).hunt(expect=[total])
    with pytest.raises(RuntimeError, match="inside of"):
        warpstep.triton.prepare(atomic_sum_kernel[(1,)], x, total, BLOCK=64)
    with pytest.raises(TypeError, match="no configurations"):
        warpstep.triton.only(sum_kernel, triton.Config({}))
    with pytest.raises(ValueError, match="give a configuration"):
        warpstep.triton.only(sum_kernel)
    assert warpstep.triton.configs(sum_kernel) == []


TESTS = """
import numpy as np, triton, triton.language as tl, warpstep.triton

@triton.jit
def sum_kernel(x_ptr, total_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    tl.store(total_ptr, tl.load(total_ptr) + tl.sum(x, axis=0))

def test_sum():
    with warpstep.triton.here():
        sum_kernel[(2,)](np.ones(128, np.int32), np.zeros(1, np.int32), BLOCK=64, num_warps=1)
"""


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ([], None),
        (["--warpstep-check", "races"], "race\\] Error: data race"),
        (["--warpstep-check", "deterministic", "--warpstep-seeds", "60"], "the results depend on the schedule"),
    ],
)
def test_options_of_pytest(pytester, flags, words):
    path = pytester.makepyfile(test_sum=TESTS)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", *flags)
    if words is None:
        result.assert_outcomes(passed=1)
        return
    result.assert_outcomes(failed=1)
    said = result.stdout.str()
    assert re.search(words, said)
    if flags[1] == "races":
        assert f"{path}:6: tl.store(total_ptr, tl.load(total_ptr)" in said
        return
    command = re.search(r"see it again: pytest (.*)", said)
    assert command is not None and (pytester.path / ".warpstep").is_dir()


@triton.jit
def act_kernel(flag_ptr, out_ptr, N: tl.constexpr):
    if tl.load(flag_ptr) == 0:
        tl.store(flag_ptr, 1)
        tl.store(out_ptr + tl.arange(0, N), 1)


@triton.jit
def shift_kernel(x_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.load(x_ptr + at + 1)
    tl.store(x_ptr + at, x)


@triton.jit
def halve_kernel(x_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.load(x_ptr + at)
    tl.store(x_ptr + at, tl.where(x > 1, x / 2, x), mask=at < 30)


def test_replicas_that_use_nothing_of_what_they_read_do_not_race():
    total, x = np.zeros(1, np.int32), np.full(32, 4, np.float32)
    with warpstep.triton.here(check="races,uninit"):
        # 128 threads have 64 elements and one sum.
        sum_kernel[(1,)](np.ones(64, np.int32), total, BLOCK=64)
        halve_kernel[(1,)](x, N=32)
        assert total[0] == 64 and (x[:30] == 2).all() and (x[30:] == 4).all()
        with pytest.raises(warpstep.Defect, match="by threads of different blocks"):
            sum_kernel[(2,)](np.ones(128, np.int32), total, BLOCK=64)


@pytest.mark.parametrize("kernel", [act_kernel, shift_kernel])
def test_threads_that_act_upon_what_they_read_race(kernel):
    given = [np.zeros(1, np.int32), np.zeros(128)] if kernel is act_kernel else [np.arange(129, dtype=np.float32)]
    with warpstep.triton.here(check="races"), pytest.raises(warpstep.Defect) as raised:
        kernel[(1,)](*given, N=128)
    assert raised.value.code == "race" and raised.value.source_file == __file__


def test_loads_are_guarded_only_where_nothing_else_uses_them():
    from warpstep.triton._replicas import owned

    head = "\tmov.u32 \t%r1, %tid.x;\n\tand.b32 \t%r2, %r1, 127;\n\tsetp.lt.u32 \t%p1, %r2, 32;\n\tsetp.ne.b32 \t%p2, %r2, 0;\n"
    load = "\t@%p9 ld.global.v2.b32 { %r3, %r4 }, [ %rd1 + 0 ];\n\tadd.f32 \t%r5, %r3, %r4;\n"
    store = "\t@%p4 st.global.b32 [ %rd2 + 0 ], { %r5 };\n"

    def guarded(rest: str) -> str | None:
        changed = owned(head + load + rest)
        assert changed.count("\n") == (head + load + rest).count("\n")
        found = re.search(
            r"and\.b32 %which, %which, (\d+); .*and\.pred %owner, %owner, %also; @%owner ld\.global\.v2", changed
        )
        return found.group(1) if found else None

    assert guarded("\tand.pred \t%p4, %p8, %p1;\n" + store) == "96"
    assert guarded("\tand.pred \t%p4, %p1, %p8;\n" + store + store.replace("@%p4", "@!%p2")) == "96"
    assert guarded(store.replace("@%p4", "@!%p2")) == "127"
    assert guarded(store.replace("@%p4 ", "")) is None, "all store it"
    assert guarded("\tor.pred \t%p4, %p8, %p1;\n" + store) is None, "others may store it, too"
    assert guarded("\tand.pred \t%p4, %p8, %p1;\n" + store + "\tst.shared.b32 [ %r9 ], %r5;\n") is None
    assert guarded("\tand.pred \t%p4, %p8, %p1;\n" + store + "\tshfl.sync.bfly.b32 \t%r6, %r5, 1, 31, -1;\n") is None
    assert guarded("\tand.pred \t%p4, %p8, %p1;\n" + store + "\tsetp.eq.s32 \t%p5, %r5, 0;\n\t@%p5 bra \t$L;\n") is None
    assert guarded("\tsetp.eq.s32 \t%p5, %r5, 0;\n\tand.pred \t%p4, %p5, %p1;\n" + store) == "96"
    assert guarded("\tand.pred \t%p4, %p8, %p1;\n\tmov.pred \t%p4, %p8;\n" + store) is None, "the guard is set twice"


def test_a_file_that_has_moved_is_named_as_it_is_called_now(tmp_path):
    program = TESTS.replace("np.ones(128, np.int32)", "np.ones(64, np.int32)")
    for folder in ("first", "second"):
        path = tmp_path / folder / "moved.py"
        path.parent.mkdir()
        path.write_text(program + "\ntest_sum()\n")
        done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True)
        assert done.returncode == 1 and f"in the source: {path}:6: x = tl.load(" in done.stderr


def test_a_suite_that_knows_nothing_of_warpstep(pytester):
    unaware = TESTS.replace(", warpstep.triton", "").replace("    with warpstep.triton.here():\n    ", "")
    pytester.makepyfile(test_sum=unaware + "\nDEVICE = triton.runtime.driver.active.get_active_torch_device\n")
    flags = ("-p", "no:cacheprovider", "--warpstep-triton")
    result = pytester.runpytest_subprocess(*flags)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["warpstep: Triton for sm_80"])
    pytester.runpytest_subprocess(*flags[:-1], "--warpstep-triton=86", "--warpstep-check", "races").assert_outcomes(
        failed=1
    )
    wrong = pytester.runpytest_subprocess("--warpstep-triton=gfx90a")
    wrong.stderr.fnmatch_lines(["*--warpstep-triton gfx90a: target='gfx90a': give a number such as 80, or 'sm_80'"])


def test_the_interpreter_of_triton_is_not_what_is_asked_for(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    with pytest.raises(RuntimeError, match="TRITON_INTERPRET is set"), warpstep.triton.here():
        pass
