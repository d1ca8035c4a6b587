"""What goes wrong, as exceptions."""

from __future__ import annotations

import json
import re
from typing import Any

from warpstep._html import report_html


class Error(Exception):
    """What goes wrong with a module or a launch; its text is a report for people.

    `code` is the fixed name of what is wrong, such as ``"out-of-bounds"``, ``"race"`` or ``"syntax"``; `json()` gives the report as
    data. The fields that name a place and a thread are `None` where nothing is known of it.
    """

    #: Whose fault it is, as the compiled part says it.
    kind = "error"

    def __init__(self, code: str, text: str, data: str = "{}", schedule: str | None = None) -> None:
        super().__init__(text)
        #: The fixed name of what is wrong.
        self.code = code
        #: The schedule that shows it, for `replay`; `None` of a run whose schedule nobody wrote down.
        self.schedule = schedule
        self._data = data
        self._parsed: dict[str, Any] | None = None

    def json(self) -> dict[str, Any]:
        """Give the report as data, as ``warpstep run --format json`` does: docs/reports.md describes it."""
        if self._parsed is None:
            self._parsed = json.loads(self._data)
        return self._parsed

    def _message(self) -> dict[str, Any]:
        """The part of the data that is about what is wrong."""
        data = self.json()
        problems = data.get("problems")
        return problems[0] if problems else data.get("stopped") or data

    def _place(self, key: str) -> Any:
        return (self._message().get("place") or {}).get(key)

    def _thread(self, key: str) -> Any:
        message = self._message()
        waiting = message.get("waiting") or [{}]
        return (message.get("thread") or waiting[0].get("thread") or {}).get(key)

    @property
    def file(self) -> str | None:
        """The file of the instruction, as it was named to warpstep."""
        return self._place("file")

    @property
    def line(self) -> int | None:
        """The line of the instruction in it, from 1."""
        return self._place("line")

    @property
    def column(self) -> int | None:
        """The column of the instruction, from 1, in bytes."""
        return self._place("column")

    @property
    def instruction(self) -> str | None:
        """The instruction, as the PTX has it."""
        return self._thread("instruction")

    @property
    def source_file(self) -> str | None:
        """The file of the CUDA or Python source, where the PTX names it (`.loc`, which ``nvcc -lineinfo`` writes)."""
        return (self._thread("cuda") or {}).get("file")

    @property
    def source_line(self) -> int | None:
        """The line of that source."""
        return (self._thread("cuda") or {}).get("line")

    @property
    def kernel(self) -> str | None:
        """The kernel."""
        return self._thread("kernel")

    @property
    def block(self) -> tuple[int, int, int] | None:
        """The block of the thread that did it."""
        return _three(self._thread("block"))

    @property
    def thread(self) -> tuple[int, int, int] | None:
        """The thread that did it, in its block."""
        return _three(self._thread("thread"))

    @property
    def warp(self) -> int | None:
        """The warp of that thread in its block."""
        return self._thread("warp")

    @property
    def lanes(self) -> list[int] | None:
        """All lanes of the warp that did the same."""
        return self._thread("lanes")

    @property
    def other(self) -> dict[str, Any] | None:
        """The other party, where there are two, as of a race: its thread, instruction and place as data."""
        return self._message().get("other")

    def __reduce__(self) -> tuple[Any, ...]:
        return made, (self.kind, self.code, str(self), self._data, self.schedule)

    def _repr_html_(self) -> str:
        return report_html(str(self))


class InputError(Error, ValueError):
    """The PTX, the launch or its arguments are wrong: nothing ran."""

    kind = "input"


class Defect(Error, AssertionError):
    """The kernel has a defect, or left other results than expected. Its arrays are as they were before."""

    kind = "defect"


class LimitReached(Error):
    """A limit was reached first (`max_steps`, `timeout`, `max_memory`): nothing is known."""

    kind = "limit"


class Unsupported(Error, NotImplementedError):
    """The kernel needs what warpstep cannot do."""

    kind = "unsupported"


class InternalError(Error, RuntimeError):
    """An error of warpstep itself."""

    kind = "internal"


def _three(numbers: list[int] | None) -> tuple[int, int, int] | None:
    return (numbers[0], numbers[1], numbers[2]) if numbers else None


_CLASSES: dict[str, type[Error]] = {
    each.kind: each for each in (InputError, Defect, LimitReached, Unsupported, InternalError)
}


#: Flags of the command, which advice names, as options of the package.
_FLAGS = (
    (re.compile(r"--timeout, or --for,"), "`timeout`"),
    (re.compile(r"--max-memory \(and --search-memory of a search\)"), "`max_memory`"),
    (re.compile(r"--search-memory"), "`max_memory`"),
    (re.compile(r"--max-(steps|states|memory)"), r"`max_\1`"),
    (re.compile(r"--(check|benign) ([a-z0-9-]+)"), r'`\1="\2"`'),
)


def made(kind: str, code: str, text: str, data: str = "{}", schedule: str | None = None) -> Error:
    """Make the exception of a kind; the compiled part calls it, and pickle."""
    # Reports have none but in advice, and in lines of the program's own: those are shown as they are.
    if "--" in text:
        text = "".join(line if "│" in line and "Help" not in line else _advice(line) for line in text.splitlines(True))
    return _CLASSES[kind](code, text, data, schedule)


def _advice(line: str) -> str:
    for flag, option in _FLAGS:
        line = flag.sub(option, line)
    return line
