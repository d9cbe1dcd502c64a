"""One arm in each world, what reached it, and how it moved, by its own log."""

from __future__ import annotations

import json
import socket
import threading
import time

import damiao_rig
import dynamixel_arm
import franka_rig
import numpy as np
import piper_rig
import pytest
import ros_rig
import so101_arm
import ur_rig
import xarm_rig
from worlds import Arrived, judge_arrived

from paprle_emulators import start

LATE = 0.025  # [s] chosen: five periods


class Arm:
    """Limits and period of what arrives: the gate's.

    Attributes:
        period: Of the commands that arrive, [s].
    """

    period = 0.005

    def judge(self, arrived):
        """The oracle's verdicts on what came, a piece each."""
        return judge_arrived(arrived, self.robot, self.period)

    def find_late(self, arrived):
        """Return why what came was not on time, or ""."""
        gaps = np.diff(arrived.t_ns) * 1e-9
        is_late = gaps > LATE
        if np.mean(is_late) < 2e-3:
            return ""
        return f"{np.sum(is_late)} of {len(gaps)} goals came late"


class RosArm(Arm):
    """The robot behind ROS."""

    def __init__(self, world, folder, env):
        self.env, self.robot = env, ros_rig.load_robot("piper")
        self.topic = "/arm_controller/joint_trajectory"
        words = [
            "robot=piper",
            f"env={world}_sim",
            "transport=dds",
            "interface=loopback",
        ]
        words.append(f"domain={ros_rig.choose_domain()}")
        if world == "ros1":
            self.topic, words = "/arm_controller/command", words[:2]
            words.append("transport=rospy")
        self.rig = ros_rig.EmulatedRos(folder / "robot.jsonl", *words, env=env)
        self.args = [
            *self.rig.endpoint["overrides"],
            "follower=piper",
            f"env={world}_sim",
        ]
        self.kill, self.end, self.hurt = self.rig.kill, self.rig.end, self.rig.switch

    def read(self):
        got = ros_rig.Received(self.rig, self.robot, self.topic)
        speeds = np.abs(got.find_speeds()).max(axis=1)
        return Arrived(self.topic, got.ids, got.t_ns, got.q), got.motion_ns[1:], speeds


class CanArm(Arm):
    """The robot on its own bus."""

    def __init__(self, folder, model="piper"):
        self.env, self.robot = {}, ros_rig.load_robot(model)
        self.rig = piper_rig.EmulatedPiper(folder)
        self.args = self.rig.args
        self.kill, self.end, self.hurt = self.rig.kill, self.rig.end, self.rig.do

    def read(self):
        record = self.rig.read()
        eps = float(piper_rig.QUANTUM[0])
        q = record.commands[:, :6]
        arrived = Arrived("can", list(range(6)), record.stamps, q, eps)
        return arrived, record.state_stamps, np.abs(record.dq).max(axis=1)


class BoxArm(Arm):
    """An arm of UFACTORY behind its control box."""

    def __init__(self, folder, model="xarm7"):
        self.env, self.robot = {}, ros_rig.load_robot(model)
        self._n = len(self.robot.limbs[0].joint_names)
        home = ",".join(f"{x:.4f}" for x in self.robot.home[: self._n])
        self.rig = xarm_rig.EmulatedXArm(folder, model, q=home)
        self.args = self.rig.args
        self.kill, self.end, self.hurt = self.rig.kill, self.rig.end, self.rig.do

    def read(self):
        record, eps = self.rig.read(), xarm_rig.QUANTUM
        q = record.commands[:, : self._n]
        arrived = Arrived("box", list(range(self._n)), record.stamps, q, eps)
        return arrived, record.state_stamps, np.abs(record.dq).max(axis=1)


class ServoArm(Arm):
    """An SO-101 or SO-100 on its own bus."""

    def __init__(self, folder, model="so101"):
        self.env, self.robot = {}, so101_arm.load_robot(model)
        self._log = folder / "arm.log"
        self._rig = start(model, log=self._log)
        self.args = [*self._rig.overrides, f"follower={model}", "env=feetech"]
        self._has_collisions = False
        self.end, self.order = self._rig.stop, self._rig.order

    def kill(self):
        self._rig.process.kill()
        self._rig.process.wait()

    def hurt(self, fault):
        own = {
            "unplug": {"cmd": "unplug"},
            "duplicate_id": {"fault": fault, "joint": "wrist_roll", "of": 4},
        }
        self._has_collisions = fault == "foreign"
        self.order(own.get(fault, {"fault": fault}))

    def read(self):
        record = so101_arm.read_log(self._log)
        ids = list(range(5))  # the jaw's speed is no speed of the arm
        goals = record.goals[:, ids]
        arrived = Arrived(
            "bus", ids, record.goals_ns, goals, so101_arm.QUANTUM, self._has_collisions
        )
        return arrived, record.t_ns, np.abs(record.dq[:, ids]).max(axis=1)


class DynamixelArm(Arm):
    """An arm of Dynamixel servos on its own bus."""

    def __init__(self, folder, model="viperx300s"):
        self.env, (self.robot, _) = {}, dynamixel_arm.resolve_robot(model)
        self._log, self._model = folder / "arm.log", model
        self._rig = start("dynamixel", follower=model, log=self._log)
        self.args = [*self._rig.overrides, f"follower={model}", "env=dynamixel"]
        self.end, self.order = self._rig.stop, self._rig.order

    def kill(self):
        self._rig.process.kill()
        self._rig.process.wait()

    def hurt(self, fault):
        own = {
            "unplug": {"cmd": "unplug"},
            "duplicate_id": {"fault": fault, "joint": "wrist_rotate", "of": 7},
        }
        self.order(own.get(fault, {"fault": fault, "joint": "wrist_rotate"}))

    def read(self):
        record = dynamixel_arm.read_log(self._log, self._model)
        ids = list(range(record.goals.shape[1]))
        arrived = Arrived(
            "bus", ids, record.goals_ns, record.goals, dynamixel_arm.QUANTUM
        )
        return arrived, record.t_ns, np.abs(record.dq).max(axis=1)


class UrArm(Arm):
    """An arm of Universal Robots, at the rate of the other worlds."""

    def __init__(self, folder, model="ur5e"):
        self.env, self.robot = {}, ros_rig.load_robot(model)
        self.rig = ur_rig.EmulatedUr(folder, model)
        self.args = [*self.rig.args, "env.rate=200"]
        self.kill, self.end, self.hurt = self.rig.kill, self.rig.end, self.rig.do

    def read(self):
        record = self.rig.read()
        arrived = Arrived(
            "servoj", list(range(6)), record.stamps, record.goals, ur_rig.QUANTUM
        )
        return arrived, record.state_stamps, ur_rig.find_speeds(record)


class DamiaoArm(Arm):
    """An OpenArm or YAM on its bus. They have no brakes: left alone they sink."""

    SINKING = 0.25  # [rad/s] spec: docs/damiao.md, while a session leaves it

    def __init__(self, folder, model="openarm"):
        self.env, self.robot = {}, damiao_rig.load_robot(model)
        self.rig = damiao_rig.EmulatedDamiao(folder, model)
        self.args = self.rig.args
        self.kill, self.end, self.hurt = self.rig.kill, self.rig.end, self.rig.do

    def read(self):
        """Return goals, and speeds of joints that have torque and were not left."""
        record, n = self.rig.read(), self.rig.table.n
        arrived = damiao_rig.find_goals(record, n)
        has_torque = np.array([list(motors[:n]) for motors in record.statuses]) == "1"
        t_ns = record.state_stamps
        speeds = np.where(has_torque, np.abs(record.dq[:, :n]), 0.0).max(axis=1)
        newest = np.searchsorted(record.stamps, t_ns, "right") - 1
        is_sinking = (record.kp[newest, 0] == 0.0) & (newest >= 0)
        speeds[is_sinking] = np.maximum(speeds[is_sinking] - self.SINKING, 0.0)
        speeds[is_sinking & (newest == len(record.stamps) - 1)] = 0.0
        return arrived, t_ns, speeds


class FrankaArm(Arm):
    """A Franka behind its control unit, which judges each cycle of its own.

    A command has arrived when its packet has; the unit's own cycles are even whatever
    comes.
    """

    period = franka_rig.DT

    def __init__(self, folder, model="fr3", *, ideal=True):
        pytest.importorskip(franka_rig.ORACLES[model].package)
        self.env, self.robot = {}, ros_rig.load_robot(model)
        self.rig = franka_rig.EmulatedFranka(folder, model, ideal=ideal)
        self.args = self.rig.args
        self.kill, self.end, self.hurt = self.rig.kill, self.rig.end, self.rig.do

    def judge(self, arrived):  # noqa: ARG002 - as of the other arms
        """The verdict on every cycle of motion, by the maker's limits."""
        return [self.rig.judge()]

    def find_late(self, arrived):  # noqa: ARG002 - as of the other arms
        """Return why commands were not on time, or ""."""
        return franka_rig.find_late(self.rig.read())

    def read(self):
        record = self.rig.read()
        arrived = Arrived("unit", list(range(7)), record.stamps, record.commands)
        return arrived, record.state_stamps, np.abs(record.dq).max(axis=1)


MAKERS = {  # those on a line of their own, and the package that each needs
    "can": (CanArm, "piper_sdk"),
    "feetech": (ServoArm, "scservo_sdk"),
    "dynamixel": (DynamixelArm, "dynamixel_sdk"),
    "ur": (UrArm, "rtde_control"),
    "xarm": (BoxArm, "xarm"),
    "damiao": (DamiaoArm, "can"),
    "franka": (FrankaArm, "paprle_emulators"),  # the package is its model's
}


def make_on_line(world, folder, **kwargs):
    """Start the arm of a world without ROS; skip where its package is missing."""
    kind, package = MAKERS[world]
    pytest.importorskip(package)
    return kind(folder, **kwargs)


class SimulatedArm(Arm):
    """A simulated robot, which lives in the gate's process: the recording tells.

    Where it is the recorder that dies, an observer tells what the gate sends.
    """

    def __init__(self, folder=None, world="mujoco"):
        self.env, self.robot = {}, ros_rig.load_robot("piper")
        self.args = ["follower=piper", f"env={world}"]
        self.session = None
        self.told = None if folder is None else Told(folder / "told.sock")
        if self.told is not None:
            self.args += self.told.args

    @property
    def period(self):
        return float(self.session.episode().header["gate_period"])

    def end(self):
        """It ends with its gate."""
        if self.told is not None:
            self.told.end()

    def read(self):
        gate = self.session.episode().gate
        ids = list(range(gate["q_cmd"].shape[1]))
        arrived = Arrived("gate", ids, gate["stamp_ns"], gate["q_cmd"])
        if self.told is not None:
            return arrived, *self.told.find_speeds()
        speeds = np.abs(gate["dq_meas"][:, :6]).max(axis=1)
        return arrived, gate["meas_ns"], speeds


class Told:
    """Messages of ``paprle.observers.socket``, with their times of arrival."""

    def __init__(self, path):
        self.args = [f"observers.socket.path={path}"]
        self._rows = []
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        self._listener.listen()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self):
        with self._listener.accept()[0] as theirs, theirs.makefile() as lines:
            for line in lines:
                self._rows.append((time.monotonic_ns(), json.loads(line)["action"]))

    def end(self):
        """Its session has ended, so the last line has come."""
        self._thread.join(5.0)
        self._listener.close()

    def find_speeds(self):
        """Return arrival times, [ns], and the arm's speeds up to each, [rad/s]."""
        t_ns = np.array([at for at, _ in self._rows])
        joints = [f"joint{k}.pos" for k in range(1, 7)]
        q = np.deg2rad([[action[name] for name in joints] for _, action in self._rows])
        speeds = np.abs(np.diff(q, axis=0)) / (np.diff(t_ns) * 1e-9)[:, None]
        return t_ns[1:], speeds.max(axis=1)
