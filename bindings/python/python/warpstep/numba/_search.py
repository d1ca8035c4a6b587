"""Many schedules of a launch of Numba's: hunted, proved, compared, replayed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from warpstep import _warpstep
from warpstep._arguments import wanted_arrays
from warpstep._errors import Error
from warpstep._module import Options, Run, native_options
from warpstep._results import Comparison, Finding, Hunted, Proof, Seen, finding_of
from warpstep._searches import Ready, Workers, _none_is_chosen, _replayed, _schedule_of, seeded
from warpstep.numba._dispatcher import Configured
from warpstep.numba._launch import HERE, Packed, Prepared
from warpstep.numba._seam import SEAM


class _Done(BaseException):
    """Ends a launch of Numba's that a search has taken over: no result is written back. No code of Numba's catches it."""

    def __init__(self, result: Any) -> None:
        super().__init__()
        self.result = result


def _instead(launch: Any, args: Sequence[Any], search: Callable[[Prepared], Any]) -> Any:
    """Have Numba prepare a launch, and search it instead of running it."""
    if not isinstance(args, (tuple, list)):
        raise TypeError("args are a tuple of the kernel's arguments")
    if not callable(launch) or hasattr(launch, "py_func"):
        raise TypeError("a kernel with its shape is wanted, such as kernel[grid, block]")
    around = launch.owner._device() if isinstance(launch, Configured) else nullcontext()

    def take(prepared: Prepared) -> Run:
        raise _Done(search(prepared))

    before = SEAM.open(None)
    HERE.instead = take
    try:
        with around:
            (launch.configured if isinstance(launch, Configured) else launch)(*args)
    except _Done as done:
        return done.result
    finally:
        HERE.instead = None
        SEAM.close(before)
    raise TypeError(f"{launch!r} has launched no kernel: give kernel[grid, block]")


def _options(prepared: Prepared, given: Any) -> dict[str, Any]:
    return {**(prepared.options or {}), **native_options(given)}


def _target(prepared: Prepared) -> tuple[_warpstep.Module, str, Any]:
    return prepared.launch.kernel.module.native, prepared.launch.kernel.name, prepared.launch.shape


def _told(prepared: Prepared, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(replace(finding, defect=prepared.told(finding.defect)) for finding in findings)


def _judging(expect: Any, rtol: float | None, taken: Packed) -> Any:
    """What judges the arrays that a run left: code, or the arrays that are wanted."""
    if expect is None or callable(expect):
        return expect
    wanted, arrays = wanted_arrays(expect), taken.seen
    if len(wanted) != len(arrays):
        has = f"{len(arrays)} array{'' if len(arrays) == 1 else 's'}"
        raise ValueError(f"expect has {len(wanted)} entries, and the kernel {has}: give None for one that may be")
    for want, seen in zip(wanted, arrays, strict=True):
        if want is not None and np.shape(want) != seen.shape:
            raise ValueError(f"expect has shape {np.shape(want)} for `{seen.name}`, which has {seen.shape}")
    return _Wanted(wanted, rtol)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Compares the arrays that a run left with those that are wanted."""

    wanted: list[Any]
    rtol: float | None

    def __call__(self, *left: Any) -> str | None:
        rtol = self.rtol
        for number, (want, has) in enumerate(zip(self.wanted, left, strict=True)):
            if want is None:
                continue
            same = np.allclose(has, want, rtol=rtol, atol=0, equal_nan=True) if rtol else np.array_equal(has, want)
            if not same:
                return f"array {number} of the arguments is {has!r}, not {want!r}"
        return None


def hunt(
    launch: Any,
    args: Sequence[Any] = (),
    *,
    seeds: int = 1000,
    first_seed: int = 0,
    expect: Any = None,
    rtol: float | None = None,
    jobs: int | None = None,
    executor: Executor | None = None,
    shards: int | None = None,
    **options: Unpack[Options],
) -> Hunted:
    """Run a launch by the default schedule and one for each seed: `warpstep.hunt` of ``hunt(kernel[grid, block], (x, n))``.

    Numba compiles and prepares it as ever; arrays of the host and of the device stay as they are. `expect` says what is right at the
    end: code that is called with the arrays among the arguments, in their order, or these arrays. Workers of an `executor` are given
    the PTX and what the device's memory holds; they have to have numba-cuda only where there is an `expect`.
    """
    numbers = seeded(first_seed, seeds)

    def search(prepared: Prepared) -> Hunted:
        on = Workers(executor, shards, jobs)
        described, judge = prepared.taken.expecting(_judging(expect, rtol, prepared.taken))
        given = _options(prepared, dict(options, jobs=on.jobs))
        ready = Ready(prepared.launch.kernel, prepared.launch.shape, described, given, judge)
        hunted = on.hunt(ready, numbers)
        return replace(hunted, findings=_told(prepared, hunted.findings))

    found: Hunted = _instead(launch, args, search)
    return found


def prove(
    launch: Any,
    args: Sequence[Any] = (),
    *,
    expect: Any = None,
    rtol: float | None = None,
    progress: str = "fair",
    max_states: int | None = None,
    **options: Unpack[Options],
) -> Proof:
    """Go through all states of a launch: `warpstep.prove`."""

    def search(prepared: Prepared) -> Proof:
        described, judge = prepared.taken.expecting(_judging(expect, rtol, prepared.taken))
        given = _options(prepared, dict(options, progress=progress, max_states=max_states))
        holds, findings, states, summary = _warpstep.prove(*_target(prepared), described, given, judge, None)
        return Proof(holds, _told(prepared, map(finding_of, findings)), states, summary)

    found: Proof = _instead(launch, args, search)
    return found


def compare(
    launch: Any,
    args: Sequence[Any] = (),
    *,
    expect: Any = None,
    rtol: float | None = None,
    seeds: int = 200,
    max_states: int | None = None,
    **options: Unpack[Options],
) -> Comparison:
    """Show what a launch comes to under every control model and memory: `warpstep.compare`."""

    def search(prepared: Prepared) -> Comparison:
        described, judge = prepared.taken.expecting(_judging(expect, rtol, prepared.taken))
        given = _options(prepared, dict(options, max_states=max_states))
        _none_is_chosen(given)
        defect, seen, text, data = _warpstep.compare(*_target(prepared), described, given, judge, None, seeds)
        return Comparison(defect, tuple(Seen(*each) for each in seen), text, data)

    found: Comparison = _instead(launch, args, search)
    return found


def replay(
    launch: Any,
    schedule: str | Finding | Error | Seen,
    args: Sequence[Any] = (),
    *,
    expect: Any = None,
    rtol: float | None = None,
    **options: Unpack[Options],
) -> Run:
    """Run a schedule again that one of these found: its defect is raised. Arrays stay as they are."""
    text, options = _schedule_of(schedule, options)

    def search(prepared: Prepared) -> Run:
        given = _options(prepared, options)
        judging = _judging(expect, rtol, prepared.taken)
        return _replayed(_target(prepared), prepared.taken, given, text, (judging, None))

    found: Run = _instead(launch, args, search)
    return found


__all__ = ["compare", "hunt", "prove", "replay"]
