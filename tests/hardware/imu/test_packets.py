"""Packets of an inertial sensor, and bytes that are damaged on the way."""

import math
import random
import struct

import pytest

from paprle.hardware.imu.packets import PacketDecoder
from paprle_emulators.imu.packets import encode

PERIOD_US = 5000
KINDS = ["attitude", "inertial"]


def make_values(kind, k):
    """A sensor that turns and shakes, exact in float32."""
    a = 0.01 * k
    if kind == "attitude":
        values = (math.cos(a), 0.6 * math.sin(a), 0.8 * math.sin(a), 0.0)
    else:
        values = (math.sin(a), 0.1, -a % 3.0, 0.5, math.cos(a), 9.81)
    return struct.unpack(f"<{len(values)}f", struct.pack(f"<{len(values)}f", *values))


def make_stream(kind, n, begin_us=1_000_000):
    sent = [(begin_us + k * PERIOD_US, make_values(kind, k)) for k in range(n)]
    return sent, [encode(kind, t, values) for t, values in sent]


def decode(kind, data, *, piece=64):
    decoder = PacketDecoder(kind)
    found = []
    for at in range(0, len(data), piece):
        found += decoder.feed(data[at : at + piece])
    return decoder, found


@pytest.mark.parametrize(("kind", "size"), [("attitude", 22), ("inertial", 31)])
def test_a_packet_has_the_published_size(kind, size):
    assert len(encode(kind, 0, make_values(kind, 0))) == size


def test_arbots_packet_is_what_its_firmware_sends():
    """Header, counter and w first; the last byte is the XOR of the 21 before it."""
    frame = encode("attitude", 0x01020304, (1.0, 0.0, 0.0, 0.0))

    assert frame[:9] == bytes.fromhex("aa 04030201 0000803f")
    assert frame[21] == 0xAA ^ 4 ^ 3 ^ 2 ^ 1 ^ 0x80 ^ 0x3F


@pytest.mark.parametrize("piece", [1, 7, 22, 4096])
@pytest.mark.parametrize("kind", KINDS)
def test_packets_come_back_however_the_reads_are_split(kind, piece):
    sent, frames = make_stream(kind, 100)

    _, found = decode(kind, b"".join(frames), piece=piece)

    assert [(p.t_us, p.values) for p in found] == sent
    assert {p.run for p in found} == {1}


def test_the_counters_wrap_is_one_step():
    sent, frames = make_stream("attitude", 40, begin_us=(1 << 32) - 20 * PERIOD_US)

    _, found = decode("attitude", b"".join(frames))

    assert [p.t_us for p in found] == [t for t, _ in sent]
    assert found[-1].run == 1


def test_headers_inside_a_payload_cost_nothing():
    t = 0xAAAAAAAA
    frames = [encode("attitude", t + k, make_values("attitude", k)) for k in range(50)]

    _, found = decode("attitude", bytes([0xAA] * 21) + b"".join(frames))

    assert len(found) == 50


def test_a_sensor_that_starts_anew_begins_another_run():
    _, before = make_stream("attitude", 10, begin_us=900_000_000)
    sent, after = make_stream("attitude", 10, begin_us=0)

    _, found = decode("attitude", b"".join(before + after))

    assert [p.run for p in found] == [1] * 10 + [2] * 10
    assert [p.t_us for p in found[10:]] == [t for t, _ in sent]


@pytest.mark.parametrize(
    "values",
    [
        (math.nan, 0, 0, 1),
        (math.inf, 0, 0, 0),
        (0, 0, 0, 0),
        (1.05, 0, 0, 0),
        (1e-40, 0, 0, 0),
    ],
    ids=str,
)
def test_an_invalid_rotation_is_refused(values):
    _, frames = make_stream("attitude", 20)
    frames[10] = encode("attitude", 1_000_000 + 10 * PERIOD_US, values)

    decoder, found = decode("attitude", b"".join(frames))

    assert len(found) == 19
    assert decoder.tally.n_refused == 1


def test_a_leap_that_no_wrist_makes_waits_for_the_next_to_bear_it_out():
    _, frames = make_stream("attitude", 20)
    frames[10] = encode("attitude", 1_000_000 + 10 * PERIOD_US, (0, 0, 0, 1))

    _, found = decode("attitude", b"".join(frames))

    assert len(found) == 19
    assert (0, 0, 0, 1) not in [p.values for p in found]


def test_a_sensor_that_rounds_coarsely_is_heard():
    """A fast inverse root leaves norms that are off by 0.2 %, each by its own."""
    rng = random.Random(3)
    frames = []
    for k in range(400):
        scale = 1.0 + rng.uniform(-2e-3, 2e-3) * (k >= 200)
        values = tuple(scale * v for v in make_values("attitude", k))
        frames.append(encode("attitude", k * PERIOD_US, values))

    _, found = decode("attitude", b"".join(frames))

    assert len(found) >= 395


def test_a_damaged_mantissa_that_passes_the_check_is_seen_by_its_norm():
    _, frames = make_stream("attitude", 300)
    t, values = 1_000_000 + 250 * PERIOD_US, list(make_values("attitude", 250))
    values[0] *= 1.002
    frames[250] = encode("attitude", t, tuple(values))

    _, found = decode("attitude", b"".join(frames))

    assert len(found) == 299


def test_a_counter_that_stands_passes_nothing_on():
    frame = encode("attitude", 5, (1, 0, 0, 0))

    _, found = decode("attitude", frame * 100)

    assert found == []


class Line:
    """Damages packets, and knows which ones it has touched."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.n_damages = 0
        self.n_touched = 0

    def damage(self, frames):
        """Return the bytes of all frames; one in ten is damaged in some way."""
        out = bytearray()
        for frame in frames:
            if self.rng.random() < 0.1:
                self.n_damages += 1
                way = self.rng.choice([self.flip, self.lose, self.insert, self.replace])
                out += way(bytearray(frame))
            else:
                out += frame
        return bytes(out)

    def flip(self, frame):
        self.n_touched += 1
        frame[self.rng.randrange(len(frame))] ^= 1 << self.rng.randrange(8)
        return frame

    def lose(self, frame):
        self.n_touched += 1
        n = self.rng.randrange(1, len(frame))
        at = self.rng.randrange(len(frame) - n + 1)
        del frame[at : at + n]
        return frame

    def insert(self, frame):
        self.n_touched += 1
        at = self.rng.randrange(len(frame) + 1)
        frame[at:at] = self.garbage(self.rng.randrange(1, 60))
        return frame

    def replace(self, frame):
        self.n_touched += 1
        n = self.rng.randrange(2, len(frame))
        at = self.rng.randrange(len(frame) - n + 1)
        frame[at : at + n] = self.garbage(n)
        return frame

    def garbage(self, n):
        """Half of it is headers, which look like the begin of a packet."""
        return bytes(
            self.rng.choice([0xAA, 0xAB, self.rng.randrange(256)]) for _ in range(n)
        )


def count_wrong(sent, got):
    """Return how many differ from what was sent: an XOR lets some rounding pass."""
    true = dict(sent)
    nothing = (math.inf,) * 6
    errors = [
        max(abs(a - b) for a, b in zip(values, true.get(t, nothing), strict=False))
        for t, values in got
    ]
    return sum(error > 5e-3 for error in errors)


def judge(kind, seed, n):
    line = Line(seed)
    sent, frames = make_stream(kind, n, begin_us=(1 << 32) - n * PERIOD_US // 2)
    data = line.damage(frames)
    _, found = decode(kind, data, piece=200)
    got = [(p.t_us, p.values) for p in found]
    return line, sent, got, len(data)


@pytest.mark.parametrize("kind", KINDS)
def test_a_damage_costs_one_packet_and_nothing_wrong_is_passed_on(kind):
    line, sent, got, _ = judge(kind, seed=1, n=4000)

    assert count_wrong(sent, got) == 0
    assert got == sorted(got)
    assert line.n_damages > 300
    assert len(sent) - len(got) <= line.n_damages


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", KINDS)
def test_a_million_damaged_bytes_cost_one_packet_a_damage(kind, seed):
    line, sent, got, n_bytes = judge(kind, seed, n=48_000)

    assert n_bytes > 1_000_000
    assert count_wrong(sent, got) == 0
    assert got == sorted(got)
    assert len(sent) - len(got) <= line.n_damages


@pytest.mark.parametrize("kind", KINDS)
def test_noise_alone_is_no_packet(kind):
    data = random.Random(2).randbytes(200_000)

    _, found = decode(kind, data, piece=4096)

    assert found == []


@pytest.mark.parametrize("bit", range(7, 17))
def test_a_damaged_time_that_the_check_lets_pass_is_not_passed_on(bit):
    """The same bit of two bytes: the XOR is right, the value as good as right."""
    sent, frames = make_stream("attitude", 60)
    frame = bytearray(frames[40])
    frame[1 + bit // 8] ^= 1 << bit % 8
    frame[5] ^= 1 << bit % 8  # of w, the least
    frames[40] = bytes(frame)

    decoder, found = decode("attitude", b"".join(frames))

    true = {t for t, _ in sent}
    assert {p.t_us for p in found} == true - {sent[40][0]}
    assert {p.run for p in found} == {1}
    assert decoder.tally.n_refused == 1


@pytest.mark.parametrize("jitter_us", [0, 100, 400])
def test_a_sensor_whose_steps_vary_loses_nothing(jitter_us):
    rng = random.Random(3)
    times = [1_000_000 + k * PERIOD_US + rng.randint(0, jitter_us) for k in range(400)]
    frames = [
        encode("attitude", t, make_values("attitude", k)) for k, t in enumerate(times)
    ]
    lost = {k for k in range(20, 400) if rng.random() < 0.3}

    _, found = decode(
        "attitude", b"".join(f for k, f in enumerate(frames) if k not in lost)
    )

    assert len(found) >= 0.98 * (400 - len(lost))
    assert {p.run for p in found} == {1}


def test_a_sensor_that_stalls_or_changes_its_rate_is_followed():
    times = [1_000_000 + k * PERIOD_US for k in range(50)]
    times += [times[-1] + 17_300 + k * PERIOD_US for k in range(50)]
    times += [times[-1] + (k + 1) * PERIOD_US // 2 for k in range(100)]
    data = b"".join(
        encode("attitude", t, make_values("attitude", k)) for k, t in enumerate(times)
    )

    _, found = decode("attitude", data)

    assert len(found) > 190
    assert {p.run for p in found} == {1}
