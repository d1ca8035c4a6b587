"""tinygrad's own tests with the library in place of its emulator, each file in a process of its own: a table of what came out.

    python tinygrad_suite.py ~/tinygrad --library libwarpstep_ptx.so                 # test/backend and what else needs a device
    python tinygrad_suite.py ~/tinygrad --library libwarpstep_ptx.so backend/test_o  # some files of it
    python tinygrad_suite.py ~/tinygrad --library libwarpstep_ptx.so --why --skips   # with reasons of failures and of skips
    python tinygrad_suite.py ~/tinygrad --library libwarpstep_ptx.so --together      # all in one process: sooner done

A launch that fails ends the process, by which no test passes on wrong data. The test that ran then is counted as `died`, and the
others of its file are run in a new process: every test has an outcome. It is a plugin for pytest, too, which notes outcomes as
they come.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, Iterator

#: What runs kernels on the device that is under test. tinygrad's other folders test the parts in front of that.
PLACES = ("test/backend", "test/opt", "test/device", "test/test_tiny.py")
OUTCOMES = ("passed", "skipped", "xfailed", "failed", "died")
#: The variable that names the file in which the plugin notes outcomes.
NOTES = "TINYGRAD_SUITE_NOTES"


def note(**what: object) -> None:
    with open(os.environ[NOTES], "a") as notes:
        notes.write(json.dumps(what) + "\n")


def pytest_runtest_logstart(nodeid: str) -> None:
    note(test=nodeid, outcome="died", why="the process ended while it ran")


def pytest_runtest_logreport(report: Any) -> None:
    note(test=report.nodeid, seconds=report.duration)
    if hasattr(report, "wasxfail"):
        outcome = "xfailed" if report.skipped else "failed"
        note(test=report.nodeid, outcome=outcome, why=report.wasxfail or "it was expected to fail")
    elif report.outcome != "passed":
        note(test=report.nodeid, outcome=report.outcome, why=_why(report))
    elif report.when == "teardown":
        # Unless something before said otherwise.
        note(test=report.nodeid, outcome="passed", why="")


def pytest_unconfigure() -> None:
    """Exit codes do not tell: pytest has 1 for failed tests, and the library for a defect."""
    Path(os.environ[NOTES]).with_suffix(".end").touch()


def pytest_collectreport(report: Any) -> None:
    """A file that cannot be imported is a failure, and one that asks to be skipped as a whole is a skip."""
    if report.outcome != "passed":
        note(test=report.nodeid, outcome=report.outcome, why=_why(report))


def _why(report: Any) -> str:
    if report.outcome == "skipped" and isinstance(report.longrepr, tuple):
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash else str(report.longrepr)
    wrong = [line for line in text.splitlines() if line.strip()]
    # pytest shows what cannot be imported with the error last.
    return re.sub(r"\s+", " ", " ".join(wrong[:3] if crash else wrong[-2:]))[:300]


Found = dict[str, tuple[str, str]]


def read(notes: Path) -> tuple[Found, Counter[str]]:
    """The outcome of each test and why, and the seconds of each file. Of a test's notes the first that says more than that it began
    counts."""
    found: Found = {}
    seconds: Counter[str] = Counter()
    for line in notes.read_text().splitlines() if notes.exists() else ():
        new = json.loads(line)
        if "seconds" in new:
            seconds[new["test"].split("::")[0]] += new["seconds"]
        elif found.get(new["test"], ("died", ""))[0] == "died":
            found[new["test"]] = (new["outcome"], new["why"])
    return found, seconds


class Suite:
    """How the tests are run."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        own = str(Path(__file__).resolve().parent)
        paths = [str(given.tinygrad), own, *filter(None, [os.environ.get("PYTHONPATH")])]
        self.environment = {**os.environ, "DEV": given.dev, "PYTHONPATH": os.pathsep.join(paths)}
        self.environment["OCELOT_PATH"] = str(given.library.resolve())

    def files(self) -> Iterator[str]:
        for place in self.given.place or PLACES:
            path = self.given.tinygrad / place
            for file in sorted(path.rglob("test_*.py")) if path.is_dir() else [path]:
                name = str(file.relative_to(self.given.tinygrad))
                if not self.given.words or any(word in name for word in self.given.words):
                    yield name

    def run(self, files: list[str], notes: Path, log: Path, done: list[str]) -> str:
        """Runs the tests of files but for those that are done. Why that did not come to its end, or nothing."""
        command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "-p", "tinygrad_suite"]
        command.append("--continue-on-collection-errors")
        left_out = [flag for test in done for flag in ("--deselect", test)]
        with log.open("w") as out:
            try:
                ended = subprocess.run(
                    [*command, *self.given.flag, *left_out, *files], cwd=self.given.tinygrad, stdout=out, stderr=out,
                    env={**self.environment, NOTES: str(notes)}, timeout=self.given.seconds, check=False,
                )
            except subprocess.TimeoutExpired:
                return f"not done after {self.given.seconds} seconds"
        end = notes.with_suffix(".end")
        if not end.exists():
            return self.last(log, ended.returncode)
        end.unlink()
        return ""

    @staticmethod
    def last(log: Path, code: int) -> str:
        """What a process said before it died: the report of a launch, or its last line."""
        text = re.sub(r"\x1b\[[\d;]*m", "", log.read_text(errors="replace"))
        lines = [line for line in text.splitlines() if line.strip()]
        report = next((line for line in reversed(lines) if re.search(r"\b([Ee]rror:|Fatal )", line)), None)
        return f"exit code {code}: {report or (lines or ['no word'])[-1]}"[:300]

    def outcomes(self, files: list[str]) -> tuple[Found, Counter[str]]:
        """The outcomes of files and their seconds. A process that dies is followed by one for what it did not come to."""
        with tempfile.TemporaryDirectory() as work:
            notes, log = Path(work) / "notes", Path(work) / "log"
            told: dict[str, str] = {}
            while True:
                before, _ = read(notes)
                ended = self.run(files, notes, log, list(before))
                found, seconds = read(notes)
                new = [test for test in found if test not in before]
                if not ended:
                    return {test: (how, told.get(test, why)) for test, (how, why) in found.items()}, seconds
                if not new:
                    return {**found, f"{files[0]}::": ("died", ended)}, seconds
                told |= {test: ended for test in new if found[test][0] == "died"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tinygrad", type=Path, help="the folder of tinygrad")
    parser.add_argument("--library", type=Path, required=True, help="libwarpstep_ptx.so")
    parser.add_argument("--dev", default="MOCK+CUDA:PTX", help="the device, as tinygrad's DEV has it")
    parser.add_argument("--place", action="append", help="a folder or a file of tinygrad's tests, in place of the usual ones")
    parser.add_argument("--seconds", type=int, default=1800, help="the time that a process may take")
    parser.add_argument("--flag", action="append", default=[], help="a flag for pytest")
    parser.add_argument("--together", action="store_true", help="run all files in one process")
    parser.add_argument("--why", action="store_true", help="tell the reason of each failure")
    parser.add_argument("--skips", action="store_true", help="count the reasons of skips and of expected failures")
    parser.add_argument("--json", type=Path, help="write all outcomes to a file, again after each file")
    parser.add_argument("words", nargs="*", help="parts of the names of files")
    given = parser.parse_intermixed_args()
    given.tinygrad = given.tinygrad.resolve()
    suite, total, reasons = Suite(given), Counter[str](), Counter[tuple[str, str]]()
    everything: dict[str, Found] = {}
    print("| file | " + " | ".join(OUTCOMES) + " | seconds |\n|---|" + "---:|" * (len(OUTCOMES) + 1))
    files = list(suite.files())
    for group in [files] if given.together else [[file] for file in files]:
        found, seconds = suite.outcomes(group)
        for file in group:
            own = everything[file] = {test: how for test, how in found.items() if test.split("::")[0] == file}
            total += show(file, own, seconds[file], given.why)
            reasons.update((how, why) for how, why in own.values() if how in ("skipped", "xfailed"))
        if given.json:
            given.json.write_text(json.dumps(everything, indent=1))
    print("| all | " + " | ".join(str(total[outcome]) for outcome in OUTCOMES) + " | |")
    for (how, why), count in reasons.most_common() if given.skips else ():
        print(f"{count:5} {how}: {why}")
    return 1 if total["failed"] or total["died"] else 0


def show(file: str, found: Found, seconds: float, why: bool) -> Counter[str]:
    counts = Counter(how for how, _ in found.values())
    numbers = " | ".join(str(counts[outcome] or "") for outcome in OUTCOMES)
    print(f"| {file.removeprefix('test/')} | {numbers} | {seconds:.0f} |", flush=True)
    for test, (how, reason) in found.items() if why else ():
        if how in ("failed", "died"):
            print(f"  - {how}: {test.split('::', 1)[-1]}: {reason}", flush=True)
    return counts


if __name__ == "__main__":
    sys.exit(main())
