"""Robot's end of the link to a leader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paprle.contracts.errors import ConfigError, DeviceError
from paprle.contracts.far_leader import FarLeader
from paprle.contracts.plugins import Clock, Link, SessionView
from paprle.contracts.types import Feedback, LeaderInfo, LeaderSample
from paprle.leaders.remote.config import RemoteConfig
from paprle.link.opening import LEADER, make_link, read_key
from paprle.link.remote_leader.robot_side import RobotSide, make_far_info

_VIEW_RATE = 50.0  # [Hz] chosen: what a person sees move; 0.2 Mbit/s of one arm


class RemoteLeader(FarLeader):
    """The robot's end of the link."""

    config: RemoteConfig
    view_rate = _VIEW_RATE

    def __init__(self, config: RemoteConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self.has_forces = config.forces
        self._link: Link | None = None
        self._side: RobotSide | None = None

    @property
    def info(self) -> LeaderInfo:
        """The operator's leader, by the config."""
        config = self.config
        info = LeaderInfo(
            limbs=config.limbs,
            emits=config.emits,
            joint_names=config.joints if config.emits == "joints" else {},
            axes=config.axes if config.emits == "axes" else {},
            is_absolute=bool(config.absolute),
            relative=frozenset(config.limbs) - frozenset(config.absolute),
            is_human=config.human,
            has_deadman=config.human and config.deadman,
            has_trigger=config.trigger,
            has_gripper=config.gripper,
        )
        return make_far_info(info, config.rate)

    @property
    def notes(self) -> Sequence[str]:
        """Notes for the operator."""
        peer = self.config.link.peer
        return (
            f"the leader is at {peer}: a stop is cleared here, by c, and not there",
        )

    def preflight(self) -> Sequence[str]:
        """Return obstacles to opening."""
        try:
            _check(self.config)
            read_key(self.config.link)
        except ConfigError as err:
            return err.problems
        return ()

    def open(self) -> None:
        """Open the link.

        Raises:
            DeviceError: If peer, key or network is missing.
        """
        self.close()
        try:
            _check(self.config)
            key = read_key(self.config.link)
        except ConfigError as err:
            raise DeviceError(str(err)) from err
        link = make_link(self.config.link, LEADER, is_leader=False)
        link.open()
        self._link, self._side = link, RobotSide(key, self.info)

    def latest(self) -> LeaderSample | None:
        """Return the next capture, or the last one."""
        if self._link is None or self._side is None:
            return None
        sample = self._side.step(self._link.receive(), self.clock())
        self._post(self._link, self._side)
        return sample

    @property
    def is_alive(self) -> bool:
        """Whether its host has sent since last asked."""
        return self._side is not None and self._side.take_life()

    def observe(self, view: SessionView) -> None:
        """Send the session's state to the operator."""
        if self._side is not None and self._link is not None:
            self._side.send_view(view, self.clock())
            self._post(self._link, self._side)

    def apply(self, feedback: Feedback) -> None:
        """Take the feedback for ``observe``."""
        if self._side is not None:
            self._side.told = feedback

    def take_told(self) -> Mapping[str, Any] | None:
        """Return new measurements of the operator's host."""
        return None if self._side is None else self._side.errors.take_told()

    def take_warnings(self) -> Sequence[str]:
        """Return new arrivals, departures and refusals."""
        return () if self._side is None else self._side.take_words(self.clock())

    @property
    def closing_notes(self) -> Sequence[str]:
        """Traffic counts."""
        return () if self._side is None else (self._side.summarise(),)

    def close(self) -> None:
        """Send a goodbye, and leave the network."""
        link, self._link = self._link, None
        if link is None:
            return
        if self._side is not None:
            self._side.send_disconnects(self.clock())
            self._post(link, self._side)
        link.close()

    @staticmethod
    def _post(link: Link, side: RobotSide) -> None:
        for data in side.take_outbox():
            link.send(data)


def _check(config: RemoteConfig) -> None:
    problems = []
    if config.link.peer is None:
        problems.append(
            "link.peer: expected the address of the host where `paprle lead` runs, got "
            "none; add link.peer=ADDRESS link.key=FILE"
        )
    named = {"joints": config.joints, "axes": config.axes}.get(config.emits)
    if named is not None and set(named) != set(config.limbs):
        problems.append(
            f"leader.{config.emits}: expected names for {', '.join(config.limbs)}, got "
            f"{', '.join(named) or 'none'}; see what `paprle lead` says it gives"
        )
    unknown = sorted(set(config.absolute) - set(config.limbs))
    if unknown:
        problems.append(
            f"leader.absolute: expected limbs of {', '.join(config.limbs)}, got "
            f"{', '.join(unknown)}"
        )
    if problems:
        raise ConfigError(problems)
