"""A launch that a program would make, to be hunted, proved, compared or replayed instead."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, Unpack

from warpstep import _warpstep
from warpstep._arguments import Described
from warpstep._errors import Error
from warpstep._module import Options, Run, Shape
from warpstep._results import Comparison, Finding, Hunted, Proof, Seen, finding_of
from warpstep._searches import Ready, Workers, _none_is_chosen, _schedule_of, seeded
from warpstep.triton import _settings
from warpstep.triton._launch import Launched

#: The kernel in its module with its shape; the arguments; what judges results; options; what keeps memory alive meanwhile.
_Target = tuple[_warpstep.Module, str, Shape]
_Judge = Callable[[list[bytes]], str | None] | None
_Search = tuple[_Target, list[Described], _Judge, dict[str, Any], list[Any]]


class Prepared:
    """A launch with its arguments. Searches leave tensors as they are; `run` and `replay` leave results in them.

    `expect` is code that is called with the tensors and arrays that a run left, in the order of the parameters, and is true, or
    `None`, when they are right; it may also give a text that says what is wrong, or assert.
    """

    def __init__(self, launched: Launched) -> None:
        self._launched = launched

    def run(self, *, expect: Any = None, **options: Unpack[Options]) -> Run:
        """Launch it."""
        return self._launched.run(expect, **options)

    def hunt(
        self,
        *,
        seeds: int = 1000,
        first_seed: int = 0,
        expect: Any = None,
        jobs: int | None = None,
        executor: Executor | None = None,
        shards: int | None = None,
        **options: Unpack[Options],
    ) -> Hunted:
        """Run the default schedule and one for each seed, and give every distinct defect: as of `warpstep.hunt`.

        Workers of an `executor` are given the PTX and what the tensors hold; they need Triton only where there is an `expect`.
        """
        numbers = seeded(first_seed, seeds)
        on = Workers(executor, shards, jobs)
        given, taken = self._launched.options(dict(options, jobs=on.jobs)), self._launched.taken()
        described, judge = taken.expecting(expect)
        ready = Ready(self._launched.kernel_for(given), self._launched.shape, described, given, judge)
        return on.hunt(ready, numbers)

    def prove(
        self, *, expect: Any = None, progress: str = "fair", max_states: int | None = None, **options: Unpack[Options]
    ) -> Proof:
        """Go through all its states: as of `warpstep.prove`."""
        target, described, judge, given, _owners = self._search(
            expect, dict(options, progress=progress, max_states=max_states)
        )
        holds, findings, states, summary = _warpstep.prove(*target, described, given, judge, None)
        return Proof(holds, tuple(map(finding_of, findings)), states, summary)

    def compare(
        self, *, expect: Any = None, seeds: int = 200, max_states: int | None = None, **options: Unpack[Options]
    ) -> Comparison:
        """Go through all its states under every control model and memory: as of `warpstep.compare`."""
        target, described, judge, given, _owners = self._search(expect, dict(options, max_states=max_states))
        _none_is_chosen(given)
        defect, seen, text, data = _warpstep.compare(*target, described, given, judge, None, seeds)
        return Comparison(defect, tuple(Seen(*each) for each in seen), text, data)

    def replay(self, schedule: str | Finding | Error | Seen, *, expect: Any = None, **options: Unpack[Options]) -> Run:
        """Run a schedule again that a search found, with the checks of the search: its defect is raised."""
        text, options = _schedule_of(schedule, options)
        target, described, judge, given, _owners = self._search(expect, dict(options))
        module, name, shape = target
        try:
            return Run(*module.replay(name, shape, described, given, text, judge, None))
        except Error as error:
            if error.kind != "input":
                error.schedule = text
            raise

    @property
    def ptx(self) -> str:
        """The PTX of the kernel."""
        return self._launched.kernel.module.text

    def _search(self, expect: Any, options: dict[str, Any]) -> _Search:
        given, taken = self._launched.options(options), self._launched.taken()
        described, judge = taken.expecting(expect)
        kernel = self._launched.kernel_for(given)
        return (kernel.module.native, kernel.name, self._launched.shape), described, judge, given, taken.owners

    def __repr__(self) -> str:
        return f"<prepared: {self._launched!r}>"


def prepare(launch: Callable[..., Any], *args: Any, **kwargs: Any) -> Prepared:
    """Give the one launch that a call makes, without launching: ``prepare(kernel[grid], x, y, n, BLOCK=64)``.

    `launch` may also be a function that launches a kernel once. Inside of a `here`, whose options hold for what is done with it.
    """
    settings = _settings.current()
    launches: list[Launched] = []
    act, settings.act = settings.act, launches.append
    try:
        launch(*args, **kwargs)
    finally:
        settings.act = act
    if len(launches) != 1:
        made = (
            "no launch"
            if not launches
            else f"{len(launches)} launches, of which later ones need what earlier ones leave"
        )
        raise ValueError(f"the call makes {made}: give one that launches one kernel")
    return Prepared(launches[0])
