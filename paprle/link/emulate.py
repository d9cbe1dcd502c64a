"""Emulated network (``link.emulate``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from paprle.contracts.errors import ConfigError
from paprle.contracts.far_leader import FarLeader
from paprle.contracts.observing_leader import SeeingLeader
from paprle.contracts.operator.requests import Hands
from paprle.contracts.plugins import Clock, Leader, Link
from paprle.contracts.session_view import SessionView
from paprle.contracts.settings.core import LinkSettings
from paprle.contracts.types import Feedback, LeaderInfo, LeaderSample
from paprle.hardware.net.impairment import Impairment
from paprle.hardware.net.trace import TraceError, load_traces
from paprle.link.remote_leader.hand_poses import make_placing
from paprle.link.remote_leader.operator_side import OperatorSide, make_feedback
from paprle.link.remote_leader.robot_side import RobotSide, make_far_info

_KEY = b"of a network that is played alone"
_S = 1e-9  # [s]


def make_ways(settings: LinkSettings) -> tuple[Impairment, Impairment]:
    """Return both directions of the network, up and down.

    Raises:
        ConfigError: If its trace cannot be read.
    """
    try:
        traces = load_traces(settings.emulate or "")
    except TraceError as err:
        raise ConfigError(f"link.emulate: {err}") from err
    up, down = traces["up"], traces["down"]
    return Impairment(up, 2 * settings.seed), Impairment(down, 2 * settings.seed + 1)


class EmulatedLink(Link):
    """Carrier with an emulated network around it."""

    def __init__(self, carrier: Link, clock: Clock) -> None:
        super().__init__(carrier.config, carrier.name, is_leader=carrier.is_leader)
        up, down = make_ways(carrier.config)
        self._out, self._in = (up, down) if carrier.is_leader else (down, up)
        self._carrier, self._clock = carrier, clock

    def open(self) -> None:
        """Join the network."""
        self._carrier.open()

    def send(self, data: bytes) -> bool:
        """Send a datagram after the emulated delay."""
        self._out.send(data, self._clock() * _S)
        return True

    def receive(self) -> list[bytes]:
        """Return the arrived datagrams."""
        now = self._clock() * _S
        for data in self._out.deliver(now):
            self._carrier.send(data)
        for data in self._carrier.receive():
            self._in.send(data, now)
        return self._in.deliver(now)

    def close(self) -> None:
        """Leave the network; idempotent."""
        self._carrier.close()


class EmulatedLeader(FarLeader):
    """Local leader behind an emulated network."""

    view_rate = 50.0

    def __init__(self, leader: Leader, settings: LinkSettings, clock: Clock) -> None:
        """Prepare; the leader is closed.

        Raises:
            ConfigError: If the trace cannot be read, or the leader sees the session.
        """
        super().__init__(leader.config, clock)
        if isinstance(leader, SeeingLeader):
            raise ConfigError(
                f"link.emulate: expected a leader at the operator, got "
                f"'{type(leader).__name__}', which looks at the session it leads; "
                "leave link.emulate out"
            )
        self.is_at_page = leader.is_at_page
        self._leader, self._place = leader, make_placing(leader.info)
        self.ways = make_ways(settings)
        # what crosses is made for a device that shows it: of a program nobody is one
        far = make_far_info(leader.info)
        is_felt = leader.info.renders != "none"
        self._info = far if is_felt else replace(far, renders="none")
        self.near = OperatorSide(_KEY, self._info, settings.repeats)
        self.far = RobotSide(_KEY, self._info)

    @property
    def info(self) -> LeaderInfo:
        """Leader as the session sees it."""
        return self._info

    @property
    def notes(self) -> Sequence[str]:
        """Notes of the leader."""
        return self._leader.notes

    def hear(self, hands: Hands) -> None:
        """Pass on the hands of the operator's page."""
        self._leader.hear(hands)

    def take_warnings(self) -> Sequence[str]:
        """Return new warnings of leader and link."""
        far = self.far.take_words(self.clock())
        return (*self._leader.take_warnings(), *far)

    def open(self) -> None:
        """Open the leader."""
        self._leader.open()

    def latest(self) -> LeaderSample | None:
        """Return the next arrived capture."""
        now_ns = self.clock()
        now, (up, down) = now_ns * _S, self.ways
        captured = self._leader.latest()
        captured = None if captured is None else self._place(captured)
        view = self.near.step(down.deliver(now), captured, now_ns)
        if view is not None:
            self._leader.apply(make_feedback(view, now_ns))
        for data in self.near.take_outbox():
            up.send(data, now)
        sample = self.far.step(up.deliver(now), now_ns)
        self._post()
        return sample

    @property
    def is_alive(self) -> bool:
        """Whether the leader was received anew."""
        return self.far.take_life()

    def observe(self, view: SessionView) -> None:
        """Send the session's state back."""
        self.far.send_view(view, self.clock())
        self._post()

    def apply(self, feedback: Feedback) -> None:
        """Keep the feedback for the next view."""
        self.far.told = feedback

    @property
    def closing_notes(self) -> Sequence[str]:
        """Last notes, and counts of the network."""
        counts = (f"{k} {n}" for way in self.ways for k, n in way.counts.items())
        own = self._leader.closing_notes
        return (
            *own,
            self.far.summarise(),
            f"datagrams up and down: {', '.join(counts)}",
        )

    def close(self) -> None:
        """Close the leader."""
        self._leader.close()

    def _post(self) -> None:
        for data in self.far.take_outbox():
            self.ways[1].send(data, self.clock() * _S)
