"""Hunts whose seeds are shared among the workers of an executor."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections import Counter
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import warpstep

SEEDS = 400


def right(counter) -> bool:
    return bool(counter[0] == 2)


class KillsOnce:
    """Judges, and kills the first worker that does so in the midst of the seeds."""

    def __init__(self, mark: Path, always: bool = False) -> None:
        self.mark, self.always, self.parent = str(mark), always, os.getpid()

    def __call__(self, counter) -> bool:
        if os.getpid() != self.parent and (self.always or not os.path.exists(self.mark)):
            Path(self.mark).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return right(counter)


def hunted(count, executor=None, expect=right, **options):
    zero = np.zeros(1, np.uint32)
    return warpstep.hunt(
        count, grid=1, block=64, args=(zero,), seeds=SEEDS, expect=expect, executor=executor, **options
    )


def told(result):
    return [(f.seed, f.times, f.schedule, f.signature, str(f.defect)) for f in result.findings]


def pool(workers: int = 2) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))


def test_workers_find_what_one_machine_finds(count):
    alone = hunted(count)
    assert len(alone.findings) == 1 and alone.findings[0].seed == 38
    for executor in (pool(), ThreadPoolExecutor(3)):
        with executor:
            for shards in (None, 1, 7, 10 * SEEDS):
                together = hunted(count, executor, shards=shards)
                assert told(together) == told(alone)
                assert (together.seeds, together.limited, together.complete) == (SEEDS, 0, True)


def test_what_is_found_without_expectations(count):
    alone = hunted(count, expect=None, check="races")
    with ThreadPoolExecutor(2) as executor:
        assert told(hunted(count, executor, expect=None, check="races")) == told(alone)
    assert [f.seed for f in alone.findings][0] is None


def test_a_killed_worker_costs_its_share(count, tmp_path):
    alone = hunted(count)
    with pool() as executor, pytest.warns(UserWarning, match="a worker was lost: seeds"):
        together = hunted(count, executor, expect=KillsOnce(tmp_path / "killed"))
    assert (tmp_path / "killed").exists()
    assert told(together) == told(alone)


def test_what_kills_every_worker_is_told(count, tmp_path):
    with pool() as executor, pytest.warns(UserWarning), pytest.raises(RuntimeError, match="were given to 3 workers"):
        hunted(count, executor, expect=KillsOnce(tmp_path / "killed", always=True), shards=1)


class Here(Executor):
    """Runs what it is given at once, in this thread; `change` may make something else of what came out."""

    def __init__(self, change=lambda number, future: future) -> None:
        self.change, self.given = change, 0

    def submit(self, call, /, *args, **kwargs):
        future: Future = Future()
        try:
            future.set_result(call(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        self.given += 1
        return self.change(self.given, future)


def lost(future: Future) -> Future:
    """What a pool gives whose worker was killed."""
    instead: Future = Future()
    instead.set_exception(BrokenExecutor("a process was terminated abruptly"))
    return instead


def test_what_was_found_is_told_when_workers_are_lost_for_good(count):
    # The third share never comes back; the first has the finding.
    third = {3, 5, 6}
    executor = Here(lambda number, future: lost(future) if number in third else future)
    with pytest.warns(UserWarning), pytest.raises(warpstep.WorkersLost, match="200 to 299 were given to 3 w") as raised:
        hunted(count, executor, shards=4)
    so_far = raised.value.hunted
    assert (so_far.seeds, so_far.complete, so_far.findings[0].seed) == (300, False, 38)
    assert "1 distinct defect" in str(raised.value)


def test_an_executor_that_takes_nothing_any_more_is_told(count):
    class Broken(Here):
        def submit(self, call, /, *args, **kwargs):
            if self.given == 2:
                raise BrokenExecutor("no worker is left")
            return super().submit(call, *args, **kwargs)

    with pytest.raises(warpstep.WorkersLost, match="takes nothing any more: no worker is left") as raised:
        hunted(count, Broken(), shards=4)
    assert (raised.value.hunted.seeds, raised.value.hunted.findings[0].seed) == (200, 38)


def test_a_cluster_has_shards_for_all_its_threads(count):
    """Dask's executor does not say how many workers it has, and they are not those of this computer."""
    executor = Here()
    executor._client = SimpleNamespace(nthreads=lambda: {"tcp://one": 3, "tcp://another": 4})
    assert told(hunted(count, executor)) == told(hunted(count))
    assert executor.given == 4 * 7


def test_a_result_that_a_cluster_takes_for_an_error_is_asked_for_again(count):
    """Dask's executor does so with what a worker gave that was lost before it looked: it takes the result apart as an error."""

    def taken_apart(future: Future) -> Future:
        instead: Future = Future()
        try:
            _type, _error, _traceback = future.result()
        except BaseException as error:
            instead.set_exception(error)
        return instead

    executor = Here(lambda number, future: taken_apart(future) if number == 2 else future)
    with pytest.warns(UserWarning, match="seeds 100 to 199 are run again"):
        assert told(hunted(count, executor, shards=4)) == told(hunted(count))


def test_what_cannot_be_sent_is_told(count):
    with pool() as executor, pytest.raises(TypeError, match="`expect` has to be a function of a module, not a lambda"):
        hunted(count, executor, expect=lambda x: True)


def raises(counter) -> bool:
    raise AttributeError("nothing has no such attribute")


def test_exceptions_of_workers_are_those_of_the_hunt(count):
    with pool() as executor, pytest.raises(AttributeError, match="nothing has no such attribute"):
        hunted(count, executor, expect=raises)
    with pool() as executor, pytest.raises(TypeError, match="takes 1 argument "):
        warpstep.hunt(count, grid=1, block=64, args=(), seeds=10, executor=executor)


def test_parts_are_merged_by_seed(count):
    zero = np.zeros(1, np.uint32)

    def part(first, seeds):
        return warpstep.hunt(count, grid=1, block=64, args=(zero,), first_seed=first, seeds=seeds, expect=right)

    merged = warpstep.merge([part(200, 200), part(0, 200)])
    assert told(merged) == told(part(0, 400)) and merged.seeds == 400
    assert "400 seeds in 2 parts: 1 distinct defect" in merged.summary


def kill_in_the_midst(cluster, victim: int) -> threading.Thread:
    """Kill a worker of Dask once a third of the shards is done."""

    def wait_and_kill() -> None:
        while True:
            tasks = list(cluster.scheduler.tasks.values())
            if tasks and 3 * sum(task.state == "memory" for task in tasks) >= len(tasks):
                return os.kill(victim, signal.SIGKILL)
            time.sleep(0.002)

    thread = threading.Thread(target=wait_and_kill, daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize("what", ["a defect that one seed shows", "results that code judges"])
@pytest.mark.parametrize("killed", [False, True])
def test_a_cluster_finds_what_one_machine_finds(count, rare, what, killed):
    """100,000 seeds on two workers of Dask, one of which may be killed in the midst."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed: no cluster is tried")
    from distributed.diagnostics.plugin import SchedulerPlugin

    class Begun(SchedulerPlugin):
        """How often each shard was given to a worker."""

        def __init__(self) -> None:
            self.times: Counter[str] = Counter()

        def transition(self, key, start, finish, *args, **kwargs):
            self.times[key] += finish == "processing"

    word, out = np.zeros(1, np.uint32), np.zeros(1, np.uint32)
    kernel, args, expect = (count, (word,), right) if what.startswith("results") else (rare, (word, out), None)
    launch = {"grid": 1, "block": 64, "args": args, "expect": expect, "seeds": 100_000}
    alone = warpstep.hunt(kernel, **launch)
    assert [finding.times == 1 for finding in alone.findings] == [kernel is rare]
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        begun, victim = Begun(), next(iter(client.run(os.getpid).values()))
        cluster.scheduler.add_plugin(begun)
        killer = kill_in_the_midst(cluster, victim) if killed else None
        together = warpstep.hunt(kernel, executor=client.get_executor(), shards=20, **launch)
        if killer is not None:
            killer.join(10)
            assert not killer.is_alive()
            # What the lost worker had in its hands, and had not given away.
            assert 0 < sum(times > 1 for times in begun.times.values()) <= 10
        assert told(together) == told(alone) and (together.seeds, together.complete) == (100_000, True)
