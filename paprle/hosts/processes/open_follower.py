"""Opening of a follower, with checks."""

from __future__ import annotations

from paprle.config import Resolved
from paprle.config.folders import SESSION, find_site
from paprle.contracts.errors import DeviceError
from paprle.contracts.plugins import Follower
from paprle.contracts.types import FollowerInfo, RobotInfo

_SLOWEST, _QUICKEST = 10.0, 1000.0  # [Hz] chosen: slower ones cannot be watched


def open_follower(
    resolved: Resolved, follower: Follower, robot: RobotInfo
) -> tuple[FollowerInfo, list[str]]:
    """Return an opened follower's info and notes.

    Raises:
        DeviceError: If it is another robot, cannot be watched, or may not be driven; it
            is closed again.
    """
    notes: list[str] = []
    # leave to drive what nobody stops is asked before it is given power
    goes_on = follower.goes_on_unattended
    if goes_on:
        notes.append(accept_unattended(resolved))
    info = follower.open()
    try:
        _check_info(info, robot)
        if not (goes_on or info.simulated or info.has_unattended_stop):
            notes.append(accept_unattended(resolved))
    except DeviceError:
        follower.close("hold")
        raise
    return info, notes


def _check_info(info: FollowerInfo, robot: RobotInfo) -> None:
    if info.joint_names != robot.joint_names:
        raise DeviceError(
            f"follower: expected the joints {', '.join(robot.joint_names)}, got "
            f"{', '.join(info.joint_names)}; is it another robot, or another order?"
        )
    if not _SLOWEST <= info.rate <= _QUICKEST:
        raise DeviceError(
            f"follower: expected a rate of {_SLOWEST:g} … {_QUICKEST:g} [Hz], got "
            f"{info.rate:g}"
        )


def accept_unattended(resolved: Resolved) -> str:
    """Return a note on a robot that nothing else can stop.

    Raises:
        DeviceError: If not permitted.
    """
    what = (
        f"follower '{resolved.follower_name}' in '{resolved.env_name}' does not stop "
        "by itself when nobody speaks to it"
    )
    if not resolved.gate.accept_unattended:
        raise DeviceError(
            f"{what}: expected gate.accept_unattended=true, got false; once a hardware "
            "stop is at hand, type it, or settle it for this site by the two lines "
            f"'gate:' and '  accept_unattended: true' in {find_site().path / SESSION}"
        )
    return f"{what}: keep a hand on its hardware stop"
