"""The torque of a servo is found against what its joint carries."""

import numpy as np
import pytest

from paprle.config import resolve
from paprle.haptics.arm import HapticArm
from paprle.hardware.dynamixel.torque_map import TorqueMap
from paprle.hosts.factories import make_leader
from paprle.leaders.puppeteer.calibration import _find_heaviest
from paprle.leaders.puppeteer.friction import Excitation
from paprle.leaders.puppeteer.weighing import HEAVY, Scale, Swung, fit_torques
from paprle.retargeting.leader_arms import load_arms

MODEL = TorqueMap("supply", 0.967, 0.88)
PLACES = (0.9, 1.4, 0.4)


def swing(real, place, weight=0.12, b=0.016, c=0.03, inertia=0.004):
    """Swing a pendulum as the excitation wants, with a servo of other torques."""
    profile, dt = Excitation(0.3), 0.0005
    q, dq, t, rows = place, 0.0, 0.0, []
    while (asked := profile(t, q)) is not None:
        tau = real.find_torque(MODEL.find_current(asked))
        for _ in range(5):
            free = tau - weight * np.sin(q) - b * dq
            if abs(dq) < 1e-3 and abs(free) < c:
                dq = 0.0
            else:
                way = np.sign(dq) if abs(dq) >= 1e-3 else np.sign(free)
                dq += (free - c * way) / inertia * dt
            q += dq * dt
            t += dt
        rows.append((t, dq, MODEL.find_current(asked), weight * np.sin(q)))
    values = np.array(rows)
    values[:, 1] = np.round(values[:, 1] / 0.024) * 0.024
    return Swung(*values.T)


@pytest.mark.long
@pytest.mark.parametrize(
    "real",
    [
        MODEL,
        MODEL._replace(gain=0.8),
        MODEL._replace(gain=1.3),
        MODEL._replace(kind="motor", gain=2.5),
    ],
    ids=["as its model", "weaker", "stronger", "another current"],
)
def test_kind_and_gain_are_found_in_three_postures(real):
    found = fit_torques(MODEL, [swing(real, place) for place in PLACES])

    assert found.kind == real.kind
    assert found.gain == pytest.approx(real.gain, rel=0.15)


def test_a_joint_that_carries_nothing_is_not_weighed():
    t = np.arange(0.0, 10.0, 0.0025)
    still = Swung(t, np.sin(t), np.sin(t), 0.01 * np.sin(t))

    with pytest.raises(ValueError, match="expected a weight of at least"):
        fit_torques(MODEL, [still])


def test_motion_that_no_torque_explains_is_refused():
    t, rng = np.arange(0.0, 10.0, 0.0025), np.random.default_rng(0)
    noise = Swung(t, np.sin(3 * t), rng.normal(size=t.size), 0.2 + 0.05 * np.sin(t))

    with pytest.raises(ValueError, match="expected a torque that explains the weight"):
        fit_torques(MODEL, [noise])


def test_the_weights_are_those_that_feedback_carries():
    resolved = resolve(
        ("leader=puppeteer_papras_7dof", "follower=papras_7dof", "env=kinematic")
    )
    leader = make_leader(resolved)
    (arm,) = leader.arms
    feedback = HapticArm(load_arms(leader.info)["arm"], leader.info.arms["arm"])
    q = np.append(arm.reset_q, 0.3)

    weighed = Scale(arm.settings, arm.joint_names).weigh(q)

    assert weighed == pytest.approx(feedback.place(q).gravity, abs=1e-9)
    assert np.abs(weighed).max() > 0.1


def test_a_joint_that_hangs_free_is_weighed_by_what_it_carries_as_it_swings():
    """After its friction was measured it hangs, and carries nothing where it hangs."""
    words = ("leader=puppeteer_papras_7dof", "follower=papras_7dof", "env=kinematic")
    (arm,) = make_leader(resolve(words)).arms
    scale, elbow = Scale(arm.settings, arm.joint_names), 3
    q = np.append(arm.reset_q, 0.3)
    q[1], q[elbow] = 0.6, 0.77

    assert abs(scale.weigh(q)[elbow]) < HEAVY
    assert _find_heaviest(scale, q, elbow) > HEAVY
