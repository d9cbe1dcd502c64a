"""Clouds and poses over the bad network of the profiles, on a virtual clock."""

import numpy as np
import pytest

from hardware.media.fragments import HEADS, unpack_ask
from hardware.media.rate import RateEstimator
from hardware.media.receiver import Receiver
from hardware.media.sender import Sender, Source
from hardware.net.impairment import Impairment
from hardware.net.trace import list_profiles, load_traces

SECRET = b"a secret of thirty-two bytes ..."
SHAPE, PERIOD, H = (120, 160), 1 / 15, 0.002
POSE, POSE_EVERY, RESERVED = 300, 0.02, 1.5e6 / 8  # [bytes], [s], [bytes/s]
MORE = 0.010  # [s] what pictures may delay poses by


class Network:
    """Both ways of a profile, with poses, and with clouds where they are asked for."""

    def __init__(self, profile, seed):
        traces = load_traces(profile)
        self.up = Impairment(traces["up"], seed, headers=0)
        self.down = Impairment(traces["down"], seed + 1, headers=0)
        rate = RateEstimator(RESERVED + 62_500.0, 6.25e6)
        self.sender = Sender(SECRET, Source(0, 0.001, PERIOD), rate, RESERVED)
        self.receiver = Receiver(SECRET, 0, SHAPE)
        rng = np.random.default_rng(1)
        self.depth = rng.integers(500, 3000, SHAPE).astype(np.uint16)
        self.now, self.ways, self.came = 100.0, [], []

    def run(self, seconds, *, sees):
        """Return p99 of the way of poses, [s]."""
        for k in range(round(seconds / H)):
            self.now = now = self.now + H
            if k % round(POSE_EVERY / H) == 0:
                self.down.send(np.float64(now).tobytes().ljust(POSE), now)
            if sees:
                self._look(k, now)
            for data in self.down.deliver(now):
                if len(data) == POSE:
                    self.ways.append(now - np.frombuffer(data[:8])[0])
                elif self.receiver.receive(data[:-HEADS], now) is not None:
                    self.came.append(now)
        return np.percentile(self.ways, 99)

    def _look(self, k, now):
        ask = self.receiver.ask(now)
        if ask is not None:
            self.up.send(ask, now)
        for data in self.up.deliver(now):
            self.sender.hear(unpack_ask(SECRET, data), now)
        if k % round(PERIOD / H) == 0:
            self.sender.offer(round(1e9 * now), self.depth)
        for data in self.sender.step(now, round(1e9 * now)):
            self.down.send(data + bytes(HEADS), now)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("profile", list_profiles())
def test_poses_are_no_later_for_the_clouds_and_clouds_flow(profile, seed):
    alone = Network(profile, seed).run(20.0, sees=False)
    beside = Network(profile, seed)

    assert beside.run(20.0, sees=True) < alone + MORE
    assert len(beside.came) > 100, "five a second at least"


def test_clouds_stop_in_a_partition_and_flow_again_after_it():
    network = Network("acceptance", 0)
    network.run(5.0, sees=True)
    network.up.is_dead = network.down.is_dead = True
    begin, before = network.now, network.down.counts["lost"]
    network.run(10.0, sees=True)
    network.up.is_dead = network.down.is_dead = False
    network.run(3.0, sees=True)

    n_poses = round(10.0 / POSE_EVERY)
    assert network.down.counts["lost"] - before - n_poses < 50, "little into silence"
    assert sum(t > begin + 10.0 for t in network.came) > 10
