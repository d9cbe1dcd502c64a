"""Prediction of a remote robot's present state."""

from __future__ import annotations

import numpy as np

from paprle.contracts.session_view import MirroredRobot
from paprle.contracts.types import GateState, RobotInfo
from paprle.hosts.views.posed_robot import PosedRobot
from paprle.ipc.records import Record
from paprle.reconstruction.mirror_display import RobotMirror, Word


class Mirroring:
    """Predictor fed with ticks and gate statuses."""

    def __init__(self, robot: RobotInfo) -> None:
        self._find_poses = PosedRobot(robot).find_poses
        self.mirror = RobotMirror(robot)
        self._asked_ns = self._heard_ns = 0

    def look(self, tick: Record, status: Record, now_ns: int) -> MirroredRobot | None:
        """Return the present state, local time; None before a measurement."""
        asked_ns, heard_ns = int(tick["stamp_ns"]), int(status["meas_ns"])
        if asked_ns > self._asked_ns and np.isfinite(tick["q_des"]).all():
            self._asked_ns = asked_ns
            q = tick["q_des"]
            self.mirror.ask(asked_ns, q, self._find_poses(q))
        if heard_ns > self._heard_ns and np.isfinite(status["q_meas"]).all():
            self._heard_ns = heard_ns
            self.mirror.hear(
                Word(
                    written_ns=int(status["stamp_ns"]),
                    measured_ns=heard_ns,
                    used_ns=int(status["setpoint_ns"]),
                    q=status["q_meas"],
                    Ts_base_eef=self._find_poses(status["q_meas"]),
                    may_follow=int(status["state"]) == GateState.ENGAGED,
                )
            )
        return self.mirror.show(now_ns)
