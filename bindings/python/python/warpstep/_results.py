"""What searches of many schedules come to."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from warpstep._errors import Error, made
from warpstep._html import parts_html, report_html


@dataclass(frozen=True, slots=True)
class Finding:
    """A defect, with the schedule that shows it."""

    #: What is wrong: the exception that a launch by this schedule raises.
    defect: Error
    #: The smallest seed that shows it; `None` for the default schedule, and for what a proof found.
    seed: int | None
    #: The schedule as text, for `replay`.
    schedule: str
    #: How many seeds showed it.
    times: int
    #: What tells it from other defects of the same kernel.
    signature: str

    def __str__(self) -> str:
        return str(self.defect)

    def _repr_html_(self) -> str:
        return report_html(str(self))


class _Search:
    """What a hunt and a proof have in common."""

    __slots__ = ()
    findings: tuple[Finding, ...]
    summary: str

    def raise_defect(self) -> None:
        """Raise the first finding's defect, if there is one."""
        for finding in self.findings:
            raise finding.defect

    def __str__(self) -> str:
        return "\n".join([*map(str, self.findings), self.summary])

    def _repr_html_(self) -> str:
        return parts_html(self.summary, [report_html(str(finding)) for finding in self.findings])


@dataclass(frozen=True, slots=True)
class Hunted(_Search):
    """What a hunt came to."""

    #: The distinct defects: that of the default schedule first, then by their smallest seeds.
    findings: tuple[Finding, ...]
    #: How many seeds were run.
    seeds: int
    #: How many of these reached a limit of their own: nothing is known of them.
    limited: int
    #: Whether all seeds were run that were asked for.
    complete: bool
    #: The last line of ``warpstep hunt``.
    summary: str


class WorkersLost(RuntimeError):
    """Workers of an executor were lost again and again, so that some seeds of a hunt could not be run."""

    def __init__(self, why: str, hunted: Hunted) -> None:
        super().__init__(why, hunted)
        #: What the seeds showed that were run.
        self.hunted = hunted

    def __str__(self) -> str:
        return f"{self.args[0]}; until then: {self.hunted}"


@dataclass(frozen=True, slots=True)
class Proof(_Search):
    """What a proof came to."""

    #: Whether every schedule ends as it should; `None` when a limit was reached before anything was found.
    holds: bool | None
    #: What does not: defects, other results than expected, runs that never end.
    findings: tuple[Finding, ...]
    #: States that were gone through.
    states: int
    #: The verdict in words, with the models that it is about.
    summary: str


@dataclass(frozen=True, slots=True)
class Seen:
    """Something that a kernel comes to under a model, with a schedule that comes to it."""

    #: Its letter in the table.
    letter: str
    #: The control model.
    control: str
    #: The memory.
    memory: str
    #: Whether the lanes of an instruction access it one by one.
    split: bool
    #: The schedule, for `replay` with these three.
    schedule: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a kernel comes to under every control model and memory."""

    #: Whether some model shows a defect; `None` when none did and some were not searched to their ends.
    defect: bool | None
    #: What was seen, model by model.
    seen: tuple[Seen, ...]
    #: The table.
    text: str
    _data: str = field(repr=False)

    def json(self) -> dict[str, Any]:
        """Give the table as data, as ``warpstep compare --format json`` does."""
        data: dict[str, Any] = json.loads(self._data)
        return data

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return report_html(self.text)


def finding_of(parts: tuple[Any, ...]) -> Finding:
    seed, kind, code, text, data, schedule, times, signature = parts
    return Finding(made(kind, code, text, data, schedule), seed, schedule, times, signature)


def hunted_of(parts: tuple[Any, ...]) -> Hunted:
    findings, seeds, limited, complete, summary = parts
    return Hunted(tuple(map(finding_of, findings)), seeds, limited, complete, summary)


def merge(parts: Iterable[Hunted]) -> Hunted:
    """Make one of several hunts of the same launch whose seeds follow each other: the findings are those of one hunt of all."""
    all_parts = list(parts)
    by_signature: dict[tuple[bool, str], Finding] = {}
    for finding in (finding for part in all_parts for finding in part.findings):
        # Each part has run the default schedule, which counts once.
        key = (finding.seed is None, finding.signature)
        known = by_signature.get(key)
        if known is None:
            by_signature[key] = finding
        elif finding.seed is not None and known.seed is not None:
            first = min(known, finding, key=lambda each: each.seed or 0)
            times = known.times + finding.times
            by_signature[key] = Finding(first.defect, first.seed, first.schedule, times, first.signature)
    findings = tuple(sorted(by_signature.values(), key=lambda each: -1 if each.seed is None else each.seed))
    seeds = sum(part.seeds for part in all_parts)
    limited = sum(part.limited for part in all_parts)
    count = f"{len(findings) or 'no'} distinct defect{'' if len(findings) == 1 else 's'}"
    summary = f"hunted: the default schedule and {seeds} seeds in {len(all_parts)} parts: {count}"
    return Hunted(findings, seeds, limited, all(part.complete for part in all_parts), summary)
