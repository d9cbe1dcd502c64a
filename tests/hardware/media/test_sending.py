"""Pictures over a link that is narrow, changes and loses, on a virtual clock."""

import numpy as np
import pytest

from paprle.hardware.media.fragments import (
    HEADS,
    derive,
    pack_part,
    unpack_ask,
    unpack_part,
)
from paprle.hardware.media.rate import LEAST, RateEstimator, Word
from paprle.hardware.media.receiver import Receiver
from paprle.hardware.media.sender import ImageSource, Sender

SECRET = b"a secret of thirty-two bytes ..."
SHAPE, PERIOD, H = (120, 160), 1 / 15, 0.001
SOURCE = ImageSource(number=0, unit=0.001, period=PERIOD)
POSE, POSE_EVERY = 200, 0.005  # [bytes], [s]


class Wire:
    """One way with a rate, a queue of 200 ms before it, a delay and losses."""

    def __init__(self, rate, delay=0.02, loss=0.0, jitter=0.0):
        self.rate, self.delay, self.loss, self.jitter = rate, delay, loss, jitter
        self._free, self._under_way = 0.0, []
        self._rng = np.random.default_rng(3)
        self.n_bytes = 0

    def send(self, item, n_bytes, now):
        free = max(self._free, now)
        if free - now > 0.2 or self._rng.random() < self.loss:
            return
        self._free = free + n_bytes / self.rate
        self.n_bytes += n_bytes
        late = self.delay + self.jitter * self._rng.random()
        self._under_way.append((self._free + late, item))

    def deliver(self, now):
        here = sorted((e for e in self._under_way if e[0] <= now), key=lambda e: e[0])
        self._under_way = [e for e in self._under_way if e[0] > now]
        return here


class Rig:
    """A camera of noise, a stream of poses beside it, and who looks at both."""

    def __init__(self, **wire):
        self.wire = Wire(**wire)
        # a rate that nobody knows at first, and no more than 100 Mbit/s
        rate = RateEstimator(50e3, 12e6)
        self.sender = Sender(SECRET, SOURCE, rate, POSE / POSE_EVERY)
        self.receiver = Receiver(SECRET, 0, SHAPE)
        self.now, self.pictures, self.poses = 0.0, [], []
        self._rng = np.random.default_rng(1)
        self._next_picture = self._next_pose = 0.0

    def run(self, seconds):
        end = self.now + seconds
        while self.now < end:
            self.now += H
            self._step(self.now)
        return self

    def _step(self, now):
        ask = self.receiver.ask(now)
        if ask is not None:
            self.sender.hear(unpack_ask(SECRET, ask), now)
        if now >= self._next_pose:
            self._next_pose += POSE_EVERY
            self.wire.send(now, POSE, now)
        if now >= self._next_picture:
            self._next_picture += PERIOD
            depth = self._rng.integers(500, 3000, SHAPE).astype(np.uint16)
            self.sender.offer(round(now * 1e9), depth)
        for data in self.sender.step(now, round(now * 1e9)):
            self.wire.send(data, len(data) + HEADS, now)
        for at, item in self.wire.deliver(now):
            if isinstance(item, bytes):
                picture = self.receiver.receive(item, now)
                if picture is not None:
                    self.pictures.append((now, picture))
            else:
                self.poses.append(at - item - self.wire.delay)

    def measure(self, seconds):
        """Return the share of the wire that was used, and p99 of a pose's wait [s]."""
        before, self.poses, self.pictures = self.wire.n_bytes, [], []
        self.run(seconds)
        used = (self.wire.n_bytes - before) / seconds / self.wire.rate
        return used, np.percentile(self.poses, 99)


def test_a_link_is_used_and_poses_never_wait_behind_a_cloud():
    rig = Rig(rate=5e6 / 8, loss=0.03).run(8.0)

    used, wait = rig.measure(6.0)

    assert used > 0.6
    assert wait < 0.01
    assert len(rig.pictures) > 0.9 * 6.0 / PERIOD


def test_a_link_that_narrows_is_followed_and_so_is_one_that_widens():
    rig = Rig(rate=5e6 / 8).run(8.0)
    rig.wire.rate = 2e6 / 8
    rig.run(3.0)

    used, wait = rig.measure(4.0)
    assert 0.5 < used < 1.0
    assert wait < 0.015  # a datagram alone takes 5 ms there

    rig.wire.rate = 8e6 / 8
    rig.run(8.0)
    assert rig.measure(3.0)[0] > 0.5


def test_pictures_come_thinned_and_with_their_losses_told():
    rig = Rig(rate=1e6 / 8, loss=0.1).run(6.0)

    _, picture = rig.pictures[-1]
    share = (picture.depth > 0).mean()
    assert 0.0 < share < 0.5
    counts = rig.receiver.counts
    assert counts["parts lost"] + counts["pictures lost"] > 0
    assert rig.sender.counts["points left out"] > 0


def test_a_second_viewer_gets_no_rest_of_what_the_first_one_was_sent():
    rig = Rig(rate=20e6 / 8).run(1.0)
    _catch(rig)  # of several parts
    assert rig.sender._waiting
    rig.receiver = Receiver(SECRET, 0, SHAPE)
    rig.pictures.clear()
    rig.wire = Wire(20e6 / 8)
    rig.run(1.0)

    assert rig.pictures[0][1].missing == 0.0


def test_nothing_is_sent_to_nobody_and_little_into_silence():
    rig = Rig(rate=5e6 / 8).run(4.0)
    rig.receiver.ask = lambda _: None
    rig.run(1.5)
    assert rig.sender.rate.rate < 0.3 * 5e6 / 8
    rig.run(1.0)

    before = rig.wire.n_bytes
    rig.run(1.0)
    assert rig.wire.n_bytes - before == POSE * round(1.0 / POSE_EVERY)


@pytest.mark.parametrize("change", ["flip", "cut", "foreign", "old"])
def test_foreign_datagrams_are_refused_and_counted(change):
    rig = Rig(rate=5e6 / 8).run(2.0)
    at = len(rig.pictures)
    part = unpack_part(rig.receiver._key, _catch(rig))
    data = {
        "flip": lambda: bytes([_catch(rig)[0] ^ 1]) + _catch(rig)[1:],
        "cut": lambda: _catch(rig)[:-1],
        "foreign": lambda: pack_part(b"another secret", part),
        "old": lambda: pack_part(derive(SECRET, b"another session."), part),
    }[change]()
    before = rig.receiver.counts["refused"]

    assert rig.receiver.receive(data, rig.now) is None
    assert rig.receiver.counts["refused"] == before + 1
    assert len(rig.pictures) == at


def test_a_request_without_the_secret_is_ignored():
    stranger = Receiver(b"another secret", 0, SHAPE)

    assert unpack_ask(SECRET, stranger.ask(0.0)) is None
    assert unpack_ask(SECRET, b"\x00" * 60) is None
    assert unpack_ask(SECRET, b"") is None


def test_doubled_and_overtaken_parts_change_nothing():
    rig = Rig(rate=20e6 / 8).run(1.0)
    data = [_catch(rig), _catch(rig)]
    for one in [*reversed(data), *data]:
        rig.receiver.receive(one, rig.now)

    assert rig.receiver.counts["late or doubled"] >= 2
    rig.run(1.0)
    assert len(rig.pictures) > 10


def test_a_rate_never_falls_to_nothing():
    rate = RateEstimator(1e5, 1e6)
    for k in range(100):
        rate.update(float(k), Word(0.0, 0.0, queue=0.5, loss=1.0))

    assert rate.rate == LEAST


def _catch(rig):
    """Return a datagram that is on its way."""
    while True:
        rig.now += H
        rig.sender.rate.rate = 1e6
        rig.sender.offer(1, np.full(SHAPE, 900, np.uint16))
        sent = rig.sender.step(rig.now, round(rig.now * 1e9))
        if sent:
            return sent[0]
