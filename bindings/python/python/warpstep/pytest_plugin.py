"""The pytest plugin: checks and seeds for every launch of a test, and reports of what they find.

``pytest --warpstep-triton`` has Triton's kernels run here in all tests.
``pytest --warpstep-check races,bounds --warpstep-seeds 100`` looks for races and accesses of other arrays in each launch, under the
default schedule and a hundred others. A test that fails shows the report and the command that repeats its schedule. The fixture
`warpstep_launch` launches a kernel with code that judges the results of every schedule.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Unpack

import pytest

from warpstep import _session
from warpstep._errors import Error
from warpstep._warpstep import CHECKS

if TYPE_CHECKING:
    from warpstep._module import Dimensions, Kernel, Options, Run

#: Where schedules of failed tests are kept, below the folder that pytest was started in.
FOLDER = ".warpstep"


class LaunchFixture(Protocol):
    """What the fixture `warpstep_launch` gives."""

    def __call__(
        self,
        kernel: Kernel,
        *args: Any,
        grid: Dimensions,
        block: Dimensions,
        shared: int = 0,
        expect: Any = None,
        **options: Unpack[Options],
    ) -> Run:
        """Launch a kernel as the session asks; `expect` judges the results of every schedule, as of `warpstep.hunt`."""
        ...


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the plugin's flags."""
    group = parser.getgroup("warpstep", "kernels that run without a GPU")
    group.addoption(
        "--warpstep-check",
        metavar="CHECKS",
        default="",
        help=f"look for these in every launch, divided by commas: {', '.join(CHECKS)}",
    )
    group.addoption(
        "--warpstep-seeds",
        metavar="N",
        type=int,
        default=0,
        help="hunt every launch through N random schedules before it runs",
    )
    group.addoption(
        "--warpstep-triton",
        metavar="TARGET",
        nargs="?",
        const="80",
        default=None,
        help="have Triton's kernels run on warpstep in all tests, compiled for this architecture (80)",
    )
    group.addoption(
        "--warpstep-numba",
        action="store_true",
        help="programs of numba.cuda run on warpstep",
    )
    group.addoption(
        "--warpstep-numba-cc",
        metavar="CC",
        default=None,
        help="the same, compiled for this compute capability, such as 9.0",
    )
    group.addoption(
        "--warpstep-replay",
        metavar="FILE",
        default=None,
        help="repeat this schedule in the launch of a test that it is of",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse flags that mean nothing, and take the place of a GPU, before any test is collected."""
    if _session_of(config).schedule is not None:
        config.pluginmanager.register(_Replays())
    _triton(config)
    _numba(config)


#: A property of reports of tests that a schedule was replayed in: it comes from the processes of pytest-xdist, too.
_REPLAYED = "warpstep-replayed"


class _Replays:
    """Notices that no launch was the one of the schedule: tests that pass then say nothing about the defect."""

    def __init__(self) -> None:
        self.seen = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note whether it was replayed in this test."""
        self.seen |= any(name == _REPLAYED for name, _ in report.user_properties)

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Let the session fail, but for those of processes of pytest-xdist, which each have a part of the tests."""
        if not self.seen and exitstatus == pytest.ExitCode.OK and not hasattr(session.config, "workerinput"):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say why."""
        if not self.seen:
            said = "no launch of these tests is the one of the schedule; the kernel, its shape or its arrays may have changed"
            terminalreporter.write_line(f"warpstep: nothing was replayed: {said}", red=True)


def _triton(config: pytest.Config) -> None:
    """Put Triton's door into its place, if it is asked for."""
    target = config.getoption("--warpstep-triton")
    if target is None:
        return
    try:
        from warpstep.triton import here

        door = here(target=target)
        door.__enter__()
    except (ImportError, ValueError, RuntimeError) as error:
        raise pytest.UsageError(f"--warpstep-triton {target}: {error}") from None

    def leave() -> None:
        door.__exit__(None, None, None)

    config.add_cleanup(leave)


def _numba(config: pytest.Config) -> None:
    """Put Numba's door into its place, if it is asked for."""
    capability = config.getoption("--warpstep-numba-cc")
    if capability is None and not config.getoption("--warpstep-numba"):
        return
    try:
        import warpstep.numba

        warpstep.numba.install(capability)
    except (ImportError, ValueError, RuntimeError) as error:
        raise pytest.UsageError(f"--warpstep-numba: {error}") from None


def _session_of(config: pytest.Config) -> _session.Session:
    check = [each.strip() for each in config.getoption("--warpstep-check").split(",") if each.strip()]
    unknown = [each for each in check if each not in CHECKS]
    if unknown:
        raise pytest.UsageError(f"--warpstep-check {unknown[0]}: there are {', '.join(CHECKS)}")
    seeds = config.getoption("--warpstep-seeds")
    if seeds < 0:
        raise pytest.UsageError(f"--warpstep-seeds {seeds}: a number of seeds is not below 0")
    if "deterministic" in check and seeds == 0:
        raise pytest.UsageError("--warpstep-check deterministic compares schedules: give --warpstep-seeds, too")
    path, schedule = config.getoption("--warpstep-replay"), None
    if path is not None:
        try:
            schedule = Path(path).read_text()
        except OSError as error:
            raise pytest.UsageError(f"--warpstep-replay {path}: {error.strerror}") from None
    return _session.Session(check=check, seeds=seeds, schedule=schedule)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Let the launches of a test know what is asked of them."""
    _session.current = _session_of(item.config)
    try:
        return (yield)
    finally:
        _session.current = None


@pytest.fixture
def warpstep_launch() -> LaunchFixture:
    """Launch a kernel with what the session asks: ``warpstep_launch(kernel, x, n, grid=4, block=256, expect=…)``."""

    def launch(
        kernel: Kernel,
        *args: Any,
        grid: Dimensions,
        block: Dimensions,
        shared: int = 0,
        expect: Any = None,
        **options: Unpack[Options],
    ) -> Run:
        from warpstep._searches import launch_expecting

        return launch_expecting(kernel[grid, block, shared], args, expect, options)

    return launch


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Show the report of a kernel's error in a section of its own, with the command that repeats its schedule."""
    report = yield
    error = call.excinfo.value if call.excinfo is not None else None
    if _session.current is not None and _session.current.replays:
        report.user_properties.append((_REPLAYED, True))
    if isinstance(error, Error):
        report.sections.append(("warpstep", str(error) + "\n\n" + _again(item, error)))
    return report


def _again(item: pytest.Item, error: Error) -> str:
    """The command that shows the error again."""
    flags = [item.nodeid if re.fullmatch(r"[\w./:-]+", item.nodeid) else "'" + item.nodeid.replace("'", "'\\''") + "'"]
    check = item.config.getoption("--warpstep-check")
    if check:
        flags.append(f"--warpstep-check {check}")
    if error.schedule is not None:
        flags.append(f"--warpstep-replay {_saved(item, error.schedule)}")
    return "see it again: pytest " + " ".join(flags)


def _saved(item: pytest.Item, schedule: str) -> str:
    """Keep a schedule in a file."""
    folder = item.config.invocation_params.dir / FOLDER
    folder.mkdir(exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n")
    path = folder / (re.sub(r"[^\w.-]+", "-", item.nodeid).strip("-")[-120:] + ".schedule")
    path.write_text(schedule)
    return str(path.relative_to(item.config.invocation_params.dir))


def pytest_report_header(config: pytest.Config) -> Sequence[str]:
    """Say what launches are asked, at the head of the session."""
    asked = _session_of(config)
    parts = [f"check {','.join(asked.check)}"] if asked.check else []
    parts += [f"{asked.seeds} seeds"] if asked.seeds else []
    target = config.getoption("--warpstep-triton")
    parts += [f"Triton for sm_{target.removeprefix('sm_')}"] if target is not None else []
    capability = config.getoption("--warpstep-numba-cc")
    parts += [f"numba.cuda for {capability or '8.0'}"] if capability or config.getoption("--warpstep-numba") else []
    parts += [f"replay {config.getoption('--warpstep-replay')}"] if asked.schedule else []
    return [f"warpstep: {', '.join(parts)}"] if parts else []
