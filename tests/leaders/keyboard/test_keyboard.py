import os
import pty
from pathlib import Path

import numpy as np
import pytest

from paprle.contracts.errors import DeviceError
from paprle.contracts.types import SessionState
from paprle.hosts.operator.terminal import KEYS as SESSION_KEYS
from paprle.leaders.keyboard.config import KeyboardConfig
from paprle.leaders.keyboard.keys import HELP, MOTIONS, KeyParser
from paprle.leaders.keyboard.leader import Keyboard
from paprle.testing import LeaderContract, ManualClock, make_feedback

SPEED = {"speed": 0.9, "turn_speed": 0.9, "level": 1}  # 0.1 m/s, 0.1 rad/s


class Typist:
    """A leader, somebody who types, and where all axes have gone: their integral."""

    def __init__(self, **settings):
        self.read_end, self.write_end = os.pipe()
        self.clock = ManualClock()
        self.leader = Keyboard(
            KeyboardConfig(fd=self.read_end, **{**SPEED, **settings}), self.clock
        )
        self.leader.open()
        self.moved, self.stamp_ns = np.zeros(7), self.clock()
        self.take()

    def take(self):
        sample = self.leader.latest()
        dt = (sample.stamp_ns - self.stamp_ns) * 1e-9
        speeds = np.repeat(self.leader.info.axis_speeds, [3, 3, 1])
        self.moved += sample.limbs["hand"].axes * speeds * dt
        self.stamp_ns = sample.stamp_ns
        return sample

    def type(self, keys):
        os.write(self.write_end, keys.encode())
        return self.wait(0.0)

    def wait(self, time, rate=200):
        sample = self.take()
        for _ in range(round(time * rate)):
            self.clock.advance(1 / rate)
            sample = self.take()
        return sample

    def hold(self, key, time, first=0.5, period=1 / 25):
        """Hold a key as a terminal sees it: press, pause, repeats."""
        self.type(key)
        self.wait(first)
        for _ in range(round((time - first) / period)):
            self.type(key)
            self.wait(period)

    @property
    def p(self):
        return self.moved[:3]

    def close(self):
        self.leader.close()
        os.close(self.read_end)
        os.close(self.write_end)


@pytest.fixture
def make_typist():
    typists = []

    def make(**settings):
        typists.append(Typist(**settings))
        return typists[-1]

    yield make
    for typist in typists:
        typist.close()


@pytest.fixture
def typist(make_typist):
    return make_typist()


class TestContract(LeaderContract):
    @pytest.fixture(autouse=True)
    def _pipe(self):
        self.read_end, self.write_end = os.pipe()
        yield
        os.close(self.read_end)
        if self.write_end >= 0:
            os.close(self.write_end)

    def make_leader(self, clock):
        return Keyboard(KeyboardConfig(fd=self.read_end), clock)

    def stimulate(self, leader, clock):  # noqa: ARG002
        os.write(self.write_end, b"wjh\x1b[A")

    def unplug(self, leader):  # noqa: ARG002
        os.close(self.write_end)
        self.write_end = -1


@pytest.mark.parametrize("key", sorted(MOTIONS))
def test_each_key_moves_exactly_one_axis(typist, key):
    arrows = {"up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1bOD"}
    typist.type(arrows.get(key, key))
    typist.wait(1.0)

    speeds = np.repeat([0.1, 0.1, 1.0], [3, 3, 1])
    assert typist.moved == pytest.approx(0.6 * speeds * MOTIONS[key], abs=1e-9)


@pytest.mark.parametrize("rate", [25, 50, 100, 200])
def test_path_is_the_same_at_any_loop_rate(make_typist, rate):
    """At 25 Hz a period is 40 ms: keys come at its multiples."""
    typist = make_typist()
    for keys, wait in [("w", 0.4), ("w", 0.04), ("w", 0.2), ("j", 0.8), ("ad", 0.08)]:
        typist.type(keys)
        typist.wait(wait, rate)
    typist.wait(1.0, rate)

    p = [0.1 * (0.4 + 0.04 + 0.15), -0.1 * 0.6, 0]
    assert typist.moved == pytest.approx([*p, 0, 0, 0.06, 0], abs=1e-9)


def test_held_key_moves_without_a_break_and_stops_soon_after_release(typist):
    typist.hold("w", 2.0)
    at_release = typist.p[0]
    typist.wait(1.0)

    assert at_release == pytest.approx(0.2, abs=0.003)
    assert typist.p[0] - at_release < 0.1 * 0.15


def test_tap_moves_for_the_first_time_only(typist):
    typist.type("w")
    typist.wait(5.0)

    assert typist.p[0] == pytest.approx(0.06, abs=1e-9)


def test_another_key_takes_over_at_once(typist):
    typist.type("w")
    typist.wait(0.1)
    typist.type("a")
    typist.wait(2.0)

    assert typist.p == pytest.approx([0.01, 0.06, 0], abs=1e-9)


@pytest.mark.parametrize("key", [".", "\x1b[5~", "ä", "\t"], ids=repr)
def test_any_other_key_stops(typist, key):
    typist.type("w")
    typist.wait(0.1)
    typist.type(key)
    typist.wait(2.0)

    assert typist.p == pytest.approx([0.01, 0, 0], abs=1e-9)


def test_modes_are_counted_and_stop_what_moves(typist):
    typist.type("w")
    typist.wait(0.1)

    assert typist.type("m").limbs["hand"].mode == 1
    typist.wait(2.0)
    assert typist.p == pytest.approx([0.01, 0, 0], abs=1e-9)
    assert typist.type("mm,").limbs["hand"].mode == 2


def test_levels_scale_the_speed(typist):
    typist.type("3w")
    typist.wait(2.0)

    assert typist.p[0] == pytest.approx(3 * 0.06, abs=1e-9)


class TestToggle:
    @pytest.fixture
    def typist(self, make_typist):
        return make_typist(deadman="toggle", toggle_time=3.0)

    def test_key_moves_until_pressed_again(self, typist):
        typist.type("w")
        typist.wait(2.0)
        typist.type("w")
        typist.wait(2.0)

        assert typist.p[0] == pytest.approx(0.2, abs=1e-9)

    def test_axes_run_together_and_any_other_key_stops_all(self, typist):
        typist.type("wa")
        typist.wait(1.0)
        typist.type(".")
        typist.wait(1.0)

        assert typist.p == pytest.approx([0.1, 0.1, 0], abs=1e-9)

    def test_opposite_key_reverses(self, typist):
        typist.type("w")
        typist.wait(1.0)
        typist.type("s")
        typist.wait(0.5)

        assert typist.p[0] == pytest.approx(0.05, abs=1e-9)

    def test_lapses(self, typist):
        typist.type("w")
        typist.wait(10.0)

        assert typist.p[0] == pytest.approx(0.3, abs=1e-9)


def test_starts_at_rest_and_never_starts_the_session(typist):
    sample = typist.type("w")

    assert not sample.limbs["hand"].axes.any()
    assert not sample.start
    assert sample.engaged
    assert typist.leader.info.is_human


def test_hands_off_after_a_stop_count_as_let_go(typist):
    typist.leader.apply(make_feedback(SessionState.STOPPED))
    idle = typist.wait(0.1)
    pressed = typist.type("w")
    typist.wait(1.0)
    typist.leader.apply(make_feedback(SessionState.WAITING))

    assert not idle.engaged
    assert pressed.engaged
    assert typist.wait(0.1).engaged


def test_keys_typed_before_it_opened_are_forgotten():
    read_end, write_end = os.pipe()
    os.write(write_end, b"w")
    clock = ManualClock()
    leader = Keyboard(KeyboardConfig(fd=read_end), clock)
    leader.open()
    leader.latest()
    clock.advance(0.1)

    assert not leader.latest().limbs["hand"].axes.any()
    os.close(read_end)
    os.close(write_end)


def test_reads_a_terminal():
    outer, inner = pty.openpty()
    clock = ManualClock()
    leader = Keyboard(KeyboardConfig(fd=inner, **SPEED), clock)
    leader.open()
    os.write(outer, b"w\n")  # a terminal that is not in cbreak mode gives whole lines
    leader.latest()

    assert leader.latest().seq > 0
    os.close(outer)
    os.close(inner)


def test_a_missing_terminal_is_an_error():
    with Path("/dev/null").open() as nobody:
        leader = Keyboard(KeyboardConfig(fd=nobody.fileno()), ManualClock())

        with pytest.raises(DeviceError, match="start the session in a terminal"):
            leader.open()


def test_leaves_the_sessions_keys_alone():
    assert not MOTIONS.keys() & SESSION_KEYS.keys()


def test_help_is_shown_at_the_start_and_on_request(typist, caplog):
    typist.type("?")

    assert HELP in typist.leader.notes[0]
    assert HELP in caplog.text


@pytest.mark.parametrize(
    ("pieces", "keys"),
    [
        ([b"w", b"A"], ["w", "a"]),
        ([b"\x1b[A"], ["up"]),
        ([b"\x1b", b"[", b"B"], ["down"]),
        ([b"\x1bOC"], ["right"]),
        ([b"\x1b[1;5D"], ["left"]),
        ([b"\x1b[5~w"], ["", "w"]),
        ([b"\x1bww"], ["", "w"]),
        ([b"\x1b[" + b"1" * 14, b"w"], ["", "w"]),
        ([b"\xc3\xa4"], ["", ""]),
    ],
    ids=repr,
)
def test_parser_splits_keys(pieces, keys):
    parser = KeyParser()

    assert [key for piece in pieces for key in parser.parse(piece)] == keys
