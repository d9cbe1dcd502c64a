"""Contract tests of links."""
# ruff: noqa: D102, S101 - tests: the name is the sentence

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator

import pytest

from paprle.contracts.plugins import Link

_PATIENCE = 20.0  # [s] chosen: ends find each other, on a busy machine
_N_CALLS = 200  # chosen: enough to meet a call that waits
_CALLS_TIME = 1.0  # [s] chosen: 5 ms a call is a blocked call even on a busy machine
_LARGEST = 4096  # [bytes] spec: safety.md A7: packets are never larger


class LinkContract(ABC):
    """Tests of any link; fill ``make_link``."""

    @abstractmethod
    def make_link(self, *, is_leader: bool) -> Link:
        """Return a new, unopened end; open ends are connected."""

    @pytest.fixture
    def ends(self) -> Iterator[tuple[Link, Link]]:
        """Yield open leader and follower ends."""
        leader, follower = (
            self.make_link(is_leader=True),
            self.make_link(is_leader=False),
        )
        leader.open()
        follower.open()
        yield leader, follower
        leader.close()
        follower.close()

    def carry(self, sender: Link, receiver: Link, data: bytes) -> list[bytes]:
        """Send until data arrives, and return it."""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            sender.send(data)
            time.sleep(0.02)  # noqa: TID251 - the network takes its time
            arrived = receiver.receive()
            if arrived:
                return arrived
        raise AssertionError(f"nothing arrived within {_PATIENCE:g} s")

    def test_closes_before_it_was_opened_and_twice(self) -> None:
        link = self.make_link(is_leader=True)

        link.close()
        link.open()
        link.close()
        link.close()

    @pytest.mark.parametrize("size", [1, 500, _LARGEST])
    def test_carries_bytes_both_ways_as_they_are(
        self, ends: tuple[Link, Link], size: int
    ) -> None:
        data = bytes(range(256)) * (size // 256) + bytes(range(size % 256))
        leader, follower = ends

        assert set(self.carry(leader, follower, data)) == {data}
        assert data in self.carry(follower, leader, data)

    def test_an_end_receives_none_of_its_own_packets(
        self, ends: tuple[Link, Link]
    ) -> None:
        leader, follower = ends
        self.carry(leader, follower, b"to the follower")

        assert leader.receive() == []

    def test_send_and_receive_never_block(self, ends: tuple[Link, Link]) -> None:
        leader, follower = ends

        begin = time.perf_counter()
        for _ in range(_N_CALLS):
            leader.send(b"set-point")
            follower.receive()
        assert time.perf_counter() - begin < _CALLS_TIME

    def test_a_closed_end_takes_nothing_and_hears_nothing(self) -> None:
        link = self.make_link(is_leader=False)
        link.open()
        link.close()

        assert not link.send(b"late")
        assert link.receive() == []
