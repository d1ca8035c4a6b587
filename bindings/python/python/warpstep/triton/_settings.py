"""What holds inside of a `warpstep.triton.here`, for those who ask below it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from triton.backends.compiler import GPUTarget

from warpstep._module import Options, Run

if TYPE_CHECKING:
    from warpstep.triton._launch import Launched

#: How autotuning chooses: the first configuration that fits the device, or the one of the fewest instructions of all that are run.
Tune = Literal["first", "instructions"]


@dataclass
class Settings:
    """What launches are told, and what they have done."""

    #: The architecture that kernels are compiled for.
    target: GPUTarget
    #: Options of each launch.
    options: Options
    #: Seeds that each launch is hunted through before it runs.
    seeds: int = 0
    #: How autotuning chooses.
    tune: Tune = "first"
    #: Whether pointers have the bounds of their whole storage.
    storage: bool = False
    #: Whether ``triton.testing.perf_report`` runs its benchmarks.
    benchmarks: bool = False
    #: Properties of the device that differ from those of the target.
    properties: Mapping[str, int] = field(default_factory=dict)
    #: What is done with a launch.
    act: Callable[[Launched], Any] = lambda launched: launched.run()
    #: Whether autotuning has met a configuration that fits, where the first one is to be chosen.
    fits: bool = False
    #: Nothing else: kernels that were made ready here have it.
    mark: object = field(default_factory=object)
    #: The options as the compiled part takes them, with the checks of the pytest session that they were made for.
    native: tuple[tuple[str, ...], dict[str, Any]] | None = None
    #: The launches that ended as they should, with the names of their kernels.
    runs: list[tuple[str, Run]] = field(default_factory=list)

    def instructions(self) -> int:
        """Thread instructions of all launches until now."""
        return sum(run.thread_instructions for _, run in self.runs)


_all: list[Settings] = []


def current() -> Settings:
    """Give those that hold now."""
    if not _all:
        raise RuntimeError("this kernel was made inside of `warpstep.triton.here`: launch it inside of one")
    return _all[-1]


def push(settings: Settings) -> None:
    """Have settings hold."""
    _all.append(settings)


def pop() -> Settings:
    """Have those of before hold again."""
    return _all.pop()


def any_hold() -> bool:
    """Whether there are any."""
    return bool(_all)
