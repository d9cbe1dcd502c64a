"""Leader, gate and follower in virtual time: what an operator's hand would feel.

The leader's joints have inertia, viscous and dry friction and encoders; a hand may hold
them by a spring and a damper along a motion. Torques reach them late (``bus_delay``);
the command follows them through a delay and loses packets; the follower has a dead
time, a first-order lag, and what it touches. The torques are those of the real
``Haptics``, over the real layouts.
"""

from __future__ import annotations

import dataclasses
import functools
import tempfile
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from paprle.config.laws import make_feedback_class
from paprle.contracts.settings.core import LimbSettings
from paprle.contracts.settings.feedback import RigSettings
from paprle.contracts.settings.retarget import RetargetSettings
from paprle.contracts.types import (
    GateState,
    JointState,
    LeaderInfo,
    LeaderSample,
    SessionState,
    readonly,
)
from paprle.gate.reasons import Reason
from paprle.haptics.haptics import Haptics, SessionNotice, make_haptics
from paprle.ipc.records import make_layout
from paprle.plugins import find_plugin, load_config_class
from paprle.robot import RobotModel

ENCODER = 2 * np.pi / 4096
GATE_PERIOD = 0.005
SUBSTEPS = 4


def make_settings(rig: Mapping[str, Any] | None = None, **laws: Any) -> Any:
    """Feedback settings with these laws alone: ``tracking={"k_gate": 0.5}``."""
    options = laws.pop("options", {})
    cls = make_feedback_class()
    laws_class = type(cls().laws)
    names = [f.name for f in dataclasses.fields(laws_class)]
    made = {
        name: load_config_class(find_plugin("feedback", name))(**laws[name])
        if name in laws
        else None
        for name in names
    }
    return cls(laws=laws_class(**made), rig=RigSettings(**(rig or {})), **options)


@functools.cache
def make_toy(n: int = 1) -> RobotModel:
    """A follower of n joints in a row, 0.3 m apart, each about z."""
    text = "<robot name='toy'><link name='base'/>"
    for i in range(1, n + 1):
        parent = "base" if i == 1 else f"link{i - 1}"
        text += (
            f"<link name='link{i}'/><joint name='joint{i}' type='revolute'>"
            f"<parent link='{parent}'/><child link='link{i}'/><origin xyz='0.3 0 0'/>"
            "<axis xyz='0 0 1'/>"
            "<limit lower='-3' upper='3' velocity='5' effort='5'/></joint>"
        )
    limb = LimbSettings(base_link="base", eef_link=f"link{n}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "toy.urdf"
        path.write_text(text + "</robot>")
        return RobotModel.from_urdf(path, {"arm": limb})


def make_toy_leader(n: int = 1, rate: float = 400.0) -> LeaderInfo:
    """A leader of n motors that says nothing of its kinematics."""
    names = tuple(f"joint{i}" for i in range(1, n + 1))
    return LeaderInfo(
        limbs=("arm",),
        emits="joints",
        joint_names={"arm": names},
        renders="torque",
        rate=rate,
    )


class Motors:
    """The leader's joints, exact for constant torque but for dry friction.

    Attributes:
        q: Positions, shape (M,), [rad].
        dq: Velocities, shape (M,), [rad/s].
    """

    def __init__(self, q, inertia=0.004, viscous=0.05, coulomb=0.0):
        self.q, self.dq = np.array(q, dtype=float), np.zeros(len(q))
        self.inertia, self.viscous, self.coulomb = inertia, viscous, coulomb

    def step(self, tau, dt):
        """Semi-implicit; dry friction stops what it can stop and no more."""
        free = self.dq + dt / self.inertia * (tau - self.viscous * self.dq)
        brake = dt / self.inertia * self.coulomb
        self.dq = np.sign(free) * np.maximum(np.abs(free) - brake, 0.0)
        self.q = self.q + dt * self.dq


class Hand:
    """A spring and a damper along ``motion(t)``, shape (M,)."""

    def __init__(self, motion, stiffness=8.0, damping=0.3):
        self.motion, self.stiffness, self.damping = motion, stiffness, damping

    def pull(self, t, q, dq):
        there = self.motion(t)
        speed = (self.motion(t + 1e-4) - there) / 1e-4
        return self.stiffness * (there - q) + self.damping * (speed - dq)


class Servos:
    """The follower: dead time, lag, and ``touch(free, before, dt)`` → where it is."""

    def __init__(self, q, dead_time=0.02, time_constant=0.04, touch=None):
        self.q, self._free = np.array(q, dtype=float), np.array(q, dtype=float)
        n = max(1, round(dead_time / GATE_PERIOD) + 1)
        self._commands = deque([self.q.copy()] * n, maxlen=n)
        self._share = 1 - np.exp(-GATE_PERIOD / max(time_constant, 1e-6))
        self._touch = touch or (lambda free, _before, _dt: free)

    def step(self, q_cmd):
        self._commands.append(q_cmd.copy())
        self._free = self._free + self._share * (self._commands[0] - self._free)
        self.q = self._touch(self._free, self.q, GATE_PERIOD)


def wall_at(place, servo=np.inf, wall=np.inf, joint=0):
    """Something at ``place``: a stiff servo stops there, a soft one yields."""
    give = 0.0 if np.isinf(wall) else servo / (servo + wall)

    def touch(free, _before, _dt):
        q = free.copy()
        if q[joint] > place:
            q[joint] = place + give * (q[joint] - place)
        return q

    return touch


def honey(time_constant, joint=0):
    """Something viscous: the follower creeps towards where it would be."""

    def touch(free, before, dt):
        q = free.copy()
        share = 1 - np.exp(-dt / time_constant)
        q[joint] = before[joint] + share * (free[joint] - before[joint])
        return q

    return touch


class FeelRig:
    """Everything in lock-step, one step a period of the feedback thread.

    The leader's samples come at ``sample_rate``, by default one a step.

    Attributes:
        haptics: The product's.
        trace: Rows by name: t, q, dq, tau, q_cmd, q_follower, energy, true, share.
            ``energy`` is what the product believes, ``true`` what the torques that the
            motors rendered took from their real motion, from the same start.
    """

    def __init__(
        self,
        settings,
        robot=None,
        leader=None,
        *,
        motors=None,
        hand=None,
        servos=None,
        delay=0.0,
        bus_delay=0.0,
        loss=0.0,
        sample_rate=None,
        retarget=None,
        haptics: Haptics | None = None,
        command: Callable[[np.ndarray], np.ndarray] | None = None,
    ):
        self.robot = robot or make_toy()
        self.leader = leader or make_toy_leader()
        self.layout = make_layout(self.robot.info, self.leader)
        self.retarget = retarget or RetargetSettings(mode="joints")
        self.haptics = haptics or make_haptics(
            settings, self.robot, self.leader, self.retarget, self.layout
        )
        self.names = self.haptics.joints.names
        q_0 = np.zeros(len(self.names))
        self.motors = motors or Motors(q_0, viscous=settings.rig.damping)
        self.hand = hand
        self.command = command or (lambda q: q[: len(self.robot.joint_names)])
        q_robot = self.command(self.motors.q)
        self.servos = servos or Servos(q_robot)
        self.period = 1.0 / settings.rate
        n = round(delay / self.period)
        self._up = deque([self._encode()] * (n // 2 + 1), maxlen=n // 2 + 1)
        n_bus = round(bus_delay / self.period) + 1
        self._posted = deque([q_0] * n_bus, maxlen=n_bus)
        self._status = np.zeros((), dtype=self.layout.status)
        self._down = deque(maxlen=n - n // 2 + 1)
        self._loss, self._rng = loss, np.random.default_rng(0)
        self.anchors, self.reasons, self.clearance = None, 0, np.nan
        self.tau_meas = lambda _q_cmd, q: np.full(q.size, np.nan)
        self.is_engaged, self.gate_state = True, GateState.ENGAGED
        self.session_state = SessionState.ENGAGED
        self.n, self.now_ns = 0, 10**9
        self._q_cmd = q_robot.copy()
        self._next_gate = 0.0
        self._sample_period = 1.0 / (sample_rate or settings.rate)
        self._next_sample = self._sample_period
        self._sample = self._make_sample(self._encode(), 0.0 * q_0)
        self.true = self.haptics.composer.passivity.energy.copy()
        self.port = self.true
        self.trace: dict[str, list[Any]] = {}
        self.tau = q_0

    @property
    def t(self):
        return self.n * self.period

    def _encode(self):
        return np.round(self.motors.q / ENCODER) * ENCODER

    def run(self, duration):
        for _ in range(round(duration / self.period)):
            self.step()
        return {name: np.array(rows) for name, rows in self.trace.items()}

    def step(self):
        self.n += 1
        self.now_ns += round(1e9 * self.period)
        self._up.append(self._sample.leader_state.q)
        if self.t >= self._next_gate:
            self._next_gate += GATE_PERIOD
            self._step_gate()
        self._render()
        self._move()
        self._note()

    def _step_gate(self):
        if self._rng.random() >= self._loss:
            self._q_cmd = self.command(self._up[0])
        status = self._status
        status["k"] += 1
        status["q_meas"] = self.servos.q  # measured, then commanded
        status["meas_ns"], status["stamp_ns"] = self.now_ns, self.now_ns
        status["q_cmd"] = self._q_cmd
        status["tau_meas"] = self.tau_meas(self._q_cmd, self.servos.q)
        status["state"], status["reasons"] = self.gate_state, self.reasons
        status["clearance"] = self.clearance
        if self._rng.random() >= self._loss:
            self._down.append(status.copy())
        self.servos.step(self._q_cmd)

    def _make_sample(self, q, speed, late=0.0):
        state = JointState(joint_names=self.names, q=readonly(q), dq=readonly(speed))
        stamp_ns = self.now_ns + round(1e9 * late)
        return LeaderSample(
            stamp_ns=stamp_ns, seq=stamp_ns, limbs={}, leader_state=state
        )

    def _sense(self, late):
        """Take a sample, if one is due, so much after the step."""
        if self.t + late >= self._next_sample - 1e-9:
            self._next_sample += self._sample_period
            q = self._encode()
            speed = (q - self._sample.leader_state.q) / self._sample_period
            self._sample = self._make_sample(q, speed, late)

    def _render(self):
        view = SessionNotice(
            self.now_ns, self.session_state, self.is_engaged, self.anchors
        )
        status = self._down[0] if self._down else None
        tau = self.haptics.step(self.now_ns, self._sample, view, status)
        self.tau = np.concatenate(list(tau.values())) if tau else 0.0 * self.motors.q
        self._posted.append(self.tau)

    def _move(self):
        dt = self.period / SUBSTEPS
        for i in range(SUBSTEPS):
            tau, before = self._posted[0], self.motors.q
            pull = 0.0
            if self.hand is not None:
                t = self.t + i * dt
                pull = self.hand.pull(t, self.motors.q, self.motors.dq)
            self.motors.step(tau + pull, dt)
            moved = self.motors.q - before
            self.true = self.true - self.tau * moved
            self.port = self.port - tau * moved + self.motors.viscous * moved**2 / dt
            self._sense((i + 1) * dt)

    def _note(self):
        passivity = self.haptics.composer.passivity
        row = {
            "t": self.t,
            "q": self.motors.q.copy(),
            "dq": self.motors.dq.copy(),
            "tau": self.tau.copy(),
            "q_cmd": self._q_cmd.copy(),
            "q_follower": self.servos.q.copy(),
            "energy": passivity.energy.copy(),
            "true": self.true,
            "port": self.port,
            "share": passivity.share.copy(),
        }
        for name, value in row.items():
            self.trace.setdefault(name, []).append(value)


NEAR = 1 << Reason.CLEARANCE
