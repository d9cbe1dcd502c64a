"""Planted faults are found, and clean sets have none."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scored_sets import (
    HELD_OUT,
    KINDS,
    change_unit,
    copy_of,
    declare_rate,
    jump_first,
    make_set,
    repeat_rows,
    rest,
    shift_action,
    stick_camera,
    swap_arms,
)

from paprle_lab.scoring.lags import measure_following
from paprle_lab.scoring.scoring import ScoredSet, score
from paprle_lab.scoring.series import LEROBOT
from paprle_lab.scoring.spool import Spool

BAD = 3
PLANTS = {
    "shift": lambda e, kind: shift_action(e, max(2.0 * kind.lag, 0.17)),
    "shift of an early action": lambda e, _: shift_action(e, -0.3),
    "camera": lambda e, _: stick_camera(e),
    "fps": lambda e, _: declare_rate(e, 2.0),
    "fps of repeated rows": lambda e, _: repeat_rows(e),
    "arms": lambda e, _: swap_arms(e),
    "arms of the action": lambda e, _: swap_arms(e, "action"),
    "arms of the state": lambda e, _: swap_arms(e, "state"),
    "unit": change_unit,
    "unit of the state": lambda e, kind: change_unit(e, kind, "state"),
    "unit of a column": lambda e, kind: change_unit(e, kind, "state", [2]),
    "idle": rest,
    "jump": lambda e, _: jump_first(e),
    "jump of the state": lambda e, _: jump_first(e, "state"),
}
BY_DAY = (KINDS[0], KINDS[3])
ids = {"ids": lambda one: one.name}


def run(episodes):
    scored = ScoredSet("set", LEROBOT)
    with Spool() as spool:
        score(episodes, scored, spool)
    return scored


def list_faults(scored):
    own = [(one.name, f.kind) for one in scored.episodes for f in one.faults]
    return own + [("set", f.kind) for f in scored.faults]


def fits(plant, kind):
    needs_state = plant.startswith("shift") or " state" in plant or "column" in plant
    return (kind.arms == 2 or not plant.startswith("arms")) and (
        kind.states or not needs_state
    )


def check_found(kind, plant, seed):
    episodes = make_set(kind, seed)
    episodes[BAD] = PLANTS[plant](episodes[BAD], kind)
    scored = run(episodes)
    found = list_faults(scored)
    assert (f"episode {BAD}", plant.split()[0]) in found
    assert {name for name, _ in found} == {f"episode {BAD}"}
    assert scored.episodes[-1].name == f"episode {BAD}"


@pytest.mark.parametrize(
    ("kind", "plant"),
    [(kind, plant) for kind in BY_DAY for plant in PLANTS if fits(plant, kind)],
    ids=lambda one: getattr(one, "name", one),
)
def test_a_planted_fault_is_found_in_its_episode_alone(kind, plant):
    check_found(kind, plant, seed=0)


@pytest.mark.parametrize("kind", KINDS, **ids)
def test_a_clean_set_has_no_fault(kind):
    assert list_faults(run(make_set(kind, 0))) == []


@pytest.mark.nightly
@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.parametrize("kind", HELD_OUT, **ids)
def test_planted_faults_are_found_in_sets_of_kinds_held_out(kind, plant):
    if fits(plant, kind):
        check_found(kind, plant, seed=7)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", (*KINDS, *HELD_OUT), **ids)
def test_no_clean_set_of_any_kind_has_a_fault(kind, seed):
    assert list_faults(run(make_set(kind, 20 + seed))) == []


def test_a_duplicate_is_named_with_its_original():
    episodes = make_set(KINDS[0], 0)
    scored = run([*episodes, copy_of(episodes[2], len(episodes))])
    assert list_faults(scored) == [(f"episode {len(episodes)}", "duplicate")]
    assert "that of episode 2" in scored.episodes[-1].points.reasons[0]


def test_the_shift_is_named_in_seconds():
    episodes = make_set(KINDS[0], 0)
    episodes[0] = shift_action(episodes[0], 0.3)
    reason = run(episodes).episodes[-1].points.reasons[0]
    assert re.fullmatch(r"the action comes 0\.2\d? s after the state: shifted", reason)


def test_a_unit_that_all_episodes_share_is_found_by_their_actions():
    kind = KINDS[0]
    episodes = [change_unit(one, kind, "state") for one in make_set(kind, 0)]
    assert {kind for _, kind in list_faults(run(episodes))} == {"unit"}


def test_a_column_in_degrees_among_radians_is_a_fault_of_the_set():
    kind = KINDS[5]
    episodes = [change_unit(one, kind, columns=[1]) for one in make_set(kind, 0)]
    assert ("set", "unit") in list_faults(run(episodes))


def test_speeds_of_no_arm_are_a_fault_of_the_set():
    episodes = make_set(KINDS[5], 0)
    quick = [
        replace(one, fps=250.0, t=one.t / 10, clock=one.clock / 10) for one in episodes
    ]
    assert ("set", "fps") in list_faults(run(quick))


def test_a_video_shorter_than_its_rows_is_a_fault():
    episodes = make_set(KINDS[0], 0)
    one = episodes[BAD]
    episodes[BAD] = replace(one, film_s={"top": one.seconds / 2})
    assert list_faults(run(episodes)) == [(f"episode {BAD}", "fps")]


def test_timestamps_that_stand_still_are_a_fault():
    episodes = make_set(KINDS[0], 0)
    clock = episodes[BAD].clock.copy()
    clock[10:12] = clock[10]
    episodes[BAD] = replace(episodes[BAD], clock=clock)
    assert list_faults(run(episodes)) == [(f"episode {BAD}", "fps")]


def rest_one_arm(series, arm):
    own = slice(7 * arm, 7 * arm + 7)
    action, state = series.action.values.copy(), series.state.values.copy()
    noise = np.random.default_rng(0).normal(0, 1e-3, state[:, own].shape)
    action[:, own], state[:, own] = action[:1, own], state[:1, own] + noise
    return series.with_values(action, state)


@pytest.mark.parametrize("lefts", [{0, 2, 4, 6}, {BAD}], ids=["by turns", "once"])
def test_a_task_for_either_arm_is_no_exchange_of_arms(lefts):
    episodes = [
        rest_one_arm(one, arm=int(k in lefts))
        for k, one in enumerate(make_set(KINDS[2], 0))
    ]
    assert list_faults(run(episodes)) == []


def test_actions_that_are_velocities_are_not_compared_with_the_state():
    episodes = [
        one.with_values(np.gradient(one.state.values, axis=0), one.state.values)
        for one in make_set(KINDS[5], 0)
    ]
    assert list_faults(run(episodes)) == []


@pytest.mark.parametrize("n", [1, 2])
def test_few_episodes_are_scored(n):
    scored = run(make_set(KINDS[0], 0, n=n))
    assert len(scored.episodes) == n
    assert scored.episodes[0].measures.detour is None


def test_an_episode_of_other_columns_is_left_out():
    scored = run([*make_set(KINDS[0], 0, n=3), *make_set(KINDS[2], 0, n=1)])
    assert len(scored.episodes) == 3
    assert "other columns" in scored.left_out[0][1]


@pytest.mark.parametrize("slope", [0.1, 0.013, -0.7])
def test_a_joint_of_constant_speed_has_no_part_in_the_shift(slope):
    t = np.arange(120) / 30

    def move(at):
        joints = [0.3 * np.sin(3.0 * at) + 0.1 * np.sin(11.0 * at), slope * at]
        return np.stack(joints, axis=1).astype(np.float32).astype(np.float64)

    found = measure_following(move(t) + 0.01, move(t - 0.08), 30.0)

    assert found.lag == pytest.approx(0.08, abs=0.005)
    assert found.likeness > 0.95
