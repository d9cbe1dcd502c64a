"""A UR5e and an xArm 7, emulated, as one robot of ``env=mix``."""

from __future__ import annotations

import numpy as np
import ur_rig
import xarm_rig
from emulated_arms import Arm
from mixed_arms import describe
from worlds import Arrived, judge_arrived

from paprle.config import resolve
from paprle.hosts.plan import make_robot

UR, XARM = list(range(6)), list(range(6, 13))
XARM_HOME = "0,-0.2007,0,0.8064,0,1.0069,0"


class MixedArms(Arm):
    """Both arms, led by one hand, each judged by its own log."""

    def __init__(self, folder):
        for name in ("ur", "xarm"):
            (folder / name).mkdir()
        path = describe(folder, "ur5e@left", "xarm7@right")
        self.env = {}
        self.robot = make_robot(
            resolve(["leader=autopilot", f"follower={path}", "env=kinematic"])
        ).info
        self.ur = ur_rig.EmulatedUr(folder / "ur", model="ur5e")
        self.xarm = xarm_rig.EmulatedXArm(folder / "xarm", q=XARM_HOME)
        self.args = [f"follower={path}", "env=mix", "gate.accept_unattended=true"]
        self.args += [f"env.left.host={self.ur.host}"]
        self.args += [f"env.right.host={self.xarm.host}"]
        self.args += ["retarget.limb_map={left: hand, right: hand}"]

    def end(self):
        self.ur.end()
        self.xarm.end()

    def judge(self, arrived):
        """The oracle's verdicts on what came to either arm."""
        return [
            v for one in arrived for v in judge_arrived(one, self.robot, self.period)
        ]

    def read(self):
        """Return what came to each arm, and the speeds of both in the order of time."""
        left, right = self.ur.read(), self.xarm.read()
        arrived = [
            Arrived("servoj", UR, left.stamps, left.goals, ur_rig.QUANTUM),
            Arrived("box", XARM, right.stamps, right.commands, xarm_rig.QUANTUM),
        ]
        t_ns = np.concatenate([left.state_stamps, right.state_stamps])
        speeds = [ur_rig.find_speeds(left), np.abs(right.dq).max(axis=1)]
        order = np.argsort(t_ns, kind="stable")
        return arrived, t_ns[order], np.concatenate(speeds)[order]
