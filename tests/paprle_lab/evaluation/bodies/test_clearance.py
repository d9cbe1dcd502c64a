from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from paprle.contracts.types import GateState, Vec
from paprle.robot import RobotModel
from paprle_lab.evaluation.bodies.clearance import judge_clearance

# Two fingers that slide toward each other, 20 cm apart at 0, a ball of 5 cm on each.
BALL = '<collision><geometry><sphere radius="0.05"/></geometry></collision>'
SLIDE = (
    '<joint name="{0}" type="prismatic"><parent link="base"/><child link="{0}_link"/>'
    '<origin xyz="{1} 0 0"/><axis xyz="{2} 0 0"/>'
    '<limit lower="-0.2" upper="0.2" velocity="1" effort="1"/></joint>'
    f'<link name="{{0}}_link">{BALL}</link>'
)
URDF = (
    '<robot name="r"><link name="base"/>'
    f"{SLIDE.format('a', -0.1, 1)}{SLIDE.format('b', 0.1, -1)}</robot>"
)
GATE = np.dtype(
    [("k", "u4"), ("state", "u1"), ("q_cmd", "f8", (2,)), ("reasons", "u8")]
)
KEEP = {"clearance_self": 0.02, "clearance_scene": 0.03}
WALL = {"wall": {"shape": "box", "size": [0.1, 1.0, 1.0], "xyz": [-0.3, 0.0, 0.0]}}


@pytest.fixture
def judge(tmp_path: Path):
    (tmp_path / "r.urdf").write_text(URDF)
    info = RobotModel.from_urdf(tmp_path / "r.urdf").info

    def call(q: Vec, gate: dict | None = None):
        # The gate is armed at the second row.
        rows = np.zeros(len(q) + 1, GATE)
        rows["k"], rows["q_cmd"][1:] = np.arange(len(rows)), q
        rows["state"][:1], rows["state"][1:] = GateState.DISARMED, GateState.ENGAGED
        config = {"gate": {**KEEP, **(gate or {})} if gate is not None else {}}
        return judge_clearance(
            SimpleNamespace(config=config, gate=rows, robot_info=info, urdf=URDF)
        )

    return call


def slide(*places: float) -> Vec:
    """Both fingers through places, the gap between the balls being 0.1 - 2 place."""
    return np.repeat(np.array([(0.0, *places)]).T, 2, axis=1)


def test_the_least_clearance_and_its_pair_are_found(judge):
    found = judge(slide(0.01, 0.03, 0.035, 0.0), {})

    assert found.nearest == pytest.approx(0.03)
    assert set(found.pair) == {"a_link", "b_link"}
    assert found.n_violations == 0


def test_nearer_than_kept_by_half_a_millimetre_is_a_violation(judge):
    assert judge(slide(0.0402), {}).n_violations == 0
    assert judge(slide(0.0403, 0.039, 0.0403), {}).n_violations == 2


def test_between_two_commands_far_apart_the_middle_is_looked_at(judge):
    # One finger jumps over the other.
    found = judge(np.array([[-0.1, 0.15], [0.2, 0.15]]), {})

    assert found.nearest == pytest.approx(-0.1)


def test_a_start_too_near_may_part_but_not_come_nearer_again(judge):
    start = np.full((1, 2), 0.045)
    parting = np.repeat(np.linspace(0.045, 0.0, 9)[:, None], 2, axis=1)

    assert judge(np.concatenate([start, parting]), {}).n_violations == 0
    assert judge(np.concatenate([start, parting[:4], start]), {}).n_violations == 1


def test_the_scene_of_the_recording_counts(judge):
    found = judge(slide(-0.08), {"scene": WALL})

    assert found.pair == ("a_link", "wall")
    assert found.nearest == pytest.approx(0.02)
    assert found.n_violations == 1


def test_recordings_from_before_clearances_were_kept_are_measured_only(judge):
    found = judge(slide(0.049), None)

    assert found.nearest == pytest.approx(0.002)
    assert found.n_violations == 0


def test_the_least_clearance_is_told_to_a_micrometre(judge):
    # finer, it depends on what the process measured before
    assert judge(slide(0.0123456789), {}).nearest == 0.075309
