"""Steps session and gate in lock-step with a scripted leader, operator and follower."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pinocchio as pin

from paprle.contracts.plugins import Follower
from paprle.contracts.settings.core import (
    GateSettings,
    GripperSettings,
    LimbSettings,
    RecordSettings,
    RobotSettings,
    SessionSettings,
)
from paprle.contracts.settings.limits import LimitSettings
from paprle.contracts.settings.retarget import RetargetSettings
from paprle.contracts.types import (
    Actions,
    FollowerInfo,
    FollowerState,
    GateState,
    LeaderInfo,
    LeaderSample,
    LimbCommand,
)
from paprle.gate.controller import GateController
from paprle.hosts.operator.progress import Progress
from paprle.hosts.operator.tracking_watch import TrackingWatch, make_classifier
from paprle.hosts.virtual import VirtualClock
from paprle.ipc.process import WORKSPACE
from paprle.ipc.records import make_layout, pack_sample
from paprle.oracle import JudgedLimits, check_commands
from paprle.retargeting.retarget import Retargeting
from paprle.robot import RobotModel
from paprle.session.core import Core
from paprle.session.motion import DesiredMotion

H_NS = 5_000_000
GAP_NS = 25_000_000  # safety.md amendments, K2, and a period
HUMAN = LeaderInfo(limbs=("hand",), is_human=True)
AUTOMATIC = LeaderInfo(limbs=("hand",), is_human=False)
MEASURED = LeaderInfo(limbs=("hand",), is_human=True, is_measured=True)


class ScriptedFollower(Follower):
    """Ideal, but for what a test makes of it."""

    def open(self):
        self.q = np.array(self.robot.home)
        self.dq = np.zeros_like(self.q)
        self.sent, self.sent_ns = [], []
        self.frozen_ns = None
        self.state_changes = {}
        self.error = None
        return FollowerInfo(
            joint_names=self.robot.joint_names, rate=1e9 / H_NS, simulated=True
        )

    def read(self):
        if self.error:
            raise self.error
        stamp = self.clock() if self.frozen_ns is None else self.frozen_ns
        state = FollowerState(stamp_ns=stamp, q=self.q.copy(), dq=self.dq.copy())
        return replace(state, **self.state_changes)

    def write(self, q_cmd):
        self.sent.append(np.array(q_cmd))
        self.sent_ns.append(self.clock())
        self.dq = (q_cmd - self.q) * (1e9 / H_NS)
        self.q = np.array(q_cmd)

    def close(self, policy):
        pass


def find_begins(t_ns):
    """Return the commands before which none came for so long that they begin anew."""
    return (np.flatnonzero(np.diff(t_ns) > GAP_NS) + 1).tolist()


def load_piper():
    settings = RobotSettings(
        urdf="urdf/piper/robot.urdf",
        limbs={
            "arm": LimbSettings(
                base_link="base_link",
                eef_link="gripper_base",
                home=(0.0, 1.5, -1.0, 0.0, -0.75, 0.0),
                gripper=GripperSettings(joint="joint7", closed=0.0, open=0.035),
            )
        },
        limits=LimitSettings(ddq_max=10.0),
    )
    return RobotModel.from_settings(settings, "piper", WORKSPACE)


PIPER = load_piper()


class LockStep:
    """A session on a virtual clock whose every input is a test's to choose."""

    def __init__(
        self,
        leader=HUMAN,
        *,
        mode="relative",
        interactive=True,
        pair=None,
        scene=None,
        **settings,
    ):
        self.clock = VirtualClock()
        mapped = RetargetSettings(mode=mode)
        self.robot, retargeting = pair or (PIPER, Retargeting(PIPER, leader, mapped))
        self.leader = leader
        self.layout = make_layout(self.robot.info, leader)
        self.follower = ScriptedFollower(None, self.robot.info, self.clock)
        info = self.follower.open()
        gate_settings = GateSettings(scene=scene or {})
        self.gate = GateController(
            self.robot, gate_settings, self.follower, info, self.layout, 0.005
        )
        motion = DesiredMotion(self.robot, retargeting, gate_settings, self.layout)
        self.core = Core(
            SessionSettings(**settings),
            leader,
            self.layout,
            motion,
            session_id=1,
            is_interactive=interactive,
        )
        self.actions = Actions()
        self.T_hand = pin.SE3.Identity()
        self.noise = 0.0  # [m] of a leader that measures
        self._rng = np.random.default_rng(0)
        self.engaged, self.valid = True, True
        self.start, self.end, self.exhausted = False, False, False
        self.leader_speaks, self.session_speaks = True, True
        self.gate_runs = True
        self.record = None
        self.seq = 0
        self.events = []
        self.states = []
        self.setpoint = self.feedback = self.watch = None
        self.is_over = False
        self.status = self.gate.step(None, self.clock())

    def sample(self):
        self.seq += 1
        T = self.T_hand.copy()
        T.translation += self.noise * self._rng.standard_normal(3)
        return LeaderSample(
            stamp_ns=self.clock(),
            seq=self.seq,
            limbs={"hand": LimbCommand(T_leader_base_leader_eef=T)},
            engaged=self.engaged,
            valid=self.valid,
            start=self.start,
            end=self.end,
            is_exhausted=self.exhausted,
        )

    def step(self, n=1):
        for _ in range(n):
            self.clock.now_ns += H_NS
            if self.leader_speaks:
                self.record = pack_sample(self.layout, self.sample())
            if self.session_speaks:
                output = self.core.step(
                    self.clock(), [self.record], self.status, self.actions
                )
                if self.watch is not None and self.watch.note(
                    self.core, output.tick, self.status
                ):
                    self.watch.update(self.core)
                    self.verdicts.append(self.watch.newest)
                self.setpoint = output.setpoint.copy()
                self.feedback = output.feedback
                self.events += output.events
                self.is_over = self.is_over or output.is_over
            if self.gate_runs:
                self.status = self.gate.step(self.setpoint, self.clock())
            self.states.append(self.core.state.name)
        return self

    def track(self, scene=None, env=None):
        """Judge the tracking from here on; ``verdicts`` has what was found."""
        gate = GateSettings(scene=scene or {})
        plan = SimpleNamespace(
            robot=self.robot,
            resolved=SimpleNamespace(gate=gate, to_dict=lambda: {"env": env or {}}),
        )
        self.watch, self.verdicts = TrackingWatch(make_classifier(plan)), []
        return self

    def stand_still(self, n):
        """Leader, session and gate stand still for n periods, as their machine does."""
        self.clock.now_ns += n * H_NS
        return self.step()

    def press(self, action, n=1):
        count = getattr(self.actions, action) + 1
        self.actions = self.actions._replace(**{action: count})
        return self.step(n)

    def until(self, state, n=2000):
        for _ in range(n):
            if self.core.state.name == state:
                return self
            self.step()
        raise AssertionError(f"never {state}; {self.trace()}; {self.core.note}")

    def engage(self):
        self.until("WAITING")
        self.step(5)
        return self.press("engage").until("ENGAGED")

    def move(self, n, speed=0.2):
        """Move the hand along y at a speed in m/s."""
        for _ in range(n):
            self.T_hand = pin.SE3(
                self.T_hand.rotation,
                self.T_hand.translation + np.array([0.0, speed * H_NS * 1e-9, 0.0]),
            )
            self.step()
        return self

    @property
    def state(self):
        return self.core.state.name

    @property
    def gate_state(self):
        return GateState(int(self.status["state"])).name

    @property
    def q_cmd(self):
        return self.status["q_cmd"].copy()

    def trace(self):
        """States in order, repeats removed."""
        return [
            s for s, t in zip(self.states, [None, *self.states], strict=False) if s != t
        ]

    def judge(self):
        limits = JudgedLimits.of(self.robot.info, H_NS * 1e-9)
        return check_commands(
            np.array(self.follower.sent),
            limits,
            armed_at=find_begins(self.follower.sent_ns),
            q_start=self.follower.sent[0],
        )


def make_progress(session, *, task="", operator=None, **settings):
    """What an operator of the session is told."""
    resolved = SimpleNamespace(
        session=SessionSettings(**settings),
        record=RecordSettings(task=task),
        gate=GateSettings(),
        to_dict=dict,
    )
    retargeting = session.core.motion._retargeting
    plan = SimpleNamespace(
        resolved=resolved, robot=session.robot, retargeting=retargeting
    )
    return Progress(session.core, plan, operator)
