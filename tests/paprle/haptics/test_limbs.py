"""Several limbs: one is let go of while another drives, or is another leader's."""

import functools
from dataclasses import replace

import numpy as np
import pytest
from feel_rig import make_settings
from hypothesis import given, settings
from hypothesis import strategies as st

from paprle.config import resolve
from paprle.contracts.types import GateState, JointState, LeaderSample, readonly
from paprle.haptics.haptics import Haptics, SessionNotice
from paprle.hosts.factories import make_leader
from paprle.hosts.plan import make_robot
from paprle.ipc.records import make_layout
from paprle.retargeting.leader_arms import load_arms
from paprle.retargeting.pairing import make_pairing

PERIOD_NS = 2_500_000
N_STEPS = 120


@functools.cache
def load():
    """Return the robot, the leader, and who drives whom."""
    triple = "leader=puppeteer_papras_7dof_2arm", "follower=papras_7dof_2arm"
    resolved = resolve((*triple, "env=kinematic"))
    robot, leader = make_robot(resolved), make_leader(resolved).info
    pairing = make_pairing(robot, leader, resolved.retarget, load_arms(leader))
    return robot, leader, pairing


class TwoArms:
    """Two arms of eight joints drive two arms, open loop."""

    def __init__(self, n_limbs=2):
        self.robot, leader, pairing = load()
        if n_limbs < len(leader.limbs):
            kept = leader.limbs[:n_limbs]
            leader = replace(
                leader,
                limbs=kept,
                arms={name: leader.arms[name] for name in kept},
                joint_names={name: leader.joint_names[name] for name in kept},
            )
        laws = {"tracking": {}, "wall": {}, "gripper": {}, "damping": {}}
        chosen = make_settings({"damping": 0.2, "loop_delay": 0.005}, **laws)
        layout = make_layout(self.robot.info, leader)
        self.limbs = leader.limbs
        self.haptics = Haptics(chosen, self.robot, leader, pairing, layout)
        self._status = np.zeros((), dtype=layout.status)
        self._status["tau_meas"], self._status["state"] = np.nan, GateState.ENGAGED

    def run(self, drives, seed=0):
        """Torques by step and limb; ``drives[k]`` says who drives at step k."""
        rng, rows = np.random.default_rng(seed), []
        names, now_ns = self.haptics.joints.names, 10**9
        q, dq = np.zeros((2, 16))
        for k, drive in enumerate(drives):
            now_ns += PERIOD_NS
            dq = 0.9 * dq + 0.3 * rng.standard_normal(16)
            q = q + 1e-9 * PERIOD_NS * dq
            own = readonly(q[: len(names)]), readonly(dq[: len(names)])
            state = JointState(joint_names=names, q=own[0], dq=own[1])
            sample = LeaderSample(stamp_ns=now_ns, seq=k, limbs={}, leader_state=state)
            status = self._status
            status["stamp_ns"] = status["meas_ns"] = now_ns
            status["q_cmd"] = status["q_meas"] = self.robot.home + 0.2
            session = SessionNotice(
                now_ns, "ENGAGED", is_engaged=True, limb_drives=drive
            )
            rows.append(self.haptics.step(now_ns, sample, session, status))
        return rows


BOTH = np.array([True, True])


@pytest.mark.long
@settings(max_examples=4, deadline=None)
@given(
    gone=st.integers(0, 1),
    first=st.integers(5, N_STEPS - 10),
    length=st.integers(1, N_STEPS),
    seed=st.integers(0, 100),
)
def test_a_limb_that_is_let_go_of_changes_nothing_on_the_other(
    gone, first, length, seed
):
    """It is rendered as if both were let go of; the other as if both went on."""
    one, none = BOTH.copy(), ~BOTH
    one[gone] = False
    span = range(first, min(first + length, N_STEPS))
    plans = [
        [who if k in span else BOTH for k in range(N_STEPS)]
        for who in (one, none, BOTH)
    ]

    mixed, released, driving = (TwoArms().run(plan, seed) for plan in plans)

    limbs = list(driving[-1])
    for k in range(1, N_STEPS):
        let_go, other = limbs[gone], limbs[1 - gone]
        assert np.array_equal(mixed[k][let_go], released[k][let_go])
        assert np.array_equal(mixed[k][other], driving[k][other])
    assert np.abs(driving[first][limbs[gone]]).max() > 0.0
    for k in span:  # no law of the leader alone is on
        assert np.all(mixed[k][limbs[gone]] == 0.0)


@pytest.mark.long
def test_a_limb_that_drives_again_comes_in_softly():
    one = np.array([False, True])
    rows = TwoArms().run([BOTH] * 300 + [one] * 5 + [BOTH] * 300)
    limb = next(iter(rows[-1]))
    size = np.array([np.abs(row[limb]).max() for row in rows[1:]])

    assert size[299:304].max() == 0.0
    assert size[304:310].max() < 0.1 * size[290:298].min()
    assert size[-20:].min() > 0.5 * size[290:298].min()


@pytest.mark.parametrize("n_limbs", [1])
def test_limbs_that_other_leaders_drive_are_ignored(n_limbs):
    """The pairing names both arms of the robot; this leader has the first."""
    both, alone = TwoArms(), TwoArms(n_limbs=n_limbs)
    rows = [rig.run([None] * 50) for rig in (both, alone)]
    (limb,) = alone.limbs

    assert set(rows[1][-1]) == {limb}
    assert np.abs(rows[1][-1][limb]).max() > 0.0
    for pair, single in zip(*rows, strict=True):
        assert not pair or np.array_equal(pair[limb], single[limb])
