"""Many schedules of a launch: hunted, proved, compared, replayed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from warpstep import _session, _warpstep
from warpstep._arguments import Arguments, Described
from warpstep._errors import Error, InputError
from warpstep._module import Dimensions, Kernel, Launch, Options, Run, Shape, native_options, shaped
from warpstep._results import Comparison, Finding, Hunted, Proof, Seen, finding_of, hunted_of


class _Target:
    """A launch that many schedules are run of."""

    def __init__(
        self,
        kernel: Kernel,
        shape: tuple[Dimensions, Dimensions, int],
        args: Sequence[Any] | Mapping[str, Any],
        options: Mapping[str, Any],
    ) -> None:
        if isinstance(kernel, Launch):
            raise TypeError("give the kernel itself, and its shape by grid= and block=")
        if not isinstance(kernel, Kernel):
            raise TypeError(f"a kernel of a module is wanted, not {type(kernel).__name__}")
        self.kernel, self.shape = kernel, shaped(*shape)
        others = dict(options)
        names = others.pop("names", None)
        if isinstance(args, Mapping):
            names, args = list(args), list(args.values())
        elif not isinstance(args, (tuple, list)):
            raise TypeError("args are a tuple, or a mapping from names to arguments")
        self.taken = kernel.arguments(args, names)
        self.options = native_options(others)

    @property
    def given(self) -> tuple[_warpstep.Module, str, Any]:
        return self.kernel.module.native, self.kernel.name, self.shape


def hunt(
    kernel: Kernel,
    *,
    grid: Dimensions,
    block: Dimensions,
    shared: int = 0,
    args: Sequence[Any] | Mapping[str, Any] = (),
    seeds: int = 1000,
    first_seed: int = 0,
    expect: Any = None,
    rtol: float | None = None,
    jobs: int | None = None,
    executor: Executor | None = None,
    shards: int | None = None,
    **options: Unpack[Options],
) -> Hunted:
    """Run the default schedule and one for each seed, and give every distinct defect, by its smallest seed.

    `args` are those of a launch, or a mapping whose keys are what messages call them; arrays stay as they are.

    `expect` says what is right at the end: an array for each array of `args` (`None`: anything), floats within `rtol` of it; or
    code that is called with the arrays that a run left, on several threads, and is true, or `None`, when they are right: it may
    also give a text that says what is wrong, or assert.

    `jobs` is the number of threads of this computer, all of them if nothing is said. With an `executor` of
    `concurrent.futures` (processes, or those of a cluster) its workers share the seeds, in so many `shards`; the findings are
    those that one machine gives. A worker that is killed costs its share, which another one runs again.

    >>> module = Module('''.version 7.0 .target sm_70 .address_size 64
    ...     .entry count(.param .u64 counter) {
    ...         .reg .b64 %a; .reg .b32 %r;
    ...         ld.param.u64 %a, [counter];
    ...         ld.global.u32 %r, [%a];
    ...         add.u32 %r, %r, 1;
    ...         st.global.u32 [%a], %r;
    ...         ret;
    ...     }''')
    >>> import numpy as np
    >>> zero = np.zeros(1, dtype=np.uint32)
    >>> hunted = hunt(module["count"], grid=2, block=1, args=(zero,), seeds=100, expect=lambda x: x[0] == 2)
    >>> [finding.defect.code for finding in hunted.findings]
    ['mismatch']
    """
    numbers = seeded(first_seed, seeds)
    on = Workers(executor, shards, jobs)
    target = _Target(kernel, (grid, block, shared), args, dict(options, jobs=on.jobs))
    described, judge = target.taken.expecting(expect)
    ready = Ready(kernel, target.shape, described, target.options, judge, rtol)
    return on.hunt(ready, numbers)


def seeded(first_seed: Any, seeds: Any) -> tuple[int, int]:
    """Give the first of so many seeds, and the one behind the last."""
    for name, number in (("seeds", seeds), ("first_seed", first_seed)):
        if not hasattr(number, "__index__"):
            raise TypeError(f"{name}: {number!r} is no whole number")
    if seeds < 0 or first_seed < 0:
        raise ValueError(f"seeds={seeds}, first_seed={first_seed}: neither is below 0")
    return int(first_seed), int(first_seed) + int(seeds)


@dataclass(frozen=True, slots=True)
class Ready:
    """A launch that is ready to be hunted, here or, by pickle, in another process: each call hunts a part of the seeds."""

    kernel: Kernel
    shape: Shape
    #: Its arguments as the compiled part takes them.
    described: list[Described]
    options: dict[str, Any]
    #: What judges the results.
    judge: Callable[[list[bytes]], str | None] | None
    rtol: float | None = None

    def __call__(self, seeds: tuple[int, int]) -> Hunted:
        """Hunt from the first of the seeds to the one behind the last."""
        target = (self.kernel.module.native, self.kernel.name, self.shape)
        return hunted_of(_warpstep.hunt(*target, self.described, self.options, self.judge, self.rtol, seeds))

    def __reduce__(self) -> tuple[Any, ...]:
        # Memory that somebody else owns goes as a copy.
        described = [
            tuple(np.asarray(part) if isinstance(part, memoryview) else part for part in each)
            for each in self.described
        ]
        return Ready, (self.kernel, self.shape, described, self.options, self.judge, self.rtol)


@dataclass(frozen=True, slots=True)
class Workers:
    """Who hunts: threads of this computer, or the workers of an executor."""

    executor: Executor | None
    shards: int | None
    #: Threads, or those of each worker; all that there are if nothing is said, and one of a worker.
    threads: int | None

    @property
    def jobs(self) -> int | None:
        """The option of a hunt that says so."""
        return self.threads if self.executor is None else self.threads or 1

    def hunt(self, ready: Ready, seeds: tuple[int, int]) -> Hunted:
        """Hunt from the first of the seeds to the one behind the last."""
        if self.executor is None:
            return ready(seeds)
        from warpstep._executor import hunt_on

        return hunt_on(self.executor, self.shards, ready, seeds)


def prove(
    kernel: Kernel,
    *,
    grid: Dimensions,
    block: Dimensions,
    shared: int = 0,
    args: Sequence[Any] | Mapping[str, Any] = (),
    expect: Any = None,
    rtol: float | None = None,
    progress: str = "fair",
    max_states: int | None = None,
    **options: Unpack[Options],
) -> Proof:
    """Go through all states of a launch, under every schedule that is fair as `progress` says.

    `progress` is whom the scheduler promises that it goes on: ``"fair"`` (all blocks), ``"hsa"``, ``"obe"``, ``"lobe"`` or
    ``"unfair"``. `max_states` ends it. `args` and `expect` are as of `hunt`.

    >>> module = Module('''.version 7.0 .target sm_70 .address_size 64
    ...     .entry add(.param .u64 counter) {
    ...         .reg .b64 %a;
    ...         ld.param.u64 %a, [counter];
    ...         red.global.add.u32 [%a], 1;
    ...         ret;
    ...     }''')
    >>> import numpy as np
    >>> zero = np.zeros(1, dtype=np.uint32)
    >>> prove(module["add"], grid=2, block=2, args=(zero,), expect=[np.full(1, 4, np.uint32)]).holds
    True
    """
    target = _Target(kernel, (grid, block, shared), args, dict(options, progress=progress, max_states=max_states))
    described, judge = target.taken.expecting(expect)
    holds, findings, states, summary = _warpstep.prove(*target.given, described, target.options, judge, rtol)
    return Proof(holds, tuple(map(finding_of, findings)), states, summary)


def compare(
    kernel: Kernel,
    *,
    grid: Dimensions,
    block: Dimensions,
    shared: int = 0,
    args: Sequence[Any] | Mapping[str, Any] = (),
    expect: Any = None,
    rtol: float | None = None,
    seeds: int = 200,
    max_states: int | None = None,
    **options: Unpack[Options],
) -> Comparison:
    """Go through all states of a launch under every control model and memory, and show what it comes to under which.

    Where there are more than `max_states` (100,000 if nothing is said), `seeds` random schedules look for more. `timeout` is for
    all models together. `control`, `memory` and `split` are what is compared, and cannot be chosen.
    """
    _none_is_chosen(options)
    target = _Target(kernel, (grid, block, shared), args, dict(options, max_states=max_states))
    described, judge = target.taken.expecting(expect)
    defect, seen, text, data = _warpstep.compare(*target.given, described, target.options, judge, rtol, seeds)
    return Comparison(defect, tuple(Seen(*each) for each in seen), text, data)


def replay(
    kernel: Kernel,
    schedule: str | Finding | Error | Seen,
    *,
    grid: Dimensions,
    block: Dimensions,
    shared: int = 0,
    args: Sequence[Any] | Mapping[str, Any] = (),
    expect: Any = None,
    rtol: float | None = None,
    **options: Unpack[Options],
) -> Run:
    """Run a schedule again that `hunt`, `prove` or `compare` found: its defect is raised.

    Everything else has to be as it was then: the module, the launch, what the arrays hold. A run that ends as it should leaves its
    results in the arrays, as a launch does.
    """
    text, options = _schedule_of(schedule, options)
    target = _Target(kernel, (grid, block, shared), args, options)
    return _replayed(target.given, target.taken, target.options, text, (expect, rtol))


def _none_is_chosen(options: Mapping[str, Any]) -> None:
    """Refuse options that choose what a comparison goes through all of."""
    chosen = [key for key in ("control", "memory", "split", "seed") if key in options]
    if chosen:
        raise ValueError(f"{chosen[0]}: all models and schedules are compared; use `prove` or `hunt` for one of them")


def _schedule_of(schedule: str | Finding | Error | Seen, options: Options) -> tuple[str, Options]:
    """The text of a schedule that was found, and the options of a run of it: the models are those that it was found under."""
    if isinstance(schedule, Seen):
        models = Options(control=schedule.control, memory=schedule.memory, split=schedule.split)
        options = {**models, **options}
    text = schedule if isinstance(schedule, str) else schedule.schedule
    if text is None:
        raise ValueError("this defect has no schedule: the same launch, with the same seed, shows it again")
    return text, options


def _replayed(
    target: tuple[_warpstep.Module, str, Any],
    taken: Arguments,
    options: dict[str, Any] | None,
    schedule: str,
    expected: tuple[Any, float | None],
) -> Run:
    module, name, shape = target
    expect, rtol = expected
    described, judge = taken.expecting(expect)
    try:
        run = Run(*module.replay(name, shape, described, options, schedule, judge, rtol))
    except Error as error:
        if not isinstance(error, InputError):
            error.schedule = schedule
        raise
    taken.finish()
    return run


def launch_expecting(launch: Launch, args: Sequence[Any], expect: Any, options: Mapping[str, Any]) -> Run:
    """Launch as the pytest session asks, where `expect` judges the results of each schedule: what the plugin's fixture does."""
    others = dict(options)
    taken = launch.kernel.arguments(args, others.pop("names", None))
    session = _session.current or _session.Session()
    run = launch_in_session(session, launch, taken, native_options(others), expect)
    taken.finish()
    return run


def launch_in_session(
    session: _session.Session, launch: Launch, taken: Arguments, options: dict[str, Any] | None, expect: Any = None
) -> Run:
    """Launch as a pytest session asks: a schedule of its is replayed, or seeds are hunted first."""
    target = (launch.kernel.module.native, launch.kernel.name, launch.shape)
    described, judge = taken.expecting(expect)
    # A launch that asks for it where nothing is compared is told so. A session that does has launches with a seed of their own, too.
    compared = session.schedule is not None or "deterministic" in session.check
    if session.schedule is not None:
        session.replays.append(launch.kernel.name)
        try:
            return _replayed(target, taken, options, session.schedule, (expect, None))
        except InputError as error:
            # Other launches of the test are not those of the schedule.
            if error.code not in ("schedule-program", "schedule-setup"):
                raise
            session.replays.pop()
    elif session.seeds > 0 and "seed" not in (options or {}):
        hunted_of(_warpstep.hunt(*target, described, options, judge, None, (0, session.seeds))).raise_defect()
        compared = True
    single = dict(options or {})
    single["check"] = [check for check in single.get("check", []) if check != "deterministic" or not compared]
    return Run(*target[0].run(target[1], target[2], described, single, judge))
