"""The identity that both hosts must share."""

from __future__ import annotations

from paprle import __version__
from paprle.config import Resolved
from paprle.contracts.robot_info import JOINT_LIMITS
from paprle.contracts.types import RobotInfo
from paprle.ipc.records import Layout
from paprle.link.handshake import make_digest

PERIOD_RATE = 1000.0  # [Hz] chosen: how often a host looks; half a period on the way
SILENCE = 5.0  # [s] chosen: after this the other host is gone; the gate held long ago


def identify(resolved: Resolved, robot: RobotInfo, layout: Layout) -> dict[str, str]:
    """Return version, robot, rate and record layout."""
    limits = [getattr(robot, name) for name in JOINT_LIMITS]
    return {
        "version": __version__,
        "follower": resolved.follower_name,
        "joints": make_digest(robot.joint_names),
        "limits": make_digest(
            [None if row is None else row.tolist() for row in limits]
        ),
        "session.rate": f"{resolved.session.rate:g}",
        "layout": make_digest(layout.setpoint.descr, layout.status.descr),
    }
