"""What the watch on a follower's motion finds, and after how long (L1, L2)."""

from __future__ import annotations

import numpy as np
import pytest

from paprle.contracts.settings.core import GateSettings
from paprle.contracts.types import FollowerState
from paprle.gate.reasons import Reason
from paprle.gate.watchdogs import MeasurementWatch
from paprle.testing.robots import make_robot_info

H = 0.01  # [s]
ROBOT = make_robot_info(2, has_gripper=True)
E = GateSettings().lag_bound


class Watched:
    """A follower that is told positions and speeds, and measured at others."""

    def __init__(self, lag=0.0, sag=0.0):
        self.watch = MeasurementWatch(ROBOT, GateSettings(), H, lag, sag=sag)
        self.is_following = True

    def see(self, n, joint=0, *, cmd=(0.0, 0.0), meas=(0.0, 0.0)):
        """Return what is found in the last of n periods of one joint's (q, dq)."""
        (q_cmd, dq_cmd), (q, dq) = np.zeros((2, 3)), np.zeros((2, 3))
        q_cmd[joint], dq_cmd[joint] = cmd
        q[joint], dq[joint] = meas
        for _ in range(n):
            state = FollowerState(stamp_ns=0, q=q, dq=dq)
            assert self.watch.check_state(state, 0) == ()
            found = self.watch.check_motion(
                q_cmd, dq_cmd, is_following=self.is_following
            )
        return found


LATE = {"cmd": (E + 0.01, 0.0), "meas": (0.0, 0.5)}  # on its way, too far behind
QUICK = {"cmd": (0.0, 0.5), "meas": (0.0, 1.2 * 0.5 + 0.5 + 0.01)}
BACK = {"cmd": (0.5, 0.3), "meas": (0.0, -0.2)}
STUCK = {"cmd": (E + 0.01, 0.0), "meas": (0.0, 0.0)}


@pytest.mark.parametrize(
    ("motion", "reason", "after"),
    [(LATE, Reason.LAG, 10), (QUICK, Reason.OVERSPEED, 5), (BACK, Reason.REVERSED, 5)],
    ids=["late", "quick", "back"],
)
def test_implausible_motion_is_found_when_it_lasts(motion, reason, after):
    watched = Watched()

    assert reason not in watched.see(after - 1, **motion)
    assert reason in watched.see(2, **motion)


@pytest.mark.parametrize("motion", [LATE, QUICK, BACK, STUCK])
def test_grippers_are_not_watched(motion):
    assert Watched().see(30, joint=2, **motion) == ()


@pytest.mark.parametrize("motion", [LATE, QUICK, BACK, STUCK])
def test_every_arm_joint_is(motion):
    assert Watched().see(30, joint=1, **motion) != ()


@pytest.mark.parametrize("motion", [LATE, QUICK, BACK])
def test_a_plausible_measurement_restarts_the_count(motion):
    watched = Watched()
    for _ in range(10):
        assert watched.see(4, **motion) == ()
        assert watched.see(2, cmd=motion["cmd"], meas=motion["cmd"]) == ()


@pytest.mark.parametrize(
    ("cmd", "meas"),
    [
        ((E - 0.01, 0.0), (0.0, 0.5)),  # within E
        ((0.0, 0.5), (0.0, 1.2 * 0.5 + 0.5 - 0.01)),
        ((0.1, 0.0), (0.0, 0.5 + 0.1 / 0.02 - 0.1)),  # catching up, by its lag
        ((0.2, 0.3), (0.0, 0.35)),  # behind, and the same way
        ((0.1, -0.3), (0.0, 0.35)),  # the other way, and near
    ],
)
def test_servo_behaviour_is_plausible(cmd, meas):
    found = Watched().see(9, cmd=cmd, meas=meas)

    assert found == ()


def test_a_recent_command_excuses_speed():
    watched = Watched(lag=0.05)
    fast = {"cmd": (0.0, 1.5), "meas": (0.0, 2.0)}
    watched.see(6, **fast)

    found = [watched.see(1, meas=(0.0, 2.0)) for _ in range(14)]

    assert Reason.OVERSPEED not in {*found[5], *found[8]}
    assert Reason.OVERSPEED in found[-1]


def test_a_follower_is_held_against_what_it_has_had_time_for():
    watched = Watched(lag=0.05)
    watched.see(6)

    soon = watched.see(5, cmd=(0.5, 0.0))
    late = watched.see(1, cmd=(0.5, 0.0))

    assert soon == ()
    assert late == (Reason.BLOCKED,)


def test_a_joint_that_weight_holds_off_its_command_neither_lags_nor_is_in_contact():
    sag = 0.06
    for motion in (LATE, STUCK):
        cmd = (E + sag - 0.01, 0.0)
        assert Watched(sag=sag).see(30, cmd=cmd, meas=motion["meas"]) == ()
        cmd = (E + sag + 0.01, 0.0)
        assert Watched(sag=sag).see(30, cmd=cmd, meas=motion["meas"]) != ()


def test_a_joint_that_weight_draws_past_its_command_is_no_overspeed():
    lag, sag, speed = 0.1, 0.06, 0.9
    past = {"cmd": (0.0, 0.0), "meas": (0.01, speed)}  # on its way to 0.06

    assert Reason.OVERSPEED in Watched(lag).see(30, **past)
    assert Watched(lag, sag).see(30, **past) == ()
    past["meas"] = (0.05, speed)
    assert Reason.OVERSPEED in Watched(lag, sag).see(30, **past)


def test_motion_against_a_command_that_comes_back_to_it_is_none():
    watched = Watched()
    watched.is_following = False

    assert Reason.REVERSED not in watched.see(20, **BACK)


def test_a_joint_that_stands_off_its_command_is_in_contact_at_once():
    watched = Watched()

    assert watched.see(1, **STUCK) == (Reason.BLOCKED,)
    assert watched.watch.is_blocked


@pytest.mark.parametrize(
    ("speed", "is_blocked"), [(0.09, True), (0.11, False), (-0.09, True)]
)
def test_a_creeping_joint_is_in_contact_too(speed, is_blocked):
    found = Watched().see(1, cmd=(E + 0.01, 0.0), meas=(0.0, speed))

    assert (Reason.BLOCKED in found) == is_blocked


@pytest.mark.parametrize(("speed", "is_blocked"), [(0.49, True), (0.51, False)])
def test_a_joint_below_half_its_command_is_hindered(speed, is_blocked):
    found = Watched().see(1, cmd=(E + 0.01, 1.0), meas=(0.0, speed))

    assert (Reason.BLOCKED in found) == is_blocked


def test_contact_lasts_until_it_is_half_as_far():
    watched = Watched()
    watched.see(1, **STUCK)

    assert watched.see(2, cmd=(0.5 * E + 0.01, 0.0)) == (Reason.BLOCKED,)
    assert watched.see(2, cmd=(0.5 * E - 0.01, 0.0)) == ()
    assert watched.see(2, cmd=(0.5 * E + 0.01, 0.0)) == ()


@pytest.mark.parametrize("motion", [LATE, QUICK, BACK])
def test_springing_back_from_contact_is_excused_for_a_while(motion):
    watched = Watched()
    watched.see(1, **STUCK)

    assert watched.see(19, **motion) == ()
    assert watched.see(14, **motion) != ()


def test_arming_forgets_contact_and_how_long_it_was_implausible():
    watched = Watched()
    watched.see(4, **QUICK)
    watched.watch.reset()
    assert watched.see(4, **QUICK) == ()
    watched.see(1, **STUCK)
    watched.watch.reset()

    assert not watched.watch.is_blocked
    assert watched.see(1, cmd=(0.5 * E + 0.01, 0.0)) == ()
    assert watched.see(8, **QUICK) == (Reason.OVERSPEED,)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"q": np.array([3.1, 0, 0])}, Reason.STATE_BAD),
        ({"q": np.array([0, -3.1, 0])}, Reason.STATE_BAD),
        ({"q": np.array([0, 0, np.nan])}, Reason.STATE_BAD),
        ({"dq": np.array([0, 0, np.inf])}, Reason.STATE_BAD),
        ({"dq": np.zeros(2)}, Reason.STATE_BAD),
        ({"q": np.zeros(4)}, Reason.STATE_BAD),
        ({"stamp_ns": -251_000_000}, Reason.STATE_LOST),
        ({"stamp_ns": -249_000_000}, Reason.STATE_STALE),
        ({"stamp_ns": -31_000_000}, Reason.STATE_STALE),
        ({"stop_reason": "pressed"}, Reason.FOLLOWER_STOP),
    ],
    ids=str,
)
def test_states_that_cannot_be_used_say_why(change, reason):
    fine = {"stamp_ns": -29_000_000, "q": np.array([2.9, -2.9, 0]), "dq": np.zeros(3)}
    watch = MeasurementWatch(ROBOT, GateSettings(), H, 0.0)

    assert watch.check_state(FollowerState(**fine), 0) == ()
    assert watch.check_state(FollowerState(**fine | change), 0) == (reason,)
