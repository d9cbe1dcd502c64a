"""Clouds and poses over the bad network of the profiles, on a virtual clock."""

import numpy as np
import pytest
from cells import spread

from paprle.hardware.media.fragments import HEADS, unpack_ask
from paprle.hardware.media.rate import RateEstimator
from paprle.hardware.media.receiver import Receiver
from paprle.hardware.media.sender import ImageSource, Sender
from paprle.hardware.net.impairment import Impairment
from paprle.hardware.net.trace import DIRECTIONS, Row, Trace, list_profiles, load_traces

SECRET = b"a secret of thirty-two bytes ..."
SHAPE, PERIOD, H = (120, 160), 1 / 15, 0.002
POSE, POSE_EVERY, RESERVED = 300, 0.02, 1.5e6 / 8  # [bytes], [s], [bytes/s]
WHOLE, COLOUR = SHAPE[0] * SHAPE[1], 900  # points of an image; as many as a JPEG has
MORE = 0.010  # [s] what pictures may delay poses by


class Flow:
    """One camera's pictures: who sends them, and who looks."""

    def __init__(self, number, n_points):
        rate = RateEstimator(RESERVED + 62_500.0, 6.25e6)
        self.sender = Sender(SECRET, ImageSource(number, 0.001, PERIOD), rate, RESERVED)
        self.receiver = Receiver(SECRET, number, SHAPE)
        rng = np.random.default_rng(1)
        self.depth = np.zeros(SHAPE, np.uint16)
        self.depth.flat[:n_points] = rng.integers(500, 3000, n_points)
        self.came = []


class Network:
    """Both ways of a network, with poses, and with pictures where they are asked for.

    Args:
        traces: By direction.
        seed: Of the network.
        sizes: Points of an image of each camera.
    """

    def __init__(self, traces, seed, sizes=(WHOLE,)):
        self.up = Impairment(traces["up"], seed, headers=0)
        self.down = Impairment(traces["down"], seed + 1, headers=0)
        self.flows = [Flow(i, n_points) for i, n_points in enumerate(sizes)]
        self.now, self.ways = 100.0, []

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
                    continue
                flow = self.flows[data[-1]]
                if flow.receiver.receive(data[:-HEADS], now) is not None:
                    flow.came.append(now)
        return np.percentile(self.ways, 99)

    def _look(self, k, now):
        for data in self.up.deliver(now):
            flow = self.flows[data[-1]]
            flow.sender.hear(unpack_ask(SECRET, data[:-1]), now)
        for i, flow in enumerate(self.flows):
            ask = flow.receiver.ask(now)
            if ask is not None:
                self.up.send(ask + bytes([i]), now)
            if k % round(PERIOD / H) == 0:
                flow.sender.offer(round(1e9 * now), flow.depth)
            for data in flow.sender.step(now, round(1e9 * now)):
                self.down.send(data + bytes(HEADS - 1) + bytes([i]), now)


@pytest.mark.parametrize("seed", spread(range(3), 0))
@pytest.mark.parametrize("profile", spread(list_profiles(), "4g", "802.11b"))
def test_poses_are_no_later_for_the_clouds_and_clouds_flow(profile, seed):
    traces = load_traces(profile)
    alone = Network(traces, seed).run(20.0, sees=False)
    beside = Network(traces, seed)

    assert beside.run(20.0, sees=True) < alone + MORE
    assert len(beside.flows[0].came) > 100, "five a second at least"


@pytest.mark.nightly
@pytest.mark.long
@pytest.mark.parametrize("rate", [5e6, 10e6], ids=["5 Mbit/s", "10 Mbit/s"])
def test_poses_are_no_later_where_clouds_and_colour_meet_in_a_queue(rate):
    traces = dict.fromkeys(DIRECTIONS, Trace([Row(0.0, delay=0.05, rate=rate)]))
    alone = Network(traces, 0).run(20.0, sees=False)
    beside = Network(traces, 0, sizes=(WHOLE, COLOUR))

    assert beside.run(20.0, sees=True) < alone + MORE
    assert all(len(flow.came) > 200 for flow in beside.flows), "ten a second at least"


def test_clouds_stop_in_a_partition_and_flow_again_after_it():
    network = Network(load_traces("acceptance"), 0)
    network.run(5.0, sees=True)
    network.up.is_dead = network.down.is_dead = True
    begin, before = network.now, network.down.counts["lost"]
    network.run(10.0, sees=True)
    network.up.is_dead = network.down.is_dead = False
    network.run(3.0, sees=True)

    n_poses = round(10.0 / POSE_EVERY)
    assert network.down.counts["lost"] - before - n_poses < 50, "little into silence"
    assert sum(t > begin + 10.0 for t in network.flows[0].came) > 10
