"""What both hosts of a link make of the same config."""

from __future__ import annotations

from pathlib import Path

from paprle import __version__
from paprle.config import Resolved
from paprle.contracts.errors import ConfigError
from paprle.contracts.plugins import Link
from paprle.contracts.types import RobotInfo
from paprle.ipc.records import Layout
from paprle.link.terms import make_digest
from paprle.plugins import find_plugin, load_factory

PERIOD_RATE = 1000.0  # [Hz] chosen: how often a host looks; half a period on the way
SILENCE = 5.0  # [s] chosen: after this the other host is gone; the gate held long ago
_KEY_BYTES = 16  # [bytes] chosen: fewer can be guessed
_OTHERS = 0o077  # spec: permission bits of everybody else


def make_link(resolved: Resolved, *, is_leader: bool) -> Link:
    """Make one end of the config's link, closed."""
    factory = load_factory(find_plugin("link", resolved.link.type))
    link: Link = factory(resolved.link, resolved.follower_name, is_leader=is_leader)
    return link


def read_key(resolved: Resolved) -> bytes:
    """Return the secret that both hosts share.

    Raises:
        ConfigError: If there is none, or everybody could read it.
    """
    path = resolved.link.key
    how = "make one with: openssl rand -hex 32 > link.key; chmod 600 link.key"
    if path is None:
        raise ConfigError(f"link.key: expected a file, the same on both hosts; {how}")
    try:
        key = Path(path).read_bytes().strip()
        mode = Path(path).stat().st_mode
    except OSError as err:
        raise ConfigError(
            f"link.key: expected a file, got '{path}' ({err.strerror}); {how}"
        ) from err
    if len(key) < _KEY_BYTES or mode & _OTHERS:
        raise ConfigError(
            f"link.key: expected at least {_KEY_BYTES} bytes that only their owner may "
            f"read, got {len(key)} with mode {mode & 0o777:o}; {how}"
        )
    return key


def identify(resolved: Resolved, robot: RobotInfo, layout: Layout) -> dict[str, str]:
    """Return what both hosts must agree on: what is said, and of which robot."""
    limits = (robot.q_min, robot.q_max, robot.dq_max, robot.ddq_max, robot.dddq_max)
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
