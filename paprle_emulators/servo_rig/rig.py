"""A rig in virtual time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Generic, Protocol, TypeVar

from paprle_emulators.servo_rig.answer import Answer
from paprle_emulators.servo_rig.hand import read_program
from paprle_emulators.servo_rig.held_arm import HeldArm
from paprle_emulators.servo_rig.line_faults import LineFaults

LimbT = TypeVar("LimbT", bound=HeldArm)


class ServedBus(Protocol):
    """Servos on one port."""

    n_packets: int

    def receive(self, data: bytes, now_ns: int, baud: int | None) -> list[Answer]:
        """Return answers to received bytes."""

    def look_ahead(self, ahead: float) -> None:
        """Set the age of states, [s]."""


class ServoRig(ABC, Generic[LimbT]):
    """Arms, servos and buses; ``now_ns`` in [ns]."""

    def __init__(
        self, limbs: Mapping[str, LimbT], buses: Mapping[str, ServedBus]
    ) -> None:
        self.limbs = dict(limbs)
        self.line_faults = {port: LineFaults() for port in buses}
        self.now_ns = 0
        self._served = buses
        self._play_ns: int | None = None
        self._late: dict[str, list[tuple[int, bytes]]] = {port: [] for port in buses}
        self._planned: list[tuple[int, Callable[[], None]]] = []

    @abstractmethod
    def find_port(self, limb: str) -> str:
        """Return a limb's port."""

    def play(self, program: str, limb: str | None = None) -> None:
        """Play a program from now or a client's first packet.

        Raises:
            ValueError: If program or joints are unknown.
        """
        parts, t = read_program(program), self._play_time() or 0.0
        hands = [one.hand for n, one in self.limbs.items() if limb in (None, n)]
        known = [hand.play(parts, t) for hand in hands]
        if not any(known):
            raise ValueError(
                f"motion '{program}': expected joints of the rig, got none"
            )

    def pose(self, joints: Mapping[str, float], limb: str | None = None) -> None:
        """Move joints by hand, [rad].

        Raises:
            ValueError: If one is unknown.
        """
        left = set(joints)
        for name, one in self.limbs.items():
            if limb in (None, name):
                names = list(one.joints)
                mine = {names.index(j): q for j, q in joints.items() if j in names}
                one.hand.go_to(mine, self._play_time() or 0.0)
                left -= set(names)
        if left:
            raise ValueError(f"expected joints of the rig, got {', '.join(left)}")

    def _play_time(self) -> float | None:
        """Return the hands' time, [s]; None before the first client."""
        if self._play_ns is None:
            if not any(bus.n_packets for bus in self._served.values()):
                return None
            self._play_ns = self.now_ns
        return (self.now_ns - self._play_ns) * 1e-9

    def answer(
        self, port: str, data: bytes, baud: int | None = None, ahead: float = 0.0
    ) -> list[Answer]:
        """Return answers to bytes on a bus."""
        faults, bus = self.line_faults[port], self._served[port]
        bus.look_ahead(ahead)
        heard = self._garble(port, faults.spoil_request(data))
        answers = faults.spoil(bus.receive(heard, self.now_ns, baud))
        return faults.disturb(data) + answers

    def overhear(self, port: str) -> bytes:
        """Return unrequested bytes."""
        del port
        return b""

    def _garble(self, port: str, data: bytes) -> bytes:
        del port
        return data

    def exchange(self, port: str, data: bytes, baud: int | None = None) -> bytes:
        """Return due bytes after a client's."""
        late, due = self._late[port], self.now_ns
        late.append((due, self.overhear(port)))
        for one in self.answer(port, data, baud):
            due += round(one.delay * 1e9)
            late.append((due, one.data))
        arrived = [data for due, data in late if due <= self.now_ns]
        self._late[port] = [entry for entry in late if entry[0] > self.now_ns]
        return b"".join(arrived)

    def plan(self, delay: float, action: Callable[[], None]) -> None:
        """Schedule an action after [s]."""
        self._planned.append((self.now_ns + round(delay * 1e9), action))

    def step(self, dt: float) -> None:
        """Advance dt [s], a small step."""
        before, self.now_ns = self.now_ns, self.now_ns + round(dt * 1e9)
        self._step(self._play_time(), before, dt)
        due = [action for at, action in self._planned if at <= self.now_ns]
        self._planned = [one for one in self._planned if one[0] > self.now_ns]
        for action in due:
            action()

    @abstractmethod
    def _step(self, t: float | None, before_ns: int, dt: float) -> None:
        """Step limbs, with the hands' time [s] and the time before [ns]."""

    @abstractmethod
    def describe(self) -> dict[str, object]:
        """Return the true state."""

    def report(self) -> dict[str, object]:
        """Return true state and new events."""
        return self.describe()
