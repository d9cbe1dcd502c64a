"""What a page is told of the state, and of suggestions that became better."""

from dataclasses import replace

import numpy as np
import pytest

from paprle.contracts.gate_status import GATE_NUMBERS, GateStatus
from paprle.contracts.session_view import Advice, make_advice_dtype
from paprle.contracts.types import GateState, SessionState
from paprle.observers.view.view_json import Shown, describe_hold
from paprle.testing.robots import make_robot_info
from paprle.testing.views import make_session_view

ROBOT = make_robot_info(has_gripper=True)


def test_a_crossing_is_told_once_and_not_again_where_it_is_taken_back():
    shown, told = Shown(ROBOT), []
    for n, valid in ((0, True), (1, True), (0, False), (1, True), (2, True)):
        record = np.zeros((), dtype=make_advice_dtype(("n_crossings", "i8")))
        record["n_crossings"], record["valid"] = n, valid
        view = make_session_view(ROBOT, advice={"helper": Advice(record, 0.0)})
        told.append(shown.make(view)["crossings"])

    assert told == [0, 1, 1, 1, 2]


def tell_state(standing, *, is_still):
    news = {"standing": standing, "is_still": is_still}
    view = replace(make_session_view(ROBOT), state=SessionState.ENGAGED, news=news)
    shown = Shown(ROBOT).make(view)
    return shown["word"], shown["does"]


def test_a_robot_that_stands_while_asked_to_move_is_not_shown_as_driving():
    cause = "arm stands: 'link3' of arm is kept clear of 'link5' of arm"

    word, does = tell_state([cause], is_still=True)

    assert word == "Held"
    assert cause in does
    assert "moves with you" not in does


def test_a_gripper_that_stands_is_told_while_the_arm_is_driven():
    word, does = tell_state(["gripper stands: something blocks it"], is_still=False)

    assert word == "Driving"
    assert "gripper stands: something blocks it" in does


def test_of_several_causes_the_first_is_shown():
    causes = ["arm stands: joint4 at its limit", "gripper stands: something blocks it"]

    _, does = tell_state(causes, is_still=True)

    assert causes[0] in does
    assert causes[1] not in does


@pytest.mark.parametrize(
    ("state", "gate", "latched", "cause"),
    [
        pytest.param(
            SessionState.STOPPED, GateState.STOPPED,
            "lag (the robot stays behind), overspeed (the robot moves faster than "
            "commanded); look whether something holds it; look whether it is pushed",
            "the robot stays behind", id="stopped",
        ),
        pytest.param(
            SessionState.CLUTCHED, GateState.HOLD,
            "command_stale (commands come late)", "commands come late", id="paused",
        ),
        pytest.param(
            SessionState.STOPPED, GateState.STOPPED, "no reading; call somebody",
            "no reading", id="another robot's words",
        ),
        pytest.param(SessionState.CLUTCHED, GateState.READY, "", "", id="free"),
    ],
)  # fmt: skip
def test_the_cause_of_a_hold_is_one_sentence_in_every_state(
    state, gate, latched, cause
):
    view = make_session_view(ROBOT, state=state, gate_state=gate, latched=latched)

    assert describe_hold(view) == cause
    assert Shown(ROBOT).make(view)["cause"] == cause


def test_a_robot_that_follows_is_shown_as_driving():
    assert tell_state([], is_still=False) == ("Driving", "The robot moves with you.")


def test_every_number_of_the_gate_is_told_and_what_is_not_finite_is_null():
    told = [0.25 * k for k in range(1, len(GATE_NUMBERS) + 1)]
    status = GateStatus(**dict(zip(GATE_NUMBERS, told, strict=True)))

    made = Shown(ROBOT).make(make_session_view(ROBOT, status=status))

    assert [made[name] for name in GATE_NUMBERS] == told
    bare = Shown(ROBOT).make(make_session_view(ROBOT))
    assert (bare["clearance"], bare["sim_time"], bare["speed_scale"]) == (None, None, 1)
