"""A pair of Joy-Cons (``leader=joycons``) drives two arms, a limb each."""

import numpy as np
import pytest
from joycons import JoyConsHand, plug_joycons

from paprle.contracts.errors import ConfigError
from paprle.hardware.gamepad.virtual import VirtualPad
from paprle.testing.stepped import H, SteppedSession

WORDS = (
    "leader=joycons",
    "retarget.modes=classic",
    "leader.curve=1",
    "leader.speed=0.1",
)
ROBOT = ("follower=piper_2arm", "env=kinematic")
SIDES = ("left", "right")
AWAY = {"left": {"lefty": -1.0}, "right": {"righty": -1.0}}
PUSHES = [
    ("left", "lefty", -1.0, "x", 1),
    ("left", "leftx", -1.0, "y", 1),
    ("left", "dpup", 1.0, "z", 1),
    ("left", "dpdown", 1.0, "z", -1),
    ("right", "righty", -1.0, "x", 1),
    ("right", "rightx", -1.0, "y", 1),
    ("right", "x", 1.0, "z", 1),
    ("right", "b", 1.0, "z", -1),
]


class Player:
    """Two hands, a session and its two arms."""

    def __init__(self, words=WORDS):
        self.pads = plug_joycons()
        self.session = SteppedSession(words, self._take, ROBOT)
        self.hand = self.session.hand

    def _take(self, _leader, _clock):
        return JoyConsHand(self.pads)

    def push(self, side, **controls):
        for control, value in controls.items():
            self.pads[side].move(control, value)

    def click(self, side, control):
        for value in (1.0, 0.0):
            self.push(side, **{control: value})
            self.session.step(2 * H)

    def find_eefs(self):
        """Return the pose of each commanded eef in its base, shape (4, 4)."""
        robot = self.session.session.plan.robot
        q = self.session.q_cmd
        return {
            side: robot.limbs[side].fk(robot.limbs[side].take(q)).homogeneous
            for side in SIDES
        }

    def move(self, side, time=0.5, **controls):
        """Push for a while, let the arms come to rest; return turns and ways.

        Turns are poses of each eef in its pose of before; ways are in its base, [m].
        """
        before = self.find_eefs()
        self.push(side, **controls)
        self.session.step(time)
        self.push(side, **dict.fromkeys(controls, 0.0))
        self.session.step(0.4)
        after = self.find_eefs()
        turns = {one: np.linalg.inv(before[one]) @ after[one] for one in SIDES}
        ways = {one: after[one][:3, 3] - before[one][:3, 3] for one in SIDES}
        return turns, ways

    def close(self):
        self.session.close()
        self.session.judge()
        for pad in self.pads.values():
            pad.unplug()


@pytest.fixture
def player():
    player = Player()
    player.session.engage()
    yield player
    player.close()


def other(side):
    return SIDES[1 - SIDES.index(side)]


@pytest.mark.long
@pytest.mark.parametrize(("side", "control", "value", "freedom", "sign"), PUSHES)
def test_each_stick_and_button_moves_its_own_arm_alone(
    player, side, control, value, freedom, sign
):
    _, way = player.move(side, 0.3, **{control: value})

    expected = np.zeros(3)
    expected["xyz".index(freedom)] = 0.03 * sign
    assert way[side] == pytest.approx(expected, abs=2e-3)
    assert np.abs(way[other(side)]).max() < 1e-9


@pytest.mark.long
def test_both_arms_move_at_once(player):
    player.push("right", righty=-1.0)

    _, way = player.move("left", 0.3, lefty=-1.0)

    player.push("right", righty=0.0)
    player.session.step(0.4)
    assert way["left"][0] > 0.02
    assert way["right"][0] > 0.02


@pytest.mark.long
@pytest.mark.parametrize("side", SIDES)
def test_the_trigger_takes_its_own_arm_to_wrist_and_gripper(player, side):
    names = player.session.session.plan.robot.info.joint_names
    gripper = names.index(f"{side}_joint7")
    theirs = [k for k, name in enumerate(names) if name.startswith(other(side))]
    begin = player.session.q_cmd

    player.click(side, f"{side}trigger")
    turned, way = player.move(side, **AWAY[side])
    assert np.arccos((np.trace(turned[side][:3, :3]) - 1.0) / 2.0) > 0.2
    assert np.linalg.norm(way[side]) < 5e-3
    assert np.abs(way[other(side)]).max() < 1e-9

    player.click(side, f"{side}trigger")
    before = player.session.q_cmd
    player.move(side, **{stick: -push for stick, push in AWAY[side].items()})
    moved = player.session.q_cmd - before
    assert abs(moved[gripper]) > 5e-3
    assert np.abs(np.delete(moved, gripper)).max() < 1e-6

    for _ in range(2):
        player.click(side, f"{side}stick")
    _, way = player.move(side, **AWAY[side])
    assert way[side][0] > 0.02
    assert player.session.q_cmd[theirs] == pytest.approx(begin[theirs], abs=1e-9)


@pytest.mark.long
def test_a_hand_that_lets_go_stops_its_arm_and_the_other_goes_on(player):
    player.hand.holds = {"right"}
    player.session.step(2 * H)
    player.push("left", lefty=-1.0)

    _, way = player.move("right", 0.3, righty=-1.0)

    assert np.abs(way["left"]).max() < 1e-9
    assert way["right"][0] > 0.02
    player.hand.holds = set()
    player.session.step(0.1)
    assert player.session.state == "CLUTCHED"


@pytest.mark.long
@pytest.mark.parametrize(("side", "button"), [("left", "back"), ("right", "guide")])
def test_minus_and_home_stop(player, side, button):
    player.click(side, button)

    assert player.session.state == "STOPPED"


@pytest.mark.long
@pytest.mark.parametrize("side", SIDES)
def test_one_of_them_out_of_reach_lets_go_of_both_arms(player, side):
    player.push("left", lefty=-1.0)
    player.push("right", righty=-1.0)
    player.session.step(0.3)

    player.pads[side].unplug()
    player.session.step(0.4)
    assert player.session.state == "CLUTCHED"
    still = player.session.q_cmd
    player.pads[side].plug()
    player.push(side, **AWAY[side])
    player.session.step(0.5)

    assert (player.session.q_cmd == still).all(), "it needs a press"
    for one in SIDES:
        player.push(one, **dict.fromkeys(AWAY[one], 0.0))
    player.session.engage()
    _, way = player.move(side, 0.3, **AWAY[side])
    assert way[side][0] > 0.02


def test_each_part_that_the_configuration_names_is_there(player):
    told = player.session.leader.notes

    assert [text.split(")")[0] for text in told] == [
        "gamepad 'left' (Nintendo Switch Joy-Con (L",
        "gamepad 'right' (Nintendo Switch Joy-Con (R",
    ]
    assert not any("finds no" in text for text in told)


@pytest.fixture
def pair():
    pads = plug_joycons()
    yield pads
    for pad in pads.values():
        pad.unplug()


def test_a_pad_without_a_mapping_of_the_kernel_is_reported(pair):
    """Without /dev/hidraw* SDL has a Joy-Con that is held sideways."""
    pair["left"].unplug()
    sideways = "a b guide leftshoulder leftstick leftx lefty rightshoulder start x y"
    # under ids of its own: SDL keeps the mapping of ids that it has seen
    name, ids = "Sideways Joy-Con (L)", (0x057E, 0x5EED)
    pair["left"] = VirtualPad(name, ids, controls=sideways.split())
    session = SteppedSession(WORDS, lambda *_: JoyConsHand(pair), ROBOT)

    left, right = session.leader.notes
    session.close()

    assert left.endswith("SDL finds no dpup, dpdown, lefttrigger, back")
    assert "finds no" not in right


def test_one_alone_is_refused_by_the_name_of_the_other(pair):
    pair["right"].unplug()

    with pytest.raises(ConfigError, match=r"'Joy-Con \(R\)', got .*Joy-Con \(L\)"):
        SteppedSession(WORDS, lambda *_: JoyConsHand(pair), ROBOT)
