"""Autotuning without a clock, and its configurations as parameters of tests."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from triton.runtime.autotuner import Autotuner, Config

from warpstep.triton import _settings
from warpstep.triton._stream import PER_MILLISECOND

K = TypeVar("K")


def configs(kernel: Any) -> list[Config]:
    """Give the configurations that a kernel is tuned by, each to be run by itself with `only`; none without ``@triton.autotune``.

    ::

        @pytest.mark.parametrize("config", warpstep.triton.configs(matmul_kernel), ids=str)
        def test_matmul(config):
            with warpstep.triton.here(check="races"):
                warpstep.triton.only(matmul_kernel, config)[grid](a, b, c, …)
    """
    tuner = _tuner(kernel)
    return [] if tuner is None else list(tuner.configs)


def only(kernel: K, *chosen: Config) -> K:
    """Give a kernel that is tuned by these configurations only; one is taken as it is. The kernel itself stays as it was."""
    if not chosen:
        raise ValueError("give a configuration, as `configs` has them")
    if _tuner(kernel) is None:
        raise TypeError(f"{kernel!r} has no configurations: it is not decorated by triton.autotune")
    changed = copy.copy(kernel)
    at: Any = changed
    while not isinstance(at, Autotuner):
        at.fn = copy.copy(at.fn)
        at = at.fn
    at.configs, at.cache = list(chosen), {}
    return changed


def _tuner(kernel: Any) -> Autotuner | None:
    """The autotuner of a kernel, which other decorators may be around."""
    at = kernel
    while at is not None and not isinstance(at, Autotuner):
        inner = getattr(at, "fn", None)
        at = None if inner is at or not hasattr(inner, "run") else inner
    return at


def benchmark(call: Callable[[], Any], *_: Any, quantiles: Sequence[float] | None = None, **__: Any) -> Any:
    """Give what a launch costs, in place of its time, as `Settings.tune` says.

    ``"first"``: nothing runs; the first configuration that fits the device costs nothing, and others are not even compiled.
    ``"instructions"``: it runs once, and costs what it executes.
    """
    settings = _settings.current()
    if settings.tune == "instructions":
        return measured(call, quantiles=quantiles)
    if settings.fits:
        return _as_asked(float("inf"), quantiles)
    act, settings.act = settings.act, lambda launched: None
    try:
        call()
    finally:
        settings.act = act
    settings.fits = True
    return _as_asked(0.0, quantiles)


def measured(call: Callable[[], Any], *_: Any, quantiles: Sequence[float] | None = None, **more: Any) -> Any:
    """Run something once, and give the instructions that its launches execute as milliseconds: ``triton.testing.do_bench``."""
    settings = _settings.current()
    before = settings.instructions()
    for tensor in more.get("grad_to_none") or ():
        tensor.grad = None
    call()
    cost = max(settings.instructions() - before, 1) / PER_MILLISECOND
    if more.get("return_mode") == "all" and quantiles is None:
        return [cost]
    return _as_asked(cost, quantiles)


def _as_asked(cost: float, quantiles: Sequence[float] | None) -> Any:
    """A number, or as many of it as quantiles are asked for: of one run all are the same."""
    if quantiles is None or len(quantiles) == 1:
        return cost
    return [cost] * len(quantiles)
