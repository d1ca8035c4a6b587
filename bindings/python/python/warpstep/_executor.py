"""A hunt whose seeds are shared among the workers of an executor."""

from __future__ import annotations

import os
import pickle
import warnings
from collections.abc import Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from typing import Any

from warpstep._module import Kernel
from warpstep._searches import Hunted, hunt, merge

#: Shards of a worker, if nothing is said: a worker that is lost costs one of them.
_SHARDS = 4
#: How often a shard is given to a worker that does not come back.
_TRIES = 3

Seeds = tuple[int, int]


def hunt_on(executor: Executor, shards: int | None, kernel: Kernel, seeds: Seeds, given: Mapping[str, Any]) -> Hunted:
    """Hunt in shards; the findings are those of one hunt of all seeds."""
    return _Shards(executor, kernel, given).run(_split(seeds, shards or _SHARDS * _workers(executor)))


def _shard(kernel: Kernel, seeds: Seeds, given: Mapping[str, Any]) -> Hunted:
    """Hunt a part of the seeds: what a worker does."""
    return hunt(kernel, seeds=seeds[1] - seeds[0], first_seed=seeds[0], **given)


def _workers(executor: Executor) -> int:
    return getattr(executor, "_max_workers", None) or os.cpu_count() or 1


def _split(seeds: Seeds, count: int) -> list[Seeds]:
    first, end = seeds
    count = max(1, min(count, end - first))
    edges = [first + (end - first) * k // count for k in range(count + 1)]
    return list(zip(edges[:-1], edges[1:], strict=True))


class _Shards:
    """The shards of a hunt that are under way."""

    def __init__(self, executor: Executor, kernel: Kernel, given: Mapping[str, Any]) -> None:
        self.executor, self.kernel, self.given = executor, kernel, given
        self.own: Executor | None = None
        # A pool that breaks fails all that it was given: shards that no worker has begun are kept back.
        self.most = _workers(executor) if isinstance(executor, ProcessPoolExecutor) else float("inf")
        self.tries: dict[Seeds, int] = {}
        self.running: dict[Future[Hunted], Seeds] = {}

    def run(self, shards: list[Seeds]) -> Hunted:
        done: dict[Seeds, Hunted] = {}
        waiting = list(shards)
        try:
            while waiting or self.running:
                while waiting and len(self.running) < self.most:
                    if self._submit(waiting[0]):
                        waiting.pop(0)
                for future in wait(self.running, return_when=FIRST_COMPLETED).done:
                    seeds = self.running.pop(future)
                    try:
                        done[seeds] = future.result()
                    except Exception as error:
                        if isinstance(error, pickle.PicklingError) or "pickle" in str(error):
                            raise _unpicklable(error) from error
                        if not _is_loss(error):
                            raise
                        waiting.append(seeds)
        finally:
            for future in self.running:
                future.cancel()
            if self.own is not None:
                self.own.shutdown(wait=False, cancel_futures=True)
        return merge(done[seeds] for seeds in shards)

    def _submit(self, seeds: Seeds) -> bool:
        """Give a shard to a worker; false where the executor has just been replaced."""
        tries = self.tries.get(seeds, 0)
        if tries >= _TRIES:
            raise RuntimeError(f"seeds {seeds[0]} to {seeds[1] - 1} were given to {tries} workers, and none came back")
        try:
            future = self.executor.submit(_shard, self.kernel, seeds, self.given)
        except BrokenExecutor:
            self._replace()
            return False
        if tries > 0:
            warnings.warn(f"a worker was lost: seeds {seeds[0]} to {seeds[1] - 1} are run again", stacklevel=6)
        self.tries[seeds] = tries + 1
        self.running[future] = seeds
        return True

    def _replace(self) -> None:
        """Go on with a pool of our own: one of `concurrent.futures` takes nothing any more once a worker was killed."""
        broken = self.executor
        if not isinstance(broken, ProcessPoolExecutor):
            raise RuntimeError("the executor lost a worker and takes nothing any more") from None
        if self.own is not None:
            self.own.shutdown(wait=False, cancel_futures=True)
        context = getattr(broken, "_mp_context", None)
        self.executor = self.own = ProcessPoolExecutor(_workers(broken), mp_context=context)


def _is_loss(error: Exception) -> bool:
    """Whether a worker was lost, and not something wrong with the hunt. Clusters have exceptions of their own for it."""
    return isinstance(error, BrokenExecutor) or type(error).__name__ in (
        "KilledWorker",
        "WorkerCrashedError",
        "LostRunError",
    )


def _unpicklable(error: Exception) -> TypeError:
    return TypeError(
        f"the hunt cannot be sent to the executor's workers ({error}): `expect` has to be a function of a module, not a "
        "lambda or a local one; or give the arrays that are expected, or an executor of threads"
    )
