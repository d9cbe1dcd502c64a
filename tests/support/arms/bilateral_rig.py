"""Two emulated Damiao arms in virtual time: one in a hand leads the other.

Both plants, their motors and every frame are those of ``paprle_emulators.damiao``; the
frames are made by the product's drivers, the torques by the real ``Haptics``. Between
them the command and the follower's state cross a link with a delay.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from paprle.config import resolve
from paprle.contracts.types import (
    GateState,
    JointState,
    LeaderSample,
    SessionState,
    readonly,
)
from paprle.contracts.urdf.gravity import Gravity
from paprle.followers.damiao.grip import Grip
from paprle.haptics.haptics import SessionNotice, make_haptics
from paprle.hardware.damiao.arm import DamiaoArm
from paprle.hardware.damiao.guided import GuidedArm
from paprle.hardware.damiao.models import ARMS
from paprle.hardware.damiao.packets import unpack_feedback
from paprle.hardware.damiao.powered import ArmSettings
from paprle.hosts.factories import make_leader
from paprle.hosts.plan import make_feedback, make_robot
from paprle.ipc.records import make_layout
from paprle_emulators.damiao.hand import Hand
from paprle_emulators.damiao.models import ARMS as TABLES
from paprle_emulators.damiao.models import MOTORS
from paprle_emulators.damiao.motor import QUIET, Motor
from paprle_emulators.damiao.plant import Plant
from paprle_emulators.damiao.protocol import ENABLE, SPECIAL
from paprle_emulators.piper.protocol import Frame

DT = 0.001  # [s] as the emulator's own
BEGIN_NS = 10**9
PERIOD = 5  # [steps] of buses, gate and feedback
FEEL, GATE = 2, 3  # [steps] of a period, after the leader's round


class VirtualArm:
    """A plant, its motors, and the driver whose frames reach them."""

    def __init__(self, model, driver, urdf, joints):
        table = TABLES[model]
        self.plant = Plant(table, np.array(table.q), 1.0)
        self.motors = [
            Motor(k, MOTORS[kind], table.timeout, k, QUIET)
            for k, kind in enumerate(table.motors, start=1)
        ]
        settings = ArmSettings(
            interface="emucan",
            channel="none",
            model=ARMS[model],
            has_gripper=True,
            rate=200.0,
            timeout=0.4,
            descent=0.0,
        )
        gravity = Gravity(urdf, joints, {})
        self.driver = driver(settings, gravity.compute, lambda: 0)
        for motor in self.motors:
            enable = Frame(motor.number, SPECIAL + bytes([ENABLE]))
            motor.take(enable, BEGIN_NS, np.zeros(3))
        self.q, self.dq = self.plant.q.copy(), np.zeros(table.n + 1)

    def exchange(self, frames, now_ns):
        """Give a round to the motors and read their answers."""
        for k, (motor, data) in enumerate(zip(self.motors, frames, strict=True)):
            state = np.array([self.plant.q[k], self.plant.dq[k], self.plant.tau[k]])
            answer = motor.take(Frame(motor.number, data), now_ns, state)
            found = unpack_feedback(
                self.driver.bus.models[k], motor.number, answer.data, now_ns
            )
            self.q[k], self.dq[k] = found.q, found.dq

    def step(self, now_ns):
        for k, motor in enumerate(self.motors):
            motor.step(now_ns, float(self.plant.tau[k]), DT)
        self.plant.step(np.array([motor.law for motor in self.motors]).T, DT)


class BilateralRig:
    """Both arms in lock-step.

    Attributes:
        given: What the hand got out of the leader, less what it put in, [J].
        most_given: The most of it.
        worst: The most that rendered torques and the motors' damping gave at a joint,
            less what they took before, shape (n + 1,), [J].
        trace: Rows by name: t, q, q_follower, felt, hand.
    """

    def __init__(self, model, delay=0.0, *words):
        resolved = resolve(
            [f"leader={model}", f"follower={model}", "env=damiao", *words]
        )
        robot, leader = make_robot(resolved), make_leader(resolved)
        info = leader.info
        (limb,), (own,) = robot.info.limbs, info.arms.values()
        self.layout = make_layout(robot.info, info)
        feedback = make_feedback(resolved, info)
        self.haptics = make_haptics(
            feedback, robot, info, resolved.retarget, self.layout
        )
        self.leader = VirtualArm(model, GuidedArm, own.urdf_path, own.joint_names)
        self.follower = VirtualArm(
            model, DamiaoArm, robot.info.urdf_path, limb.joint_names
        )
        self.hand = Hand(TABLES[model], self.leader.plant, "still")
        self.grip, self.arm = Grip.of(limb.gripper, ARMS[model]), info.limbs[0]
        self.ids = [robot.joint_names.index(name) for name in (
            *limb.joint_names, limb.gripper.joint)]  # fmt: skip
        self.leader.q = self.leader.plant.q.copy()
        self.follower.plant.q = self.leader.plant.q.copy()
        self.names = self.haptics.joints.names
        n = round(0.5 * delay / (PERIOD * DT)) + 1
        self._up = deque([self.leader.q.copy()] * n, maxlen=n)
        self._down = deque(maxlen=n)
        self._status = np.zeros((), dtype=self.layout.status)
        self._held = self.follower.plant.q.copy()
        self.felt = self._rendered = np.zeros(len(self.names))
        self.n, self.seq = 0, 0
        self.given = self.most_given = 0.0
        self.work, self.worst = np.zeros((2, len(self.names)))
        self.trace = {}
        self._sample = self._make_sample()

    @property
    def now_ns(self):
        return BEGIN_NS + round(1e9 * DT) * self.n

    @property
    def t(self):
        return self.n * DT

    def run(self, duration):
        for _ in range(round(duration / DT)):
            self.step()
        return {name: np.array(rows) for name, rows in self.trace.items()}

    def step(self):
        self.n += 1
        turn = self.n % PERIOD
        if turn == 0:
            frames = self.leader.driver.make_round(self.leader.q, self.felt)
            self.leader.exchange(frames, self.now_ns)
            self._rendered = self.felt
            self._sample = self._make_sample()
        elif turn == FEEL:
            self._feel()
        elif turn == GATE:
            self._command()
        self._move()

    def lead(self, joint, way, grip=1.0):
        """Let the hand take one joint along ``way(t)`` from its home, [rad]."""
        home = self.leader.plant.q.copy()
        unit = np.eye(home.size)[joint]
        self.hand._player._motion = lambda t: home + way(t) * unit
        self.hand.stiffness = grip * self.hand.stiffness
        self.hand.hold(True)

    def put_wall(self, joint, depth):
        """Put an obstacle in the follower's way, so far from its home, [rad]."""
        place = self.follower.plant.q[joint] + depth
        self.follower.plant.block(joint, -np.inf, place)

    def _make_sample(self):
        self.seq += 1
        q, dq = readonly(self.leader.q.copy()), readonly(self.leader.dq.copy())
        state = JointState(joint_names=self.names, q=q, dq=dq)
        return LeaderSample(
            stamp_ns=self.now_ns, seq=self.seq, limbs={}, leader_state=state
        )

    def _feel(self):
        view = SessionNotice(self.now_ns, SessionState.ENGAGED, True, None)
        status = self._down[0] if self._down else None
        tau = self.haptics.step(self.now_ns, self._sample, view, status)
        caps = self.leader.driver._caps
        felt = tau.get(self.arm, np.zeros(len(self.names)))
        self.felt = np.clip(felt, -caps, caps)

    def _command(self):
        self._up.append(self._sample.leader_state.q)
        arm = self.follower
        self._held = self._up[0]
        arm.exchange(arm.driver.make_round(self._held, arm.q, arm.dq), self.now_ns)
        status = self._status
        status["k"] += 1
        status["q_meas"][self.ids] = self._to_robot(arm.q)
        status["q_cmd"][self.ids] = self._to_robot(self._held)
        status["meas_ns"] = status["stamp_ns"] = self.now_ns
        status["tau_meas"], status["clearance"] = np.nan, np.nan
        status["state"] = GateState.ENGAGED
        self._down.append(status.copy())

    def _to_robot(self, q):
        return np.append(q[:-1], self.grip.to_joint(float(q[-1])))

    def _move(self):
        plant = self.leader.plant
        self.hand.step(DT)
        before, work = plant.q.copy(), plant.hand_work.sum()
        self.leader.step(self.now_ns)
        self.follower.step(self.now_ns)
        self.given += work - plant.hand_work.sum()
        self.most_given = max(self.most_given, self.given)
        moved = plant.q - before
        drag = self.leader.driver._drag * moved**2 / DT
        self.work = self.work + self._rendered * moved - drag
        self.worst = np.maximum(self.worst, self.work)
        row = {
            "t": self.t,
            "q": plant.q.copy(),
            "q_follower": self.follower.plant.q.copy(),
            "felt": self.felt.copy(),
            "hand": plant.tau_hand.copy(),
        }
        for name, value in row.items():
            self.trace.setdefault(name, []).append(value)
