"""Leaders without motors: what they feel of walls and limits, and when nothing."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lock_step import H_NS, HUMAN, PIPER, LockStep

from paprle.config import resolve
from paprle.contracts.kit.leader_group import ALONE
from paprle.contracts.settings.core import SceneBodySettings
from paprle.contracts.settings.feedback import FeedbackSettings, RigSettings
from paprle.contracts.types import Cues
from paprle.gate.reasons import Reason
from paprle.haptics.cues import (
    CueInput,
    CueSource,
    Rumble,
    compute_cues,
    make_cue_limits,
)
from paprle.hosts.virtual import VirtualSession
from paprle.leaders.autopilot.leader import Autopilot

INFO = PIPER.info
KEPT = 0.02
HOME = np.array(INFO.home)
NOTHING = np.zeros(HOME.size)
LIMITS = make_cue_limits(INFO, [True], KEPT)
FREE = CueInput(0, np.inf, HOME, HOME, NOTHING, HOME, np.array([HOME, HOME]))


def shift(by, joint=0):
    q = HOME.copy()
    q[joint] += by
    return q


def near(distance, joint=0):
    """So far from the upper limit of a joint."""
    q = HOME.copy()
    q[joint] = INFO.q_max[joint] - distance
    return {"q_cmd": q, "q_des": q, "q_meas": q, "q_late": np.array([q, q])}


def fast(share, joint=0):
    dq = NOTHING.copy()
    dq[joint] = -share * INFO.dq_max[joint]
    return {"dq_cmd": dq}


CLEARANCE, VELOCITY = 1 << Reason.CLEARANCE, 1 << Reason.VELOCITY
GRIPPER = INFO.joint_names.index("joint7")


@pytest.mark.parametrize(
    ("changes", "cues"),
    [
        pytest.param({}, Cues(), id="rest"),
        pytest.param({"q_meas": shift(-0.02)}, Cues(), id="ripple"),
        pytest.param({"q_meas": shift(-0.12)}, Cues(contact=0.5), id="held back"),
        pytest.param({"q_meas": shift(0.12)}, Cues(contact=0.5), id="pushed on"),
        pytest.param({"q_meas": shift(-1.0)}, Cues(contact=1.0), id="held far back"),
        pytest.param(
            {"q_meas": shift(-0.12), "q_late": np.array([shift(-0.1), shift(-0.2)])},
            Cues(),
            id="late",
        ),
        pytest.param({"reasons": 1 << Reason.BLOCKED}, Cues(contact=1.0), id="blocked"),
        pytest.param({"q_meas": shift(0.02, GRIPPER)}, Cues(), id="a gripper holds"),
        pytest.param(near(0.2), Cues(), id="far from a limit"),
        pytest.param(near(0.075), Cues(limit=0.5), id="near a limit"),
        pytest.param(near(0.0), Cues(limit=1.0), id="at a limit"),
        pytest.param(near(0.0, GRIPPER), Cues(), id="a gripper is open"),
        pytest.param(fast(0.9), Cues(), id="quick"),
        pytest.param(fast(0.95), Cues(limit=0.5), id="quicker"),
        pytest.param(fast(1.0), Cues(limit=1.0), id="at V"),
        pytest.param(
            {"reasons": VELOCITY, "q_des": shift(0.12)},
            Cues(limit=0.5),
            id="limits hold back",
        ),
        pytest.param({"q_des": shift(0.12)}, Cues(), id="nothing holds back"),
        pytest.param({"reasons": VELOCITY}, Cues(), id="a limit holds nothing back"),
        pytest.param({"clearance": 0.001}, Cues(), id="bodies that are always near"),
        pytest.param(
            {"reasons": CLEARANCE, "clearance": 0.1},
            Cues(clearance=0.5),
            id="slowed down far away",
        ),
        pytest.param(
            {"reasons": CLEARANCE, "clearance": 0.025},
            Cues(clearance=0.75),
            id="slowed down nearer",
        ),
        pytest.param(
            {"reasons": CLEARANCE, "clearance": KEPT},
            Cues(clearance=1.0),
            id="at the kept clearance",
        ),
        pytest.param({"q_meas": NOTHING * np.nan}, Cues(), id="not measured"),
    ],
)
def test_each_cue_is_what_the_follower_meets(changes, cues):
    assert compute_cues(FREE._replace(**changes), LIMITS) == pytest.approx(cues)


def test_limbs_that_another_leader_drives_are_not_felt():
    nobody = make_cue_limits(INFO, [False], KEPT)
    pressed = FREE._replace(**near(0.0) | fast(1.0))._replace(q_meas=shift(-1.0))

    assert compute_cues(pressed, nobody) == Cues()


# --- the rumble ----------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(
    levels=st.lists(st.floats(0.0, 1.0), min_size=1, max_size=400),
    dt=st.floats(0.001, 0.05),
)
def test_a_rumble_never_flickers(levels, dt):
    """Once it is on, it lasts until its level has fallen from ``_ON`` to ``_OFF``."""
    rumble, span = Rumble(), 0.2 * 0.3  # of its level, at its slowest release

    amplitudes = [rumble.step(Cues(limit=level), dt) for level in levels]

    is_on = np.array([0.0, *amplitudes]) > 0.0
    starts = np.flatnonzero(is_on[1:] & ~is_on[:-1])
    ends = np.flatnonzero(is_on[:-1] & ~is_on[1:])
    for start, end in zip(starts, ends, strict=False):
        assert (end - start) * dt >= span - 1e-9
    assert max(amplitudes) <= 1.0
    assert all(a == 0.0 or a >= 0.1 for a in amplitudes)


def test_a_reason_that_comes_and_goes_is_one_rumble():
    rumble = Rumble()

    amplitudes = [
        rumble.step(Cues(clearance=float(k % 4 == 0)), 0.005) for k in range(99)
    ]

    assert min(amplitudes) > 0.9


# --- a whole session, in lock-step ---------------------------------------------------

LEADER = replace(HUMAN, renders="rumble")


class FeltSession(LockStep):
    """A session whose leader notes what it feels."""

    def __init__(self, **how):
        super().__init__(LEADER, **how)
        self.source = CueSource(self.robot.info, self.layout, FeedbackSettings(), KEPT)
        self.felt = []
        self.sees_status = True

    def step(self, n=1):
        for _ in range(n):
            super().step()
            if self.sees_status:
                self.seen = self.status.copy()
            self.felt.append(self.source.add(self.feedback, self.clock(), self.seen))
        return self

    def push(self, n, velocity):
        """Move the hand; return what was felt meanwhile, shape (n, 4)."""
        begin = len(self.felt)
        for _ in range(n):
            p = self.T_hand.translation + 1e-9 * H_NS * np.asarray(velocity)
            self.T_hand = pin.SE3(self.T_hand.rotation, p)
            self.step()
        return np.array([(*told.cues, told.rumble) for told in self.felt[begin:]])

    def raise_wall(self, depth, joint=0):
        """Let nothing of the follower's joint pass beyond so much from here."""
        follower, write = self.follower, self.follower.write
        end = follower.q[joint] + depth

        def stop(q_cmd):
            write(q_cmd)
            if follower.q[joint] > end:
                follower.q[joint], follower.dq[joint] = end, 0.0

        follower.write = stop


def test_free_motion_is_not_felt():
    rig = FeltSession().engage()

    out, back = rig.push(300, (0.0, 0.1, 0.0)), rig.push(300, (0.0, -0.1, 0.0))

    assert np.all(out == 0.0)
    assert np.all(back == 0.0)
    assert np.ptp([q[0] for q in rig.follower.sent]) > 0.2


def test_a_wall_is_felt_and_its_end_too():
    rig = FeltSession().engage()
    rig.raise_wall(0.1)

    pressed = rig.push(120, (0.0, 0.1, 0.0))
    released = rig.push(300, (0.0, -0.1, 0.0))

    assert pressed[-1, 0] > 0.3
    assert pressed[-1, 3] == pytest.approx(pressed[-1, 0])
    assert pressed[-1, 1] == pressed[-1, 2] == 0.0
    assert np.all(released[-100:] == 0.0)


def test_a_limit_is_felt():
    rig = FeltSession().engage()

    felt = rig.push(300, (0.3, 0.0, 0.0))

    assert felt[:50].max() == 0.0
    assert felt[:, 1].max() == pytest.approx(1.0)  # first its speed, then its position
    assert felt[:, 3].max() == pytest.approx(1.0)
    assert felt[-1, 1] > 0.3
    assert felt[:, 0].max() == 0.0


def test_a_body_that_the_gate_keeps_clear_of_is_felt():
    wall = SceneBodySettings(shape="box", size=(1.0, 0.1, 1.0), xyz=(0.3, 0.25, 0.3))
    rig = FeltSession(scene={"wall": wall}).engage()

    felt = rig.push(400, (0.0, 0.1, 0.0))

    assert felt[:50].max() == 0.0
    assert felt[:, 2].max() == 1.0
    assert felt[:, 3].max() == 1.0


def press_wall():
    rig = FeltSession().engage()
    rig.raise_wall(0.1)
    assert rig.push(120, (0.0, 0.1, 0.0))[-1, 3] > 0.3
    return rig


@pytest.mark.parametrize("action", ["engage", "stop", "next_episode"])
def test_an_operator_who_does_not_drive_feels_nothing(action):
    """Clutched, stopped, and on the way to a new episode."""
    rig = press_wall().press(action)
    silent = [told for told in rig.felt[-1:] if told.state != "ENGAGED"]
    rig.step(50)

    assert rig.state != "ENGAGED"
    for told in (*silent, *rig.felt[-50:]):
        assert told.cues == Cues()
        assert told.rumble == 0.0


def test_a_parked_session_rumbles_nothing():
    rig = FeltSession().until("WAITING")
    rig.raise_wall(-0.1)

    assert np.all(rig.push(100, (0.0, 0.1, 0.0)) == 0.0)


def test_a_stale_status_is_not_felt():
    rig = press_wall()
    rig.sees_status = False

    felt = rig.push(20, (0.0, 0.0, 0.0))

    assert felt[8, 3] > 0.0
    assert np.all(felt[11:] == 0.0)


@pytest.mark.long
@pytest.mark.parametrize(("speed", "is_felt"), [(0.1, False), (2.0, True)])
def test_the_leader_of_a_virtual_session_is_given_its_rumble(
    speed, is_felt, monkeypatch
):
    """The PiPER's hand is no faster than its joints."""
    info = Autopilot.info.fget
    rumbles = property(lambda leader: replace(info(leader), renders="rumble"))
    monkeypatch.setattr(Autopilot, "info", rumbles)
    words = f"leader.speed={speed}", "leader.size=0.1", "session.clock=virtual"
    session = VirtualSession(
        resolve(("leader=autopilot", "follower=piper", "env=kinematic", *words))
    )
    felt, leader = [], session.plan.leaders[ALONE]
    leader.apply = lambda told, apply=leader.apply: (felt.append(told), apply(told))

    session.run()

    driving = [told.rumble for told in felt if told.is_engaged]
    assert len(driving) > 50
    assert (max(driving) > 0.0) == is_felt
    assert all(told.rumble == 0.0 for told in felt if not told.is_engaged)


# --- a follower with any lag ---------------------------------------------------------


@pytest.mark.long
@settings(max_examples=40, deadline=None)
@given(
    dead_time=st.floats(0.0, 0.03),
    time_constant=st.floats(0.0, 0.045),
    ddq=st.floats(1.0, 10.0),
    seed=st.integers(0, 1000),
)
def test_no_lag_within_the_bound_is_felt_as_contact(
    dead_time, time_constant, ddq, seed
):
    """Random accelerations within A, speeds within 2 rad/s, at a gate of 200 Hz."""
    rig = FeltSession()
    longest = FeedbackSettings(rig=RigSettings(dead_time=0.03, time_constant=0.045))
    source = CueSource(INFO, rig.layout, longest, KEPT)
    told = replace(rig.step().feedback, is_engaged=True)
    rng, h = np.random.default_rng(seed), 0.005
    n_late = round(dead_time / h)
    commands, dq, q_follower = [HOME[0]], 0.0, HOME[0]
    status, now_ns = rig.status.copy(), rig.clock()
    status["state"], status["q_cmd"], status["q_meas"] = 2, HOME, HOME
    status["dq_cmd"], status["reasons"] = 0.0, 0
    worst = 0.0
    for k in range(300):
        if k % 30 == 0:
            ddq_now = ddq * rng.choice([-1.0, 0.0, 1.0])
        dq = float(np.clip(dq + h * ddq_now, -2.0, 2.0))
        commands.append(commands[-1] + h * dq)
        seen = commands[max(0, len(commands) - 1 - n_late)]
        q_follower += (seen - q_follower) * (
            1.0 - np.exp(-h / max(time_constant, 1e-6))
        )
        now_ns += H_NS
        status["stamp_ns"] = now_ns
        status["q_cmd"][0], status["q_meas"][0] = commands[-1], q_follower
        felt = source.add(replace(told, stamp_ns=now_ns), now_ns, status)
        worst = max(worst, felt.cues.contact)

    assert worst == 0.0


# --- the process of a leader ---------------------------------------------------------


@pytest.mark.long
def test_the_process_of_a_leader_without_motors_stays_light():
    """No kernels, no model of a robot, no IK, and of the gate its reasons alone."""
    code = (
        "import sys, paprle.hosts.processes.leader\n"
        "kinds = 'robot', 'retargeting', 'kinematics', 'session', 'compiled'\n"
        "heavy = ['numba', 'scipy', 'mujoco', *(f'paprle.{kind}' for kind in kinds)]\n"
        "found = [name for name in heavy if name in sys.modules]\n"
        "gate = [name for name in sys.modules if name.startswith('paprle.gate.')]\n"
        "print(*found, *gate)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )

    assert done.stdout.split() == ["paprle.gate.reasons"], done.stderr


def test_a_better_suggestion_is_one_pulse_for_who_drives():
    rig = FeltSession().engage()
    rig.step(50)
    rig.core.crossings.n += 1
    begin = len(rig.felt)
    rig.step(200)

    felt = [(told.rumble, told.warning, told.touch) for told in rig.felt[begin:]]
    on = np.flatnonzero(np.array(felt)[:, 0] > 0.5)
    assert on[0] <= 2
    assert (np.diff(on) == 1).all(), "once"
    assert len(on) * 0.005 == pytest.approx(0.15, abs=0.011)
    assert felt[on[0]] == (1.0, 1.0, 0.0)
    assert max(felt[-1]) == 0.0
