"""One PiPER in each world, what reached it, and how it moved, by its own log."""

from __future__ import annotations

import numpy as np
import piper_rig
import ros_rig
from worlds import Arrived


class RosArm:
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


class CanArm:
    """The robot on its own bus."""

    def __init__(self, folder):
        self.env, self.robot = {}, ros_rig.load_robot("piper")
        self.rig = piper_rig.EmulatedPiper(folder)
        self.args = self.rig.args
        self.kill, self.end, self.hurt = self.rig.kill, self.rig.end, self.rig.do

    def read(self):
        record = self.rig.read()
        eps = float(piper_rig.QUANTUM[0])
        q = record.commands[:, :6]
        arrived = Arrived("can", list(range(6)), record.stamps, q, eps)
        return arrived, record.state_stamps, np.abs(record.dq).max(axis=1)


class SimulatedArm:
    """The robot in MuJoCo, which lives in the gate's process: the recording tells."""

    def __init__(self):
        self.env, self.robot = {}, ros_rig.load_robot("piper")
        self.args = ["follower=piper", "env=mujoco"]
        self.session = None

    def end(self):
        """It ends with its gate."""

    def read(self):
        gate = self.session.episode().gate
        speeds = np.abs(gate["dq_meas"][:, :6]).max(axis=1)
        ids = list(range(gate["q_cmd"].shape[1]))
        arrived = Arrived("gate", ids, gate["stamp_ns"], gate["q_cmd"])
        return arrived, gate["meas_ns"], speeds
