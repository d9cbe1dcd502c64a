"""The leader on the real hidapi, which reads an emulated mouse (``test_preloaded``)."""

import numpy as np
import pytest
from emulated_hands import MouseHand

from paprle.contracts.axes import FREEDOMS
from paprle.contracts.errors import ConfigError, DeviceError
from paprle.contracts.types import SessionState
from paprle.leaders.spacemouse.config import SpacemouseConfig
from paprle.leaders.spacemouse.leader import Spacemouse
from paprle.testing import (
    LeaderContract,
    LeaderFaultsContract,
    ManualClock,
    make_feedback,
)
from paprle_emulators.spacemouse.mouse import EmulatedMouse

H = 0.005  # [s]


class Player:
    """A leader and a hand at its mouse."""

    def __init__(self, path, *, is_wireless=False, **settings):
        self.mouse = EmulatedMouse(path, is_wireless=is_wireless)
        self.clock = ManualClock()
        config = SpacemouseConfig(path=str(path), **settings)
        self.leader = Spacemouse(config, self.clock)
        self.leader.open()

    def wait(self, time=H):
        for _ in range(max(1, round(time / H))):
            self.clock.advance(H)
            sample = self.leader.latest()
        return sample

    def push(self, translation=(0, 0, 0), rotation=(0, 0, 0)):
        self.mouse.move(translation, rotation)
        self.wait()  # a reading and the half of the one before
        return self.wait().limbs["hand"].axes


@pytest.fixture
def play(tmp_path):
    players = []

    def make(**settings):
        players.append(Player(tmp_path / f"mouse{len(players)}", **settings))
        return players[-1]

    yield make
    for player in players:
        player.leader.close()
        player.mouse.unplug()


class TestContract(LeaderContract):
    @pytest.fixture(autouse=True)
    def _plug(self, tmp_path):
        self.path = tmp_path / "mouse"
        self.mouse = EmulatedMouse(self.path)
        yield
        self.mouse.unplug()

    def make_leader(self, clock):
        return Spacemouse(SpacemouseConfig(path=str(self.path)), clock)

    def stimulate(self, leader, clock):  # noqa: ARG002
        self.mouse.move((float(np.sin(1e-9 * clock())), 0.0, 0.0))

    def unplug(self, leader):  # noqa: ARG002
        self.mouse.unplug()


class TestFaults(LeaderFaultsContract):
    has_deadman = False
    silence = 0.3  # a deflected cap may be silent for 0.25 s (leader.longest_silence)

    @pytest.fixture(autouse=True)
    def _plug(self, tmp_path):
        self.mouse = EmulatedMouse(tmp_path / "mouse")
        self.words = ("leader=spacemouse", f"leader.path={tmp_path / 'mouse'}")
        yield
        self.mouse.unplug()

    def make_hand(self, leader, clock):
        return MouseHand(leader, clock, self.mouse)


@pytest.mark.parametrize("is_wireless", [False, True])
@pytest.mark.parametrize("freedom", range(6), ids=FREEDOMS[:6])
def test_the_cap_moves_each_freedom_alone(play, freedom, is_wireless):
    player = play(is_wireless=is_wireless)
    pushed = np.eye(6)[freedom]

    axes = player.push(tuple(pushed[:3]), tuple(pushed[3:]))

    assert axes == pytest.approx([*pushed, 0.0])


def test_small_side_motions_of_a_push_are_rest(play):
    axes = play().push((1.0, 0.09, -0.09))

    assert axes == pytest.approx([1, 0, 0, 0, 0, 0, 0])


def test_buttons_open_and_close_the_gripper_while_they_are_held(play):
    player = play()
    held = []
    for buttons in ((1,), (0,), (0, 1), ()):
        player.mouse.press(*buttons)
        player.wait()
        held.append(player.wait().limbs["hand"].axes[6])

    assert held == [1.0, -1.0, 0.0, 0.0]


def test_buttons_count_actions_and_modes(play):
    roles = {"0": "mode", "1": "mode_back", "2": "engage", "15": "stop"}
    player = play(buttons=roles)
    for buttons in ((0,), (), (0,), (1,), (2, 15), ()):
        player.mouse.press(*buttons)
        sample = player.wait()

    assert sample.limbs["hand"].mode == 1
    assert (sample.actions.engage, sample.actions.stop) == (1, 1)


def test_a_deflected_mouse_that_falls_silent_has_let_go(play):
    """The radio of a wireless one is gone, and nothing says so."""
    player = play()
    assert player.push((1.0, 0.0, 0.0))[0] == 1.0

    assert player.wait(0.2).limbs["hand"].axes[0] == 1.0
    assert player.wait(0.1).limbs["hand"].axes[0] == 0.0
    assert "silent for 0.2" in player.leader.take_warnings()[0]
    assert player.push((1.0, 0.0, 0.0))[0] == 1.0


def test_a_cap_that_springs_back_stops_with_the_reading(play):
    player = play()
    player.push((1.0, 0.0, 0.0))

    assert not player.push().any()


def test_unplugging_lets_go_and_plugging_in_goes_on(play):
    player = play()
    player.push((1.0, 0.0, 0.0))

    player.mouse.unplug()
    sample = player.wait()
    assert (sample.valid, sample.engaged) == (False, False)

    player.mouse.plug()
    player.wait(0.3)
    assert player.push((0.0, 1.0, 0.0))[1] == 1.0
    told = player.leader.take_warnings()
    assert ["unplugged" in told[0], "there again" in told[1]] == [True, True]


def test_after_a_stop_a_cap_at_rest_has_let_go(play):
    player = play()
    player.leader.apply(make_feedback(SessionState.STOPPED))

    assert not player.wait().engaged
    player.mouse.move((1.0, 0.0, 0.0))
    assert player.wait().engaged


def test_a_flood_of_reports_is_read_within_its_bound(play):
    player = play()
    player.wait()
    for k in range(100):
        player.mouse.move((k / 100, 0.0, 0.0))
    for _ in range(10):
        axes = player.wait().limbs["hand"].axes

    assert axes[0] == pytest.approx(((0.99 - 0.1) / 0.9) ** 1.5, abs=0.01)


@pytest.mark.parametrize("report", [b"", b"\x01", b"\x01\xff", b"\xff" * 64, b"\x03"])
def test_broken_reports_move_nothing(play, report):
    player = play()
    player.mouse.send(report)

    assert not player.wait().limbs["hand"].axes.any()
    assert player.wait().valid


def test_a_mouse_that_is_not_there_is_told_with_what_to_do(tmp_path):
    leader = Spacemouse(SpacemouseConfig(path=str(tmp_path / "none")), ManualClock())

    with pytest.raises(DeviceError, match=r"udev/rules\.d"):
        leader.open()


def test_buttons_have_numbers():
    with pytest.raises(ConfigError, match="numbers from 0 to 31, got 'left'"):
        Spacemouse(SpacemouseConfig(buttons={"left": "stop"}), ManualClock())
