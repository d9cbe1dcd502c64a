"""Reading of several servos at once, fast if all can."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dynamixel_sdk import GroupSyncRead
from dynamixel_sdk.robotis_def import COMM_SUCCESS

from paprle.hardware.dynamixel.line.wire import Wire
from paprle.hardware.serial_bus.register import Register

_SYNC_TRIES = 2  # chosen: a packet lost twice in a row is a silent servo
_FAST_TRIES = 3  # chosen: of 1 % lost packets one bus in a million reads plainly


@dataclass
class _Group:
    ids: list[int]
    read: GroupSyncRead


class GroupReads:
    """Readings of a bus.

    Attributes:
        is_fast: A group answers in one packet.
        n_missed: Abandoned requests.
    """

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self.is_fast = True
        self.n_retried = self.n_missed = 0
        self._groups: list[_Group] = []

    def assign(self, spans: Mapping[int, Register]) -> None:
        """Set the registers to read by id, on the open port."""
        ids: dict[Register, list[int]] = {}
        for servo_id, span in spans.items():
            ids.setdefault(span, []).append(servo_id)
        self._groups = []
        for span, members in ids.items():
            read = GroupSyncRead(
                self._wire.port, self._wire.packets, span.address, span.size
            )
            for servo_id in members:
                read.addParam(servo_id)
            self._groups.append(_Group(members, read))

    def choose(self) -> None:
        """Find out whether all servos know fast requests.

        Raises:
            BusError: Lost port.
        """
        self.is_fast = True
        self.is_fast = all(
            any(self._sync(group) for _ in range(_FAST_TRIES)) for group in self._groups
        )

    def read(self) -> dict[int, bytes]:
        """Return registers by id, without failed groups.

        Raises:
            BusError: Lost port.
        """
        rows: dict[int, bytes] = {}
        for group in self._groups:
            rows |= self._read_group(group)
        return rows

    def _read_group(self, group: _Group) -> dict[int, bytes]:
        for attempt in range(_SYNC_TRIES):
            self.n_retried += attempt > 0
            if self._sync(group):
                rows = group.read.data_dict.values()  # in the order they were added
                return dict(zip(group.ids, map(bytes, rows), strict=True))
        self.n_missed += 1
        return {}

    def _sync(self, group: _Group) -> bool:
        method = "fastSyncRead" if self.is_fast else "txRxPacket"
        result = self._wire.run(group.read, method)
        if result != COMM_SUCCESS:
            self._wire.count(result)
        return bool(result == COMM_SUCCESS)
