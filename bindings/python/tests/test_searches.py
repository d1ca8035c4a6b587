"""Hunts, proofs, comparisons, replays."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import warpstep

TWO = np.full(1, 2, np.uint32)


def zero() -> np.ndarray:
    return np.zeros(1, np.uint32)


def lost(counter) -> str | None:
    return None if counter[0] == 2 else f"an update was lost: {counter[0]}"


@pytest.mark.parametrize("expect", [lambda x: x[0] == 2, [TWO], TWO, lost, lambda x: np.array_equal(x, TWO)])
def test_a_hunt_finds_what_some_schedules_show(count, expect):
    x = zero()
    hunted = warpstep.hunt(count, grid=1, block=64, args=(x,), seeds=100, expect=expect)
    assert x[0] == 0, "arrays stay as they are"
    assert (hunted.seeds, hunted.limited, hunted.complete) == (100, 0, True)
    [finding] = hunted.findings
    assert (finding.seed, finding.defect.code) == (38, "mismatch") and finding.times >= 1
    assert isinstance(finding.defect, warpstep.Defect) and finding.defect.schedule == finding.schedule
    assert "1 distinct defect" in str(hunted) and "1 distinct defect" in hunted._repr_html_()
    assert finding._repr_html_().startswith("<pre")
    with pytest.raises(warpstep.Defect):
        hunted.raise_defect()
    for schedule in (finding.schedule, finding, finding.defect):
        with pytest.raises(warpstep.Defect) as raised:
            warpstep.replay(count, schedule, grid=1, block=64, args=(x,), expect=expect)
        assert (raised.value.code, raised.value.schedule) == ("mismatch", finding.schedule)
    # Without anything that is expected the same schedule ends, and leaves its results.
    warpstep.replay(count, finding, grid=1, block=64, args=(x,))
    assert x[0] == 1


def test_what_is_expected_is_told(count):
    told = warpstep.hunt(count, grid=1, block=64, args=(zero(),), seeds=100, expect=lost).findings[0]
    assert str(told) == "mismatch: an update was lost: 1"

    def asserting(x):
        assert x[0] == 2, f"it is {x[0]}"

    told = warpstep.hunt(count, grid=1, block=64, args=(zero(),), seeds=100, expect=asserting).findings[0]
    assert str(told).startswith("mismatch: it is 1")
    told = warpstep.hunt(count, grid=1, block=64, args={"counter": zero()}, seeds=100, expect=[TWO]).findings[0]
    assert "mismatch: `counter`: 1 of 1 u32 elements differ" in str(told)


def test_a_hunt_with_nothing_to_find(scale):
    x = np.ones((4, 2), np.float32)[:, 0]
    wanted = [np.full(4, 2, np.float32)]
    hunted = warpstep.hunt(scale, grid=1, block=4, args=(x, 4), seeds=20, check="races", expect=wanted, jobs=1)
    assert hunted.findings == () and (x == 1).all()
    hunted.raise_defect()
    wanted = [np.full(4, 2.001, np.float32)]
    assert warpstep.hunt(scale, grid=1, block=4, args=(x, 4), seeds=1, expect=wanted).findings
    assert not warpstep.hunt(scale, grid=1, block=4, args=(x, 4), seeds=1, expect=wanted, rtol=1e-2).findings
    # Fortran order, and part of an array.
    both = np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3))
    assert not warpstep.hunt(scale, grid=1, block=6, args=(both, 5), seeds=2, expect=[2 * both]).findings
    assert not warpstep.hunt(
        scale, grid=1, block=6, args=(both, 5), seeds=2, expect=lambda y: (y == 2 * both).all()
    ).findings


def test_aliases_are_judged_as_they_were_given(copy):
    x = np.arange(6, dtype=np.uint32)
    seen = []
    warpstep.hunt(
        copy, grid=1, block=3, args=(x[3:], x), seeds=0, expect=lambda *all: seen.append([a.tolist() for a in all])
    )
    assert seen[-1] == [[0, 1, 2], [0, 1, 2, 0, 1, 2]]
    with pytest.raises(ValueError, match="argument 0 is in the memory of argument 1: give what is expected there"):
        warpstep.hunt(copy, grid=1, block=3, args=(x[3:], x), expect=[x[:3], None])


def test_checks_and_seeds(count):
    hunted = warpstep.hunt(count, grid=1, block=64, args=(zero(),), seeds=5, first_seed=7, check="races")
    assert hunted.findings[0].seed is None and hunted.findings[0].defect.code == "race"
    hunted = warpstep.hunt(count, grid=1, block=64, args=(zero(),), seeds=100, check="deterministic")
    assert [finding.seed for finding in hunted.findings] == [38]


def test_a_proof(count):
    proof = warpstep.prove(count, grid=1, block=64, args=(zero(),), expect=[TWO])
    assert proof.holds is False and proof.states > 1 and proof.findings[0].defect.code == "mismatch"
    assert "refuted" in str(proof) and "refuted" in proof._repr_html_()
    with pytest.raises(warpstep.Defect):
        warpstep.replay(count, proof.findings[0], grid=1, block=64, args=(zero(),), expect=[TWO])
    with pytest.raises(warpstep.Defect):
        proof.raise_defect()
    assert warpstep.prove(count, grid=1, block=32, args=(zero(),), expect=lambda x: x[0] == 1).holds is True
    few = warpstep.prove(count, grid=4, block=64, args=(zero(),), max_states=5)
    assert few.holds is None and few.findings == ()
    with pytest.raises(ValueError, match='progress="some": there are fair, hsa, obe'):
        warpstep.prove(count, grid=1, block=64, args=(zero(),), progress="some")


def test_a_comparison(count):
    compared = warpstep.compare(count, grid=1, block=64, args=(zero(),), expect=[TWO], max_states=10_000)
    assert compared.defect is True
    assert "control    memory" in str(compared) and compared._repr_html_().startswith("<pre")
    assert {model["control"] for model in compared.json()["models"]} == {"crs", "its", "its-split", "thread"}
    wrong = [seen for seen in compared.seen if seen.memory == "flat" and seen.control == "crs" and not seen.split]
    ends = []
    for seen in wrong:
        try:
            warpstep.replay(count, seen, grid=1, block=64, args=(zero(),), expect=[TWO])
            ends.append("right")
        except warpstep.Defect as defect:
            ends.append(defect.code)
    assert sorted(ends) == ["mismatch", "right"]
    with pytest.raises(ValueError, match="control: all models and schedules are compared"):
        warpstep.compare(count, grid=1, block=64, args=(zero(),), control="its")


def test_results_of_searches_pickle(count):
    hunted = warpstep.hunt(count, grid=1, block=64, args=(zero(),), seeds=100, expect=[TWO])
    again = pickle.loads(pickle.dumps(hunted))
    assert str(again) == str(hunted) and again.findings[0].schedule == hunted.findings[0].schedule
