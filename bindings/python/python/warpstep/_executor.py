"""A hunt whose seeds are shared among the workers of an executor."""

from __future__ import annotations

import os
import pickle
import warnings
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from dataclasses import replace

from warpstep._results import Hunted, WorkersLost, merge

#: Shards of a worker, if nothing is said: a worker that is lost costs one of them.
_SHARDS = 4
#: How often a shard is given to a worker that does not come back.
_TRIES = 3

Seeds = tuple[int, int]


#: Hunts a part of the seeds, from the first to the one behind the last: what a worker is given.
Part = Callable[[Seeds], Hunted]


def hunt_on(executor: Executor, shards: int | None, part: Part, seeds: Seeds) -> Hunted:
    """Hunt in shards; the findings are those of one hunt of all seeds."""
    return _Shards(executor, part).run(_split(seeds, shards or _SHARDS * _workers(executor)))


def _workers(executor: Executor) -> int:
    """How many shards can run at a time: Dask's executor does not say it, and its client does."""
    client = getattr(executor, "_client", None)
    if client is not None and hasattr(client, "nthreads"):
        return sum(client.nthreads().values()) or 1
    return getattr(executor, "_max_workers", None) or os.cpu_count() or 1


def _split(seeds: Seeds, count: int) -> list[Seeds]:
    first, end = seeds
    count = max(1, min(count, end - first))
    edges = [first + (end - first) * k // count for k in range(count + 1)]
    return list(zip(edges[:-1], edges[1:], strict=True))


class _Shards:
    """The shards of a hunt that are under way."""

    def __init__(self, executor: Executor, part: Part) -> None:
        self.executor, self.part = executor, part
        self.own: Executor | None = None
        # A pool that breaks fails all that it was given: shards that no worker has begun are kept back.
        self.most = _workers(executor) if isinstance(executor, ProcessPoolExecutor) else float("inf")
        self.tries: dict[Seeds, int] = {}
        self.running: dict[Future[Hunted], Seeds] = {}
        self.done: dict[Seeds, Hunted] = {}

    def run(self, shards: list[Seeds]) -> Hunted:
        waiting = list(shards)
        try:
            while waiting or self.running:
                while waiting and len(self.running) < self.most:
                    if self._submit(waiting[0]):
                        waiting.pop(0)
                for future in wait(self.running, return_when=FIRST_COMPLETED).done:
                    seeds = self.running.pop(future)
                    if not self._take(future, seeds):
                        waiting.append(seeds)
        finally:
            for future in self.running:
                future.cancel()
            if self.own is not None:
                self.own.shutdown(wait=False, cancel_futures=True)
        return merge(self.done[seeds] for seeds in shards)

    def _take(self, future: Future[Hunted], seeds: Seeds) -> bool:
        """Take what a worker gave; false where it was lost, and its seeds have to be run again."""
        try:
            self.done[seeds] = future.result()
        except Exception as error:
            if isinstance(error, pickle.PicklingError) or "pickle" in str(error):
                raise _unpicklable(error) from error
            if not _is_loss(error):
                raise
            return False
        return True

    def _submit(self, seeds: Seeds) -> bool:
        """Give a shard to a worker; false where the executor has just been replaced."""
        tries = self.tries.get(seeds, 0)
        if tries >= _TRIES:
            raise self._given_up(
                f"seeds {seeds[0]} to {seeds[1] - 1} were given to {tries} workers, and none came back"
            )
        try:
            future = self.executor.submit(self.part, seeds)
        except BrokenExecutor as error:
            self._replace(error)
            return False
        if tries > 0:
            warnings.warn(f"a worker was lost: seeds {seeds[0]} to {seeds[1] - 1} are run again", stacklevel=6)
        self.tries[seeds] = tries + 1
        self.running[future] = seeds
        return True

    def _given_up(self, why: str) -> WorkersLost:
        """The end of a hunt whose seeds could not all be run, with what the others showed."""
        for future in [each for each in self.running if each.done()]:
            self._take(future, self.running.pop(future))
        found = merge(self.done[seeds] for seeds in sorted(self.done))
        return WorkersLost(why, replace(found, complete=False))

    def _replace(self, error: BrokenExecutor) -> None:
        """Go on with a pool of our own: one of `concurrent.futures` takes nothing any more once a worker was killed."""
        broken = self.executor
        if not isinstance(broken, ProcessPoolExecutor):
            raise self._given_up(f"the executor lost a worker and takes nothing any more: {error}") from None
        if self.own is not None:
            self.own.shutdown(wait=False, cancel_futures=True)
        context = getattr(broken, "_mp_context", None)
        self.executor = self.own = ProcessPoolExecutor(_workers(broken), mp_context=context)


def _is_loss(error: Exception) -> bool:
    """Whether a worker was lost, and not something wrong with the hunt. Clusters have exceptions of their own for it.

    Dask's executor asks whether a result is one after it has taken it: if the worker is lost between, it takes the result for an
    error, and fails to take it apart as one.
    """
    if isinstance(error, TypeError) and "cannot unpack" in str(error) and Hunted.__name__ in str(error):
        return True
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
