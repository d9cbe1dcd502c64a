"""What the operator's host measured, told over a link that loses some of it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from linked_step import KEY, SKEW_NS, Wire

from paprle.contracts.types import LeaderInfo
from paprle.link.remote_leader.error_report import (
    MOST_ROWS,
    ErrorRow,
    StreamCounts,
    describe_errors,
    pack_errors,
)
from paprle.link.remote_leader.operator_side import OperatorSide
from paprle.link.remote_leader.robot_side import RobotSide

MS = 1_000_000
HAND = LeaderInfo(limbs=("hand",), rate=100.0)


class Pair:
    """Both ends, and a wire each way."""

    def __init__(self, loss=0.0):
        self.near, self.far = OperatorSide(KEY, HAND, 3), RobotSide(KEY, HAND)
        self.up, self.down = Wire(1), Wire(2)
        self.now_ns = 10**9
        self.told, self.n = [], 0
        self.step(400)
        self.up.loss = self.down.loss = loss

    def step(self, n, rows=0):
        for k in range(n):
            self.now_ns += 5 * MS
            near_ns = self.now_ns + SKEW_NS
            if rows and k % 4 == 0:
                self.n += 1
                row = ErrorRow(near_ns - 50 * MS, 0, user_robot=1e-3 * (self.n % 50))
                self.near.note_errors([row])
            self.near.step(self.down.deliver(self.now_ns), None, near_ns)
            for data in self.near.take_outbox():
                self.up.send(data, self.now_ns)
            self.far.step(self.up.deliver(self.now_ns), self.now_ns)
            for data in self.far.take_outbox():
                self.down.send(data, self.now_ns)
            told = self.far.errors.take_told()
            self.told += [] if told is None else [told]
        return self

    @property
    def rows(self):
        return [row for told in self.told for row in told["rows"]]


def test_every_row_arrives_once_in_its_order_and_in_the_robots_time():
    pair = Pair().step(400, rows=True).step(100)

    stamps = [row[0] for row in pair.rows]
    assert len(stamps) == pair.n == 100
    assert np.diff(stamps) == pytest.approx(20 * MS, abs=MS)
    assert abs(stamps[-1] - pair.now_ns) < 1000 * MS  # not of the operator's clock
    assert pair.rows[6][1:4] == [0, 7.0, None]
    assert pair.told[-1]["missing"] == 0


def test_lost_rows_come_again_and_missing_ones_are_counted():
    pair = Pair(loss=0.4).step(2000, rows=True)
    pair.up.loss = 0.0
    pair.step(4, rows=True).step(100)

    stamps = [row[0] for row in pair.rows]
    assert len(stamps) == len(set(stamps))
    assert len(stamps) + pair.told[-1]["missing"] == pair.n
    assert len(stamps) > 0.9 * pair.n


@pytest.mark.parametrize("cut", [0, 3, 21, 30, -1])
def test_a_payload_that_is_cut_is_refused_and_counted(cut):
    pair = Pair()
    rows = [ErrorRow(0, 0, 0.01), ErrorRow(5, 0, 0.02)]
    payload = pack_errors(2, rows, StreamCounts(), 10)[:cut]

    pair.near.end.send_whole("errors", payload, pair.now_ns + SKEW_NS)
    pair.step(5)

    assert pair.far.end.refused["malformed"] == 1
    assert not pair.told


def test_more_rows_than_were_ever_numbered_are_refused():
    pair = Pair()
    payload = pack_errors(1, [ErrorRow(0, 0), ErrorRow(5, 0)], StreamCounts(), 10)

    pair.near.end.send_whole("errors", payload, pair.now_ns + SKEW_NS)
    pair.step(5)

    assert pair.far.end.refused["malformed"] == 1


def test_values_out_of_range_are_saturated_and_nan_is_unknown():
    pair = Pair()
    row = ErrorRow(
        pair.now_ns + SKEW_NS,
        1,
        user_robot=99.0,
        latency=math.inf,
        velocity_robot=0.004,
    )

    pair.near.note_errors([row])
    pair.step(100)

    [told] = pair.rows
    assert told[1:4] == [1, 6553.4, None]
    assert told[7:] == [None, None, 4.0]


def test_the_operators_host_counts_what_came_of_the_robots_words():
    pair = Pair()
    for _ in range(100):
        pair.far.end.send("tick", b"nothing that is a view", pair.now_ns)
        pair.step(1)
    pair.down.loss = 0.5
    for _ in range(100):
        pair.far.end.send("tick", b"nothing that is a view", pair.now_ns)
        pair.step(1)
    pair.down.loss = 0.0
    pair.far.end.send("tick", b"nothing that is a view", pair.now_ns)
    pair.step(2)

    counts = pair.near.counts

    assert counts.words_sent == 201
    assert counts.words_got == pytest.approx(151, abs=20)


def test_a_page_is_told_what_is_known_alone():
    streams = StreamCounts(100, 5, 50, 50).describe()

    said = describe_errors({"user_robot": 12.3}.get, streams)

    assert said == {
        "hand to robot": "12 mm",
        "captures lost": "5 of 100, 5.0 %",
        "robot's words lost": "0 of 50, 0.0 %",
    }


def test_datagrams_of_errors_are_small_enough_for_any_network():
    rows = [ErrorRow(0, 0)] * MOST_ROWS

    assert len(pack_errors(MOST_ROWS, rows, StreamCounts(), 0)) < 1200
