"""What a session shows of itself, from records."""

import numpy as np
import pytest

from paprle.contracts.plugins import make_advice_dtype
from paprle.contracts.types import (
    GateState,
    GripperInfo,
    LeaderArm,
    LeaderInfo,
    SessionState,
)
from paprle.gate.reasons import Reason, to_bits
from paprle.hosts.views.view import make_view
from paprle.ipc.records import make_layout
from paprle.testing import make_robot_info

S = 1_000_000_000
ROBOT = make_robot_info(n_limbs=2, has_gripper=True)
LEADER = LeaderInfo(limbs=("left", "right"))
LAYOUT = make_layout(ROBOT, LEADER, ("block", "cup"))


@pytest.fixture
def tick():
    record = np.zeros((), LAYOUT.tick)
    record["stamp_ns"], record["state"] = 10 * S, SessionState.ENGAGED
    record["driver"] = [1, -1]
    record["has_sample"], record["sample_age_ns"] = True, S // 100
    record["sample"]["stamp_ns"] = 9 * S
    return record


@pytest.fixture
def status():
    record = np.zeros((), LAYOUT.status)
    record["stamp_ns"], record["state"] = 10 * S, GateState.ENGAGED
    record["objects"] = np.nan
    record["clearance"] = np.inf
    return record


def test_states_drivers_and_ages_are_told(tick, status):
    view = make_view(LAYOUT, tick, status, 11 * S)

    assert (view.state, view.gate_state) == (SessionState.ENGAGED, GateState.ENGAGED)
    assert view.is_engaged
    assert view.drivers == {"limb0": "right", "limb1": None}
    assert view.captured_ns == 9 * S
    assert view.tick_age == view.gate_age == pytest.approx(1.0)
    assert view.leader_age == pytest.approx(1.01)
    assert view.status.clearance == np.inf


def test_a_leader_that_said_nothing_is_infinitely_old(tick, status):
    tick["has_sample"] = False

    view = make_view(LAYOUT, tick, status, 11 * S)

    assert view.leader_age == np.inf
    assert view.captured_ns == 0


def test_objects_that_are_there_are_told_by_name(tick, status):
    status["objects"][1] = [0.4, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0]

    view = make_view(LAYOUT, tick, status, 11 * S)

    assert list(view.objects) == ["cup"]
    assert view.objects["cup"][0] == 0.4


def test_reasons_are_told_in_words_and_counted_by_name(tick, status):
    status["reasons"] = to_bits([Reason.VELOCITY, Reason.CLEARANCE])
    status["counts"][Reason.VELOCITY] = 7

    view = make_view(LAYOUT, tick, status, 11 * S)

    assert view.reasons == (
        "a joint is at its velocity limit",
        "the robot is kept clear of something",
    )
    assert view.counts == {"velocity": 7}


@pytest.mark.parametrize("reason", list(Reason), ids=lambda r: r.name)
def test_every_reason_has_words(tick, status, reason):
    status["reasons"] = to_bits([reason])

    assert all(make_view(LAYOUT, tick, status, 11 * S).reasons)


@pytest.mark.parametrize(
    ("state", "told"),
    [(GateState.HOLD, "lag (the robot stays behind)"), (GateState.ENGAGED, "")],
    ids=lambda value: getattr(value, "name", ""),
)
def test_the_reason_of_a_hold_is_shown_during_the_hold(tick, status, state, told):
    status["latched"], status["state"] = to_bits([Reason.LAG]), state

    latched = make_view(LAYOUT, tick, status, 11 * S).latched

    assert latched.startswith(told)
    assert bool(latched) == bool(told)


def test_advice_comes_with_its_age(tick, status):
    record = np.zeros((), make_advice_dtype(("goal", "f8", (3,))))
    record["stamp_ns"] = 10 * S

    view = make_view(LAYOUT, tick, status, 12 * S, {"tags": record})

    assert view.advice["tags"].age == pytest.approx(2.0)
    assert view.advice["tags"].record["goal"].shape == (3,)


def test_measured_motor_torques_of_a_leader_are_listed_by_joint(status):
    gripper = GripperInfo(joint="hand", closed=0.0, open=1.0)
    arm = LeaderArm(
        urdf_path=ROBOT.urdf_path, base_link="base", eef_link="eef",
        joint_names=("one", "two"), gripper=gripper, R_base=np.eye(3),
    )  # fmt: skip
    leader = LeaderInfo(limbs=("left",), arms={"left": arm})
    layout = make_layout(ROBOT, leader, ("block", "cup"))
    tick = np.zeros((), layout.tick)
    tick["state"], tick["driver"] = SessionState.ENGAGED, -1
    tick["sample"]["device_tau"] = [0.5, np.nan, -0.25]

    before = make_view(layout, tick, status, 11 * S)
    tick["has_sample"] = True
    view = make_view(layout, tick, status, 11 * S)

    assert before.felt == {}
    assert view.felt == {"left/one": 0.5, "left/hand": -0.25}
