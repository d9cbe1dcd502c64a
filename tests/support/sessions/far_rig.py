"""What a hand feels of a robot over a link, in virtual time: ``feel_rig`` with a way.

One joint of 0.3 m on both sides, the leader an XC330-T288 as ``benchmarks.feel.laws``
has it. Captures go there 100 times a second and what holds the robot comes back 50
times, over the network that ``paprle.hardware.net`` plays, both as the product sends
them.
"""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

import feel_rig as rig_of
import numpy as np

from benchmarks.feel import laws
from paprle.config.laws import make_feedback_class
from paprle.contracts.settings.core import LimbSettings
from paprle.contracts.settings.feedback import RigSettings
from paprle.contracts.settings.retarget import RetargetSettings
from paprle.contracts.types import LeaderArm, LeaderInfo
from paprle.haptics.contact.contact_direction import HeldHands
from paprle.hardware.net.impairment import Impairment
from paprle.hardware.net.trace import Row, Trace
from paprle.hosts.two_hosts.remote_haptics import make_far_haptics
from paprle.retargeting.pairing import make_pairing
from paprle.retargeting.state import Anchors
from paprle.robot import RobotModel

NAME, UP, DOWN = "joint1", 0.010, 0.020
LINK = LimbSettings(base_link="base", eef_link="tip")
ONE_LEFT = 1e-9
URDF = (
    "<robot name='lever'><link name='base'/><link name='arm'>"
    "<inertial><mass value='0'/>"
    "<inertia ixx='1e-3' iyy='1e-3' izz='4e-3' ixy='0' ixz='0' iyz='0'/></inertial>"
    "</link><link name='tip'/><joint name='joint1' type='revolute'>"
    "<parent link='base'/><child link='arm'/><axis xyz='0 0 1'/>"
    "<limit lower='-3' upper='3' velocity='5' "
    f"effort='1'/><dynamics damping='{laws.VISCOUS}' friction='{laws.DRY}'/>"
    f"</joint><joint name='end' type='fixed'><origin xyz='{laws.LEVER} 0 0'/>"
    "<parent link='arm'/><child link='tip'/></joint></robot>"
)


@functools.cache
def make_lever():
    """The robot, and a leader that is built like it."""
    path = Path(tempfile.mkdtemp()) / "lever.urdf"
    path.write_text(URDF)
    robot = RobotModel.from_urdf(path, {"arm": LINK})
    arm = LeaderArm(
        urdf_path=path, base_link="base", eef_link="tip", joint_names=(NAME,),
        gripper=None, R_base=np.eye(3),
    )  # fmt: skip
    leader = LeaderInfo(
        limbs=("arm",), emits="joints", joint_names={"arm": (NAME,)},
        arms={"arm": arm}, renders="torque", rate=400.0,
    )  # fmt: skip
    return robot, leader


def make_way(round_trip, jitter, loss, seed):
    """One direction of a link with half of a round trip, its jitter within it."""
    mean = min(jitter, 0.25 * round_trip)
    row = Row(0.0, delay=0.5 * round_trip - mean, jitter=mean, loss=loss, reorder=0.1)
    return Impairment(Trace([row]), seed)


class FarRig(laws.Rig):
    """A leader, and a robot behind a link.

    Attributes:
        is_parted: Nothing crosses the link any more.
        follower: What the leader's host knows of the robot.
    """

    def __init__(self, motion, grip="tight", round_trip=0.1, **how):
        self.is_parted = False
        jitter, loss = how.pop("jitter", 0.0), how.pop("loss", 0.0)
        touch = how.pop("touch", rig_of.wall_at(laws.WALL))
        rig = RigSettings(
            damping=laws.VISCOUS,
            viscous={f"arm/{NAME}": laws.VISCOUS},
            coulomb={f"arm/{NAME}": laws.DRY},
            leader_delay=0.005,
        )
        settings = make_feedback_class()(rig=rig)
        robot, leader = make_lever()
        haptics, self.follower = make_far_haptics(settings, leader)
        super().__init__(
            settings, robot, leader, haptics=haptics, motors=laws.Motors(),
            hand=rig_of.Hand(motion, *laws.HANDS[grip]),
            servos=rig_of.Servos([0.0], touch=touch), bus_delay=0.0025,
        )  # fmt: skip
        self.anchors = None
        haptics.composer.caps[:] = laws.CAP
        haptics.composer._rise[:] = laws.CAP / 0.03
        self._ways = [make_way(round_trip, jitter, loss, seed) for seed in (0, 1)]
        posed = LeaderInfo(limbs=("arm",), emits="pose", rate=100.0)
        pairing = make_pairing(robot, posed, RetargetSettings(), {})
        self.hands = HeldHands(settings, robot, posed, pairing, self.layout)
        eye, nil = np.eye(3)[None], np.zeros((1, 3))
        self._fixed = Anchors(eye, eye, nil, nil, np.ones(1))
        self._crossing, self._newest = [], (0, 0, np.zeros(1))
        self._next_capture = self._next_view = 0.0

    def _send(self, way, what):
        self._crossing.append(what)
        if not self.is_parted:
            self._ways[way].send(str(len(self._crossing) - 1).encode(), self.t)

    def _deliver(self, way):
        return [self._crossing[int(data)] for data in self._ways[way].deliver(self.t)]

    def _step_gate(self):
        captured = self.now_ns, self._sample.leader_state.q
        if self.t >= self._next_capture - ONE_LEFT:
            self._next_capture += UP
            self._send(0, (self.n, *captured))
        self._newest = max([self._newest, *self._deliver(0)], key=lambda one: one[0])
        goal = self._newest[2]  # between two captures the motion is made
        step = np.abs(goal - self._q_cmd) * (rig_of.GATE_PERIOD / UP) + 2e-4
        self._q_cmd = self._q_cmd + np.clip(goal - self._q_cmd, -step, step)
        status = self._status
        status["q_meas"], status["q_cmd"] = self.servos.q, self._q_cmd
        status["meas_ns"] = status["stamp_ns"] = self.now_ns
        status["tau_meas"], status["state"] = np.nan, self.gate_state
        self.hands.update(status)
        self.servos.step(self._q_cmd)
        if self.t >= self._next_view - ONE_LEFT:
            self._next_view += DOWN
            self._send(1, (self._newest[1], self._find_view()))

    def _find_view(self):
        return self.hands.find(self.now_ns, self._fixed)

    def _render(self):
        for captured_ns, view in self._deliver(1):
            self._hear(captured_ns, view)
        super()._render()

    def _hear(self, captured_ns, view):
        age_ns = self.now_ns - captured_ns if captured_ns else None
        self.follower.hear(self.now_ns, age_ns, view, is_following=True)
