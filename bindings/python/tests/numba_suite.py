"""numba-cuda's own tests on warpstep: they come with its wheel, and are run as they are.

    python tests/numba_suite.py                      # all files, each in a process of its own: a table of what came out
    python tests/numba_suite.py cudapy/test_atomics  # some of them
    python tests/numba_suite.py --why cudapy         # with the last line of each failure
    python tests/numba_suite.py --one cudapy/test_sm -k shared      # one file as pytest shows it

They import `filecheck`; with `cffi` and `ml_dtypes` more of them run, and with `pytest-timeout` one that hangs ends.

It is a plugin for pytest, too, which opens the door before any test is collected, and has what numba-cuda's own configuration of
pytest has, which the wheel lacks.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

import pytest

FOLDERS = ("nocuda", "doc_examples", "cudadrv", "cudapy", "nrt")
#: Seconds for a test (NUMBA_SUITE_SECONDS says otherwise), and for a file.
SECONDS, FILE_SECONDS = 60, 900


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--dump-failed-filechecks", action="store_true")


def pytest_configure(config: pytest.Config) -> None:
    import warpstep.numba

    warpstep.numba.install()


class Module(pytest.Module):
    """A module of tests by its name in the package, which processes that tests start import it by, too."""

    def _getobj(self) -> object:
        return importlib.import_module(f"numba.cuda.tests.{self.path.parent.name}.{self.path.stem}")


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    if folder() in module_path.parents:
        return Module.from_parent(parent, path=module_path)
    return None


@pytest.fixture
def initialize_from_pytest_config(request: pytest.FixtureRequest) -> None:
    request.instance._dump_failed_filechecks = False


def folder() -> Path:
    import numba_cuda

    return Path(numba_cuda.__file__).parent / "numba" / "cuda" / "tests"


def chosen(words: list[str]) -> list[Path]:
    everything = sorted(path for name in FOLDERS for path in (folder() / name).glob("test_*.py"))
    return [path for path in everything if not words or any(word in str(path.with_suffix("")) for word in words)]


def command(path: Path, *flags: str) -> list[str]:
    own = ["-m", "pytest", "-p", "numba_suite", "-p", "no:cacheprovider", "--import-mode=importlib"]
    if _has_timeout():
        own += ["--timeout", os.environ.get("NUMBA_SUITE_SECONDS", str(SECONDS))]
    # Python 3.11 can fail to parse a source where an exception has come from deep below, and pytest then ends with the file half done:
    # it parses none for these tracebacks.
    return [sys.executable, *own, "--tb=native", "-o", "addopts=", "-W", "ignore", "-q", *flags, str(path)]


def _has_timeout() -> bool:
    try:
        import pytest_timeout  # noqa: F401
    except ImportError:
        return False
    return True


#: Opens the door in each process that a test starts.
SITE = """
import warpstep.numba
warpstep.numba.install()
"""


def environment(work: str) -> dict[str, str]:
    (Path(work) / "sitecustomize.py").write_text(SITE)
    paths = [work, str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def outcome(path: Path) -> tuple[Counter[str], list[tuple[str, str]]]:
    """How many tests of a file ended how, and those that failed with the last line of why."""
    with tempfile.TemporaryDirectory() as work:
        report = Path(work) / "report.xml"
        arguments = command(path, f"--junitxml={report}")
        try:
            subprocess.run(
                arguments, cwd=work, env=environment(work), capture_output=True, timeout=FILE_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return Counter(died=1), [(path.stem, f"not done after {FILE_SECONDS} seconds")]
        if not report.exists():
            return Counter(died=1), [(path.stem, "the process died, or the file was not collected")]
        cases = ElementTree.parse(report).getroot().iter("testcase")
        counts: Counter[str] = Counter()
        failed = []
        for case in cases:
            bad = next((each for each in case if each.tag in ("failure", "error")), None)
            skipped = case.find("skipped")
            if bad is not None:
                counts["failed"] += 1
                failed.append((f"{case.get('classname', '').split('.')[-1]}.{case.get('name')}", _why(bad)))
            elif skipped is not None:
                counts["xfailed" if skipped.get("type") == "pytest.xfail" else "skipped"] += 1
            else:
                counts["passed"] += 1
        return counts, failed


def _why(bad: ElementTree.Element) -> str:
    said, told = (
        [line for line in (text or "").splitlines() if line.strip()] for text in (bad.get("message"), bad.text)
    )
    lines = said or told
    if lines == ["collection failure"]:
        # What could not be imported is the last thing that is told.
        lines = told[-1:]
    return re.sub(r"\s+", " ", " ".join(lines[:2]))[:300]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--why", action="store_true", help="tell the reason of each failure")
    parser.add_argument("--one", action="store_true", help="run one file as pytest does, with what follows")
    parser.add_argument("words", nargs="*", help="parts of the paths of files")
    given, rest = parser.parse_known_args()
    if given.one:
        flags = [*given.words[1:], *rest]
        with tempfile.TemporaryDirectory() as work:
            return subprocess.call(command(chosen(given.words[:1])[0], *flags), cwd=work, env=environment(work))
    columns = ("passed", "skipped", "xfailed", "failed", "died")
    print("| file | " + " | ".join(columns) + " | seconds |\n|---|" + "---:|" * (len(columns) + 1))
    total: Counter[str] = Counter()
    for path in chosen(given.words):
        began = time.monotonic()
        counts, failed = outcome(path)
        total += counts
        name = f"{path.parent.name}/{path.stem}"
        numbers = " | ".join(str(counts[column] or "") for column in columns)
        print(f"| {name} | {numbers} | {time.monotonic() - began:.0f} |", flush=True)
        for test, why in failed if given.why else ():
            print(f"  - {test}: {why}", flush=True)
    print("| all | " + " | ".join(str(total[column]) for column in columns) + " | |")
    return 1 if total["failed"] or total["died"] else 0


if __name__ == "__main__":
    sys.exit(main())
