"""The leader on SDL's own virtual pads: dead-man, buttons, limbs, plugs and rumble."""

import time

import numpy as np
import pytest

from paprle.contracts.axes import FREEDOMS
from paprle.contracts.errors import ConfigError, DeviceError
from paprle.contracts.kit.cue_output import Amplitudes
from paprle.contracts.types import Cues, Feedback, SessionState
from paprle.hardware.gamepad.virtual import VirtualPad
from paprle.leaders.gamepad.config import BUTTONS, GamepadConfig, PadSettings
from paprle.leaders.gamepad.leader import Gamepad
from paprle.leaders.gamepad.rumble import Refresher
from paprle.testing import LeaderContract, ManualClock, make_feedback

HOLD = "leftshoulder"
H = 0.005  # [s]


class Player:
    """A leader and a person with one pad or two."""

    def __init__(self, n_pads=1, **settings):
        names = [f"Pad {k}" for k in range(n_pads)]
        self.pads = [VirtualPad(name) for name in names]
        self.clock = ManualClock()
        defaults = {
            "pads": {
                f"p{k}": PadSettings(
                    device=name, limbs=("hand",) if n_pads == 1 else (f"limb{k}",)
                )
                for k, name in enumerate(names)
            }
        }
        self.leader = Gamepad(GamepadConfig(**{**defaults, **settings}), self.clock)
        self.leader.open()
        self.wait(H)

    def wait(self, time, rate=200):
        for _ in range(max(1, round(time * rate))):
            self.clock.advance(1 / rate)
            sample = self.leader.latest()
        return sample

    def do(self, pad=0, **controls):
        for control, value in controls.items():
            self.pads[pad].move(control, value)
        self.wait(H)  # a reading and the half of the one before
        return self.wait(H)

    def feel(self, touch, warning=0.0, *, drives=None, age=0.0, is_engaged=True):
        self.leader.apply(
            Feedback(
                stamp_ns=self.clock() - round(age * 1e9),
                state=SessionState.ENGAGED,
                episode=0,
                is_engaged=is_engaged,
                drives=drives,
                cues=Cues(contact=touch, limit=warning),
                rumble=max(touch, warning),
                touch=touch,
                warning=warning,
            )
        )

    def close(self):
        self.leader.close()
        for pad in self.pads:
            pad.unplug()


@pytest.fixture
def play():
    players = []

    def make(*args, **settings):
        players.append(Player(*args, **settings))
        return players[-1]

    yield make
    for player in players:
        player.close()


class TestContract(LeaderContract):
    @pytest.fixture(autouse=True)
    def _plug(self):
        self.pad = VirtualPad("Contract pad")
        yield
        self.pad.unplug()

    def make_leader(self, clock):
        pads = {"pad": PadSettings(device="contract")}
        return Gamepad(GamepadConfig(pads=pads), clock)

    def stimulate(self, leader, clock):  # noqa: ARG002
        self.pad.move(HOLD, 1.0)
        self.pad.move("leftx", np.sin(1e-9 * clock()))

    def unplug(self, leader):  # noqa: ARG002
        self.pad.unplug()


# --- axes ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("controls", "freedom", "sign"),
    [
        ({"lefty": -1}, "x", 1),
        ({"leftx": -1}, "y", 1),
        ({"righty": -1}, "z", 1),
        ({"rightx": -1}, "yaw", 1),
        ({"dpup": 1}, "pitch", 1),
        ({"dpright": 1}, "roll", 1),
        ({"lefttrigger": 1}, "gripper", 1),
        ({"righttrigger": 1}, "gripper", -1),
    ],
    ids=str,
)
def test_each_control_moves_one_freedom_in_rep103_axes(play, controls, freedom, sign):
    """Forward is +x, left +y, up +z; X1."""
    player = play()
    player.do(**{HOLD: 1})

    sample = player.do(**controls)

    axes = dict(zip(FREEDOMS, sample.limbs["hand"].axes, strict=True))
    assert axes.pop(freedom) == pytest.approx(sign, abs=1e-3)
    assert set(axes.values()) == {0.0}


def test_deflections_add_up_to_the_same_way_at_any_rate(play):
    ways = []
    for rate in (25, 100, 200):
        player = play()
        player.do(**{HOLD: 1})
        begin_ns, last_ns, way = player.clock(), player.clock(), 0.0
        while player.clock() < begin_ns + 4e9:
            t = (player.clock() - begin_ns) * 1e-9
            player.pads[0].move("lefty", -(np.sin(np.pi * t / 4) ** 2))
            sample = player.wait(1 / rate, rate)
            way += sample.limbs["hand"].axes[0] * (sample.stamp_ns - last_ns) * 1e-9
            last_ns = sample.stamp_ns
        ways.append(way)
        player.close()

    assert ways == pytest.approx([ways[-1]] * 3, rel=0.01)


# --- the dead-man --------------------------------------------------------------------


def test_nothing_moves_without_the_dead_man(play):
    player = play()

    sample = player.do(lefty=-1)

    assert not sample.engaged
    axes = sample.limbs["hand"].axes
    assert np.isnan(axes[0]), "it is deflected, and moves nothing"
    assert not axes[1:].any()


def test_letting_go_ends_motion_with_the_same_reading(play):
    player = play()
    player.do(**{HOLD: 1})
    assert player.do(lefty=-1).engaged

    player.pads[0].move(HOLD, 0)
    sample = player.wait(H)

    assert not sample.engaged
    assert not np.nan_to_num(sample.limbs["hand"].axes).any()


def test_a_trigger_as_dead_man_does_not_chatter(play):
    pads = {"p": PadSettings(buttons={"lefttrigger": "deadman"})}
    player = play(pads=pads)
    player.do(lefttrigger=0.7)

    held = [player.do(lefttrigger=0.5 + 0.05 * (-1) ** k).engaged for k in range(6)]

    assert held == [True] * 6
    assert not player.do(lefttrigger=0.3).engaged


def test_a_pad_without_dead_man_drives_until_a_stop_and_then_by_moving_again(play):
    player = play(pads={"p": PadSettings(buttons={"b": "stop"})})
    assert player.do().engaged

    player.leader.apply(make_feedback(SessionState.STOPPED, stamp_ns=player.clock()))

    assert not player.do().engaged
    assert player.do(lefty=-1).engaged


# --- what a pad says for too long ----------------------------------------------------


def test_a_pad_whose_radio_is_gone_moves_for_a_while_only(play):
    player = play(longest=1.0)
    player.do(**{HOLD: 1}, lefty=-1)
    player.pads[0].is_frozen = True

    assert player.wait(0.9).engaged
    assert not player.wait(0.2).engaged
    assert "said the same for 1 s" in player.leader.take_warnings()[0]
    player.pads[0].is_frozen = False
    assert not player.do(lefty=-0.5).engaged, "it needs a new press"
    player.do(**{HOLD: 0})
    assert player.do(**{HOLD: 1}).engaged


def test_a_hand_that_rests_with_the_dead_man_held_is_believed(play):
    player = play(longest=0.5)
    player.do(**{HOLD: 1})

    assert player.wait(1.0).engaged


# --- plugs ---------------------------------------------------------------------------


def test_unplugging_lets_go_at_once_and_is_told(play):
    player = play()
    player.do(**{HOLD: 1})
    assert player.do(lefty=-1).engaged

    player.pads[0].unplug()
    sample = player.wait(H)
    assert not sample.valid
    assert not sample.engaged
    assert not sample.limbs["hand"].axes.any()

    player.pads[0].plug()
    player.pads[0].move(HOLD, 1)
    sample = player.wait(0.5)
    assert sample.valid
    assert sample.engaged, "whether that counts is the session's affair"
    told = player.leader.take_warnings()
    assert ["unplugged" in told[0], "there again" in told[1]] == [True, True]


def test_a_pad_that_is_not_there_is_refused_with_what_to_do():
    leader = Gamepad(
        GamepadConfig(pads={"p": PadSettings(device="nobody")}), ManualClock()
    )

    with pytest.raises(
        DeviceError, match="leader 'gamepad': expected a game controller"
    ):
        leader.open()


# --- buttons -------------------------------------------------------------------------


def test_buttons_count_actions_once_a_press(play):
    player = play()
    for _ in range(2):
        player.do(b=1)
        player.do(b=0)

    sample = player.do(start=1)

    assert (sample.actions.stop, sample.actions.engage) == (2, 1)


def test_the_dead_man_asks_to_start(play):
    player = play()

    assert [player.do(**{HOLD: held}).start for held in (0, 1, 0)] == [
        False,
        True,
        False,
    ]


def test_modes_are_counted_up_and_down_for_the_limb_that_moves(play):
    buttons = {**BUTTONS, "y": "mode_back"}
    pads = {"p": PadSettings(limbs=("left", "right"), buttons=buttons)}
    player = play(pads=pads)
    for button in ("a", "a", "a", "y", "rightshoulder", "a"):
        player.do(**{button: 1})
        sample = player.do(**{button: 0})

    assert {limb: own.mode for limb, own in sample.limbs.items()} == {
        "left": 2,
        "right": 1,
    }


def test_one_pad_moves_one_limb_after_the_other(play):
    player = play(pads={"p": PadSettings(limbs=("left", "right"))})
    player.do(**{HOLD: 1})
    sample = player.do(lefty=-1)
    assert sample.limbs["left"].axes[0] == pytest.approx(1.0, abs=1e-3)
    assert np.isnan(sample.limbs["right"].axes[0])

    sample = player.do(rightshoulder=1)

    assert np.isnan(sample.limbs["left"].axes[0])
    assert sample.limbs["right"].axes[0] == pytest.approx(1.0, abs=1e-3)


def test_two_pads_move_a_limb_each(play):
    player = play(2)
    player.do(0, **{HOLD: 1})
    player.do(1, **{HOLD: 1})
    player.do(0, lefty=-1)

    sample = player.do(1, lefty=1)

    assert sample.limbs["limb0"].axes[0] == pytest.approx(1.0, abs=1e-3)
    assert sample.limbs["limb1"].axes[0] == pytest.approx(-1.0, abs=1e-3)


# --- rumble --------------------------------------------------------------------------


@pytest.mark.parametrize("felt", [(0.5, 0.0), (0.1, 0.8), (0.0, 0.4)])
def test_contact_is_the_strong_motor_and_limits_are_the_weak_one(play, felt):
    player = play()

    player.feel(*felt)

    assert player.pads[0].rumbled[-1] == pytest.approx(felt, abs=1e-4)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"is_engaged": False}, id="nobody drives"),
        pytest.param({"age": 0.2}, id="the session is silent"),
        pytest.param({"drives": (False,)}, id="another drives its limb"),
        pytest.param({"touch": float("nan")}, id="no number"),
        pytest.param({"touch": -1.0}, id="less than nothing"),
    ],
)
def test_the_pad_is_silent_when(play, changes):
    player = play()
    player.feel(1.0)

    player.feel(**({"touch": 1.0} | changes))

    assert player.pads[0].rumbled[-1] == (0.0, 0.0)


def test_a_session_that_falls_silent_is_not_felt_for_longer_than_a_tenth(play):
    """SDL ends the rumble by itself; nobody is there who would."""
    player = play()
    player.feel(1.0)

    time.sleep(0.12)
    player.wait(H)

    assert player.pads[0].rumbled[-1] == (0.0, 0.0)


def test_a_steady_rumble_is_refreshed_and_the_motors_are_not_flooded():
    refresher = Refresher()

    told = [
        refresher.must_tell(Amplitudes(0.5, 0.0), round(k * H * 1e9))
        for k in range(200)
    ]

    assert 18 <= sum(told) <= 21


@pytest.mark.timed
def test_a_rumble_that_goes_on_is_felt_all_the_time(play):
    """Each telling lasts a tenth of a second of the real clock."""
    player = play()
    for _ in range(4):  # where this test itself paused for longer, once more
        first = max(len(player.pads[0].rumbled), 2)  # the first two rumble nothing yet
        stamps = [time.monotonic()]
        for _ in range(15):
            player.feel(0.5)
            time.sleep(0.01)
            player.wait(0.01)
            stamps.append(time.monotonic())
        if np.diff(stamps).max() < 0.1:
            break

    assert min(felt.strong for felt in player.pads[0].rumbled[first:]) > 0.4


def test_a_pad_may_be_told_not_to_rumble(play):
    player = play(rumble=0.0)
    told = len(player.pads[0].rumbled)
    player.feel(1.0)

    assert player.leader.info.renders == "none"
    assert len(player.pads[0].rumbled) == told


# --- mistakes ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pads", "said"),
    [
        ({}, "at least one pad"),
        ({"p": PadSettings(axes={"x": "leftz"})}, "pads.p.axes.x: expected controls"),
        ({"p": PadSettings(axes={})}, "1 to 16 axes, got 0"),
        ({"p": PadSettings(buttons={"lb": "stop"})}, "expected a control, got 'lb'"),
        ({"p": PadSettings(limbs=())}, "expected different limbs"),
        (
            {"p": PadSettings(), "q": PadSettings()},
            "one pad per limb, got 2 for 'hand'",
        ),
    ],
)
def test_a_mistake_in_the_yaml_is_named(pads, said):
    with pytest.raises(ConfigError, match=said):
        Gamepad(GamepadConfig(pads=pads), ManualClock())
