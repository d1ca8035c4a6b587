"""The pytest plugin, in sessions of its own."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys

import pytest
from conftest import COUNT, SCALE, plugin_flags

TESTS = f"""
import numpy as np, warpstep

COUNT = warpstep.Module({COUNT!r}, "count.ptx")["count"]
SCALE = warpstep.Module({SCALE!r}, "scale.ptx")["scale"]

def test_right():
    x = np.ones(4, np.float32)
    SCALE[1, 4](x, 4)
    assert (x == 2).all()

def test_racy():
    COUNT[1, 64](np.zeros(1, np.uint32))

def test_lost(warpstep_launch):
    x = np.zeros(1, np.uint32)
    warpstep_launch(SCALE, np.ones(4, np.float32), 4, grid=1, block=4)
    warpstep_launch(COUNT, x, grid=1, block=64, expect=lambda x: x[0] == 2, names=["counter"])
    assert x[0] == 2
"""


@pytest.fixture
def session(pytester: pytest.Pytester):
    pytester.makepyfile(test_kernels=TESTS)
    return lambda *flags: pytester.runpytest_subprocess("-p", "no:cacheprovider", *flags)


def test_without_flags_tests_only_run(session):
    result = session()
    result.assert_outcomes(passed=3)
    result.stdout.no_fnmatch_line("warpstep:*")


def test_checks_look_at_every_launch(session):
    result = session("--warpstep-check", "races,bounds")
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(
        [
            "warpstep: check races,bounds",
            "*- warpstep -*",
            "*race] Error: data race*",
            "see it again: pytest test_kernels.py::test_racy --warpstep-check races,bounds",
        ]
    )


def test_seeds_find_what_the_default_schedule_does_not_show(session, pytester):
    result = session("--warpstep-seeds", "100")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        ["warpstep: 100 seeds", "*- warpstep -*", "mismatch: `expect` says that the results are wrong"]
    )
    command = re.search(r"see it again: pytest (.*)", result.stdout.str())
    assert command is not None
    words = command.group(1).split()
    assert words == [
        "test_kernels.py::test_lost",
        "--warpstep-replay",
        ".warpstep/test_kernels.py-test_lost.schedule",
    ]
    again = pytester.runpytest_subprocess("-p", "no:cacheprovider", *words)
    again.assert_outcomes(failed=1)
    again.stdout.fnmatch_lines(["warpstep: replay .warpstep/*", "mismatch: `expect` says that the results are wrong"])
    assert (pytester.path / ".warpstep" / ".gitignore").read_text() == "*\n"
    assert "nothing was replayed" not in again.stdout.str()


def test_a_schedule_that_no_launch_is_the_one_of_is_not_passed_in_silence(session, pytester):
    session("--warpstep-seeds", "100")
    replay = ("--warpstep-replay", ".warpstep/test_kernels.py-test_lost.schedule")
    nothing = "warpstep: nothing was replayed: no launch of these tests is the one of the schedule; the kernel, *"
    other = session(*replay, "-k", "right")
    other.assert_outcomes(passed=1, deselected=2)
    other.stdout.fnmatch_lines([nothing])
    assert other.ret == 1
    # As it is once the kernel was changed, and in processes of pytest-xdist, if that is there.
    pytester.makepyfile(test_kernels=TESTS.replace("add.u32 %r4, %r3, 1", "add.u32 %r4, 1, %r3"))
    processes = ("-n", "2") if importlib.util.find_spec("xdist") is not None else ()
    changed = session(*replay, *processes, "-k", "lost")
    changed.assert_outcomes(passed=1)
    changed.stdout.fnmatch_lines([nothing])
    assert changed.ret == 1
    pytester.makepyfile(test_kernels=TESTS)
    found = session(*replay, *processes, "-k", "lost")
    found.assert_outcomes(failed=1)
    assert "nothing was replayed" not in found.stdout.str()


def test_results_that_depend_on_the_schedule(session):
    result = session("--warpstep-check", "deterministic", "--warpstep-seeds", "100")
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["the results depend on the schedule*"])


@pytest.mark.parametrize(
    "flags", [(), ("--warpstep-seeds", "5"), ("--warpstep-seeds", "5", "--warpstep-check", "races")]
)
def test_a_launch_that_asks_for_a_comparison_gets_one_or_is_refused(pytester, flags):
    """The launch with a seed of its own is hunted by no other, and without flags none is."""
    pytester.makepyfile(
        test_one=f"""
        import numpy as np, pytest, warpstep
        SCALE = warpstep.Module({SCALE!r}, "scale.ptx")["scale"]
        def test_refused():
            with pytest.raises(warpstep.InputError, match="one run is not compared with others"):
                SCALE[1, 4](np.ones(4, np.float32), 4, seed=1, check="deterministic")
        def test_compared():
            SCALE[1, 4](np.ones(4, np.float32), 4, check="deterministic")
        """
    )
    compared = len(flags) > 0
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", *flags)
    result.assert_outcomes(passed=1 + compared, failed=1 - compared)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--warpstep-check", "rases"], "--warpstep-check rases: there are uninit, bounds*"),
        (["--warpstep-seeds", "-1"], "--warpstep-seeds -1: a number of seeds is not below 0"),
        (["--warpstep-replay", "none"], "--warpstep-replay none: No such file or directory"),
        (["--warpstep-check", "deterministic"], "*compares schedules: give --warpstep-seeds, too"),
    ],
)
def test_flags_that_mean_nothing(session, flags, words):
    session(*flags).stderr.fnmatch_lines([f"*{words}"])


def test_tests_with_other_names_are_quoted(pytester):
    pytester.makepyfile(
        test_named=f"""
        import numpy as np, pytest, warpstep
        SCALE = warpstep.Module({SCALE!r})["scale"]
        @pytest.mark.parametrize("n", [4], ids=["a b's"])
        def test_it(n):
            SCALE[1, 32](np.ones(4, np.float32), n)
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.stdout.fnmatch_lines([r"see it again: pytest 'test_named.py::test_it?a b'\''s?'"])


def test_sessions_that_use_nothing_of_warpstep_do_not_import_numpy(tmp_path):
    """The plugin is there in every session of an environment that the package is installed in."""
    (tmp_path / "test_other.py").write_text(
        "import sys\ndef test_other():\n    assert 'numpy' not in sys.modules and 'warpstep._module' not in sys.modules\n"
        "    assert 'warpstep.pytest_plugin' in sys.modules\n"
    )
    flags = ["-q", "-p", "no:cacheprovider", *plugin_flags()]
    command = [sys.executable, "-m", "pytest", *flags, str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def test_what_the_package_has_is_found_when_it_is_asked_for():
    code = (
        "import sys, warpstep\nassert 'numpy' not in sys.modules and 'hunt' in dir(warpstep)\n"
        "assert all(hasattr(warpstep, name) for name in warpstep.__all__) and 'numpy' in sys.modules\n"
        "assert warpstep.Run.__module__ == warpstep.Defect.__module__ == 'warpstep'\n"
        "from warpstep import *\nassert hunt is warpstep.hunt\nwarpstep.hunts\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "AttributeError: module 'warpstep' has no attribute 'hunts'" in done.stderr
