"""Where Triton's programs run on warpstep: a context."""

from __future__ import annotations

import functools
import importlib.util
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Unpack

import triton
import triton.testing
from triton.backends import Backend as Registered
from triton.backends import backends
from triton.compiler import CompiledKernel
from triton.runtime import driver
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

from warpstep._module import Options, Run, native_options
from warpstep.triton import _addresses, _settings, _torch, _tuning
from warpstep.triton._arrays import memory_of, refusal, wrapped
from warpstep.triton._backend import Backend, target_of
from warpstep.triton._changes import Changes
from warpstep.triton._driver import Driver

#: What autotuning has chosen here, by kernel: what it has chosen on a GPU, or will, is another matter.
_chosen: weakref.WeakKeyDictionary[Any, dict[Any, Any]] = weakref.WeakKeyDictionary()


class Door:
    """What a `warpstep.triton.here` gives: what its launches did."""

    def __init__(self, settings: _settings.Settings) -> None:
        self._settings = settings

    @property
    def runs(self) -> list[tuple[str, Run]]:
        """The launches that ended as they should, each with the name of its kernel, in their order."""
        return list(self._settings.runs)

    @property
    def thread_instructions(self) -> int:
        """Thread instructions of all of them."""
        return self._settings.instructions()

    @staticmethod
    def address(array: Any) -> int:
        """Give the address of an array of numpy, to be put into a table of pointers; tensors of torch give it themselves."""
        _addresses.remember(array)
        memory = memory_of(array)
        return 0 if memory is None else memory.address

    def __repr__(self) -> str:
        return f"<warpstep.triton.here: {len(self._settings.runs)} launches, {self.thread_instructions} instructions>"


@contextmanager
def here(
    *,
    target: Any = 80,
    seeds: int = 0,
    tune: _settings.Tune = "first",
    bounds: str = "tensor",
    benchmarks: bool = False,
    properties: Mapping[str, int] | None = None,
    **options: Unpack[Options],
) -> Iterator[Door]:
    """Run Triton's kernels on warpstep, with no GPU, wherever they are launched inside.

    `options` are those of a launch (``check="races"``, ``seed=7``, ``control="its"`` …), and hold for all of them. `target` is the
    architecture that kernels are compiled for; `seeds` of schedules are hunted before each launch runs.

    `tune` is how ``@triton.autotune`` chooses: ``"first"``, the first configuration that fits the device, or ``"instructions"``: all
    are run, so that their defects are found, too, and the one of the fewest instructions is chosen. `benchmarks`: whether
    ``triton.testing.perf_report`` runs what it decorates, whose times are numbers of instructions; else it says that it does not.

    `bounds` are those of pointers: ``"tensor"`` (of a tensor whose elements lie side by side, or else of its storage) or
    ``"storage"``. `properties` are those of the device that shall differ, such as ``{"multiprocessor_count": 4}``.

    ::

        with warpstep.triton.here(check="races") as door:
            add_kernel[grid](x, y, out, n, BLOCK=256)
        print(door.thread_instructions)
    """
    if tune not in ("first", "instructions"):
        raise ValueError(f'tune={tune!r}: there are "first" and "instructions"')
    if bounds not in ("tensor", "storage"):
        raise ValueError(f'bounds={bounds!r}: there are "tensor" and "storage"')
    if seeds < 0:
        raise ValueError(f"seeds={seeds}: a number of seeds is not below 0")
    if seeds and options.get("seed") is not None:
        raise ValueError(f"seed={options['seed']} is one schedule, and seeds={seeds} are many: give one of them")
    if triton.knobs.runtime.interpret:
        raise RuntimeError(
            "TRITON_INTERPRET is set: Triton's own interpreter runs kernels, and no PTX is made; unset it"
        )
    unknown = [key for key in options if key not in Options.__annotations__ or key == "names"]
    if unknown:
        raise TypeError(f"there is no option `{unknown[0]}`; arguments are called by their names in the kernel")
    native_options(options)
    settings = _settings.Settings(
        target=target_of(target),
        options=options,
        seeds=seeds,
        tune=tune,
        storage=bounds == "storage",
        benchmarks=benchmarks,
        properties=dict(properties or {}),
    )
    outermost = not _settings.any_hold()
    _settings.push(settings)
    end = _begin() if outermost else lambda: None
    try:
        yield Door(settings)
    finally:
        end()
        _settings.pop()
        if outermost:
            _addresses.forget_all()


def _begin() -> Callable[[], None]:
    """Put the compiler and the driver into their places; gives what puts back those of before."""
    changes, active, nvidia = Changes(), driver._active, backends["nvidia"]
    backends["nvidia"] = Registered(compiler=Backend, driver=Driver)
    driver.set_active(Driver())
    _change_launches(changes)
    if importlib.util.find_spec("torch") is not None:
        _change_benchmarks(changes)
    end_torch = _torch.begin()

    def end() -> None:
        end_torch()
        changes.undo()
        backends["nvidia"] = nvidia
        driver._active = active

    return end


def _change_launches(changes: Changes) -> None:
    """Have kernels take numpy arrays and be loaded once, and autotuning keep apart what it chooses here."""
    launch, tuned = JITFunction.run, Autotuner.run

    @functools.wraps(launch)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return launch(self, *map(wrapped, args), **_all_wrapped(kwargs))
        except (KeyError, TypeError) as error:
            better = refusal(error, (*args, *kwargs.values()))
            if better is None:
                raise
            raise better from None

    @functools.wraps(tuned)
    def tune(self: Any, *args: Any, **kwargs: Any) -> Any:
        before, self.cache = self.cache, _chosen.setdefault(self, {})
        _settings.current().fits = False
        try:
            return tuned(self, *map(wrapped, args), **_all_wrapped(kwargs))
        finally:
            self.cache = before

    handles = CompiledKernel._init_handles

    # Triton does it again at each launch of a kernel without a module, and here is none that could be unloaded.
    @functools.wraps(handles)
    def init(self: Any) -> None:
        mark = _settings.current().mark
        if self.__dict__.get("_warpstep_mark") is not mark:
            handles(self)
            self._warpstep_mark = mark

    changes.set(CompiledKernel, "_init_handles", init)
    changes.set(JITFunction, "run", run)
    changes.set(Autotuner, "run", tune)

    def unkept(self: Any, key: Any, configs: Any, bench: Callable[[], None]) -> bool:
        bench()
        return False

    if hasattr(Autotuner, "check_disk_cache"):
        changes.set(Autotuner, "check_disk_cache", unkept)


def _all_wrapped(kwargs: dict[str, Any]) -> dict[str, Any]:
    return {name: wrapped(value) for name, value in kwargs.items()}


def _change_benchmarks(changes: Changes) -> None:
    """Have benchmarks count instructions, and tables of them be left out unless they are asked for."""
    for name in ("do_bench", "do_bench_cudagraph"):
        changes.set(triton.testing, name, _tuning.measured)
    table = triton.testing.Mark.run

    @functools.wraps(table)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _settings.current().benchmarks:
            return table(self, *args, **kwargs)
        several = self.benchmarks if isinstance(self.benchmarks, list) else [self.benchmarks]
        for each in several:
            print(f"{each.plot_name}: not run, there is no time to be measured here")
        return None

    changes.set(triton.testing.Mark, "run", run)
