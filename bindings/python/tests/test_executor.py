"""Hunts whose seeds are shared among the workers of an executor."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

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


def test_a_cluster_finds_what_one_machine_finds(count, tmp_path):
    """100,000 seeds on two workers of Dask, one of which is killed in the midst."""
    distributed = pytest.importorskip("distributed")
    zero, seeds = np.zeros(1, np.uint32), 100_000
    launch = {"grid": 1, "block": 64, "args": (zero,), "seeds": seeds}
    alone = warpstep.hunt(count, expect=[np.full(1, 2, np.uint32)], **launch)
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        executor = client.get_executor()
        together = warpstep.hunt(count, expect=[np.full(1, 2, np.uint32)], executor=executor, **launch)
        assert told(together) == told(alone) and together.seeds == seeds
        pids = client.run(os.getpid)
        killer = threading.Timer(0.3, os.kill, (next(iter(pids.values())), signal.SIGKILL))
        killer.start()
        together = warpstep.hunt(count, expect=[np.full(1, 2, np.uint32)], executor=executor, shards=40, **launch)
        killer.join()
        assert told(together) == told(alone) and together.seeds == seeds
