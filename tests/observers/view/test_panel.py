"""Who may act at a page, and what of it counts."""

import json

import numpy as np
import pytest

from paprle.contracts.operator.requests import Wishes
from paprle.hardware.web.errors import MessageError
from paprle.ipc.wishes_record import make_wishes_dtype, pack_wishes, unpack_wishes
from paprle.observers.view.messages import HandsMessage, LimbMessage, parse
from paprle.observers.view.panel import Panel
from paprle.testing import ManualClock
from paprle.testing.robots import make_robot_info

ROBOT = make_robot_info(has_gripper=True, n_limbs=2)
LIMB = ROBOT.limbs[0].name
SPEED, TURN = 0.2, 1.0
ME, OTHER = "me", "other"


class Page:
    """A page that speaks."""

    def __init__(self, panel, clock, who=ME):
        self.panel, self.clock, self.who = panel, clock, who
        self.seq = self.press = 0

    def say(self, held, jog=(0, 0, 0, 0, 0, 0, 0), dt=0.02, t_ns=None, joints=()):
        self.clock.advance(dt)
        self.seq += 1
        limb = LimbMessage(jog=tuple(map(float, jog)), opening=0.5)
        t = (self.clock() if t_ns is None else t_ns) * 1e-6
        return self.panel.take_hands(
            self.who,
            HandsMessage(type="hands", seq=self.seq, t=t, held=held,
                         press=self.press, limbs={LIMB: limb}, joints=joints),
        )  # fmt: skip

    def hold(self):
        self.say(held=False)
        self.press += 1
        self.say(held=True)


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def panel(clock):
    return Panel(ROBOT, (SPEED, TURN), clock, may_clear=True)


@pytest.fixture
def page(panel, clock):
    panel.take_control(ME)
    return Page(panel, clock)


def count(panel, action):
    return getattr(panel.wishes.actions, action)


def test_only_who_took_control_acts_but_anybody_stops(panel):
    panel.take_control(ME)

    assert panel.press(OTHER, "engage") == "take control first"
    assert panel.press(ME, "engage") == ""
    assert panel.press(OTHER, "stop") == ""
    assert panel.give_task(OTHER, "steal") == "take control first"
    assert panel.give_note(OTHER, "graffiti") == "take control first"
    assert panel.clutch(OTHER, LIMB, is_held=True) == "take control first"
    assert (count(panel, "engage"), count(panel, "stop")) == (1, 1)
    assert (panel.wishes.task, panel.wishes.note) == ("", "")


def test_control_passes_only_when_it_is_taken_and_lets_go(panel, page, clock):
    page.hold()
    assert panel.is_held
    page.say(held=True)
    panel.take_control(OTHER)

    assert not panel.wishes.hands.is_held
    page.say(held=True)
    assert not panel.is_held, "who does not operate moves nothing"
    other = Page(panel, clock, OTHER)
    other.press = 7
    other.say(held=True)
    assert not panel.is_held, "what was held before counts no more"
    other.press = 8
    other.say(held=True)
    assert panel.is_held


@pytest.mark.parametrize("how", ["gone", "stop"])
def test_a_press_is_used_up_by_what_happens_while_it_is_held(panel, page, how):
    page.hold()
    panel.leave(ME) if how == "gone" else panel.press(ME, "stop")
    panel.take_control(ME)
    page.say(held=True)

    assert not panel.is_held
    page.hold()
    assert panel.is_held


def test_a_release_between_two_messages_is_another_press(panel, page):
    page.hold()
    before = panel.wishes.hands.n_presses
    page.press += 1
    page.say(held=True)

    assert panel.wishes.hands.n_presses == before + 1


def test_a_delayed_message_lets_go(panel, page, clock):
    number = panel.clock.ask(clock())
    panel.clock.answer(number, clock(), clock())
    page.hold()
    assert panel.is_held
    page.say(held=True, t_ns=clock() - 400_000_000)

    assert not panel.is_held
    page.say(held=True)
    assert not panel.is_held


def test_keys_move_at_the_speed_that_is_said_and_only_while_held(panel, page):
    start = panel.get_pose(LIMB).copy()
    page.say(held=False, jog=(1, 0, 0, 0, 0, 1, 0))
    np.testing.assert_array_equal(panel.get_pose(LIMB), start)
    page.hold()
    for _ in range(50):
        page.say(held=True, jog=(1, 0, 0, 0, 0, 1, 0))

    moved = panel.get_pose(LIMB)
    np.testing.assert_allclose(moved[:3] - start[:3], [SPEED, 0, 0], atol=1e-9)
    np.testing.assert_allclose(moved[3:], [0, 0, np.sin(0.5), np.cos(0.5)], atol=1e-9)
    page.say(held=True, jog=(1, 0, 0, 0, 0, 0, 0), dt=5.0)
    assert panel.get_pose(LIMB)[0] - moved[0] <= 0.1 * SPEED + 1e-9, (
        "silence moves less"
    )


def test_keys_carry_the_target_no_farther_than_a_limb_lags(panel, page):
    there = panel.get_pose(LIMB).copy()
    panel.find_eef = lambda: {LIMB: there}  # of a limb that stands
    page.hold()
    for _ in range(100):
        page.say(held=True, jog=(1, 0.5, 0, 0, 0, 0, 0))

    away = panel.get_pose(LIMB)[:3] - there[:3]
    assert np.linalg.norm(away) == pytest.approx(0.1)
    for _ in range(5):
        page.say(held=True, jog=(-1, 0, 0, 0, 0, 0, 0))
    assert panel.get_pose(LIMB)[0] - there[0] == pytest.approx(away[0] - 0.1 * SPEED)


def test_a_joint_follows_its_slider_no_faster_than_a_turn_or_than_it_may(panel, page):
    n = len(ROBOT.joint_names)
    page.say(held=False, joints=(0.1,) * n)
    np.testing.assert_array_equal(panel.wishes.hands.joints, np.full(n, 0.1))
    page.press += 1
    for _ in range(10):
        page.say(held=True, joints=(-3.0,) * n)
    moved = 0.1 - panel.wishes.hands.joints

    most = np.minimum(TURN, ROBOT.dq_max)
    np.testing.assert_allclose(moved, most * 10 * 0.02, rtol=1e-6)
    for _ in range(2):
        page.say(held=True, joints=(float(0.1 - moved[0]),) * n)
    assert panel.wishes.hands.joints[0] == pytest.approx(0.1 - moved[0]), "it arrives"
    page.say(held=True)
    assert np.isnan(panel.wishes.hands.joints).all(), "nothing is asked for"


def test_a_press_begins_where_the_hand_is_and_a_drag_goes_on_from_there(panel, page):
    there = np.array([0.3, 0.1, 0.2, 0, 0, 0, 1.0])
    panel.find_eef = lambda: {LIMB: there}
    panel.drag(LIMB, there + 1.0)
    page.hold()
    np.testing.assert_array_equal(panel.wishes.hands.poses[0], there)
    panel.drag(LIMB, there + 0.1)
    panel.drag(LIMB, np.full(7, np.nan))
    page.say(held=True)

    np.testing.assert_array_equal(panel.wishes.hands.poses[0], there + 0.1)
    assert np.isnan(panel.wishes.hands.poses[1]).all(), "the other limb holds"


def test_a_stop_is_cleared_with_hands_off_and_at_the_robots_computer(
    panel, page, clock
):
    page.hold()
    assert panel.press(ME, "clear") == "let go of the dead-man first"
    page.say(held=False)
    assert panel.press(ME, "clear") == ""
    remote = Panel(ROBOT, (SPEED, TURN), clock, may_clear=False)
    remote.take_control(ME)

    assert "robot's computer" in remote.press(ME, "clear")
    assert count(remote, "clear") == 0


def test_a_restarted_page_counts_on_and_holds_nothing(panel, page, clock):
    panel.press(ME, "stop")
    panel.give_task(ME, "pick\x1b[2J the cube")
    panel.give_note(ME, "é" * 200)
    panel.clutch(ME, LIMB, is_held=True)
    page.hold()
    dtype = make_wishes_dtype(ROBOT, ("cup",))
    passed = unpack_wishes(pack_wishes(dtype, panel.wishes._replace(key="token")))
    again = Panel(ROBOT, (SPEED, TURN), clock, may_clear=True)
    again.resume(passed)

    assert passed.task == "pick [2J the cube"
    assert (passed.note, passed.n_notes) == ("é" * 200, 1)
    assert passed.held == {0}
    assert again.wishes.actions == panel.wishes.actions
    assert (again.wishes.key, again.wishes.hands) == ("token", None)
    again.take_control(ME)
    Page(again, clock).hold()
    assert again.wishes.hands.n_presses > passed.hands.n_presses


def test_limbs_are_held_and_let_go_of_one_by_one(panel):
    panel.take_control(ME)
    other = ROBOT.limbs[1].name
    for limb, is_held in [(LIMB, True), (other, True), (LIMB, True), (LIMB, False)]:
        assert panel.clutch(ME, limb, is_held=is_held) == ""

    assert panel.held_limbs == [other]
    assert panel.clutch(ME, "tail", is_held=True) == "no such limb"
    panel.leave(ME)
    assert panel.held_limbs == [other], "who leaves moves nothing"


def test_an_object_is_where_it_was_put_last_by_who_operates(panel):
    panel.placeable = ("cup", "bin")
    assert panel.place(ME, "cup", (0.4, 0.0, 0.1)) == "take control first"
    panel.take_control(ME)

    assert panel.place(ME, "lamp", (0.4, 0.0, 0.1)).startswith("no such object")
    assert panel.place(ME, "cup", (0.4, 0.0, 0.1)) == ""
    assert panel.place(ME, "bin", (0.1, 0.2, 0.3)) == ""
    panel.carry("cup", np.array([0.5, 0.1, 0.2]))
    assert panel.places["cup"] == [0.4, 0.0, 0.1], "it is being dragged"
    panel.put_down()
    assert panel.places == {"cup": [0.5, 0.1, 0.2], "bin": [0.1, 0.2, 0.3]}
    panel.place(ME, "bin", None)
    dtype = make_wishes_dtype(ROBOT, ("cup", "bin"))
    passed = unpack_wishes(pack_wishes(dtype, panel.wishes)).placed

    assert {name: row.tolist() for name, row in passed.items()} == {
        "cup": [0.5, 0.1, 0.2, 0.0, 0.0, 0.0, 1.0]
    }


def test_nothing_wished_for_yet_crosses_as_such():
    dtype = make_wishes_dtype(ROBOT, ("cup",))

    assert unpack_wishes(pack_wishes(dtype, Wishes())) == Wishes()


@pytest.mark.parametrize(
    "text",
    [
        '{"type": "press", "action": "quit"}',
        '{"type": "press", "action": "stop", "action": "stop"}',
        '{"type": "press", "action": ["stop"]}',
        '{"type": "task", "text": "%s"}' % ("x" * 201),
        '{"type": "note", "text": "%s"}' % ("x" * 201),
        '{"type": "hands", "seq": 1, "t": NaN, "held": true, "press": 1, "limbs": {}}',
        '{"type": "hands", "seq": 1, "t": 1e999, "held": true, "press": 1, '
        '"limbs": {}}',
        '{"type": "hands", "seq": 1, "t": 1, "held": true, "press": 1, "limbs": '
        '{"a": {"jog": [2, 0, 0, 0, 0, 0, 0]}}}',
        '{"type": "hello", "version": 1, "page": "a", "more": 1}',
        '{"type": "none"}',
        "[" * 3000,
        json.dumps({"type": "task", "text": "x" * 5000}),
        b"\x00",
    ],
)
def test_a_foreign_message_is_refused(text):
    with pytest.raises(MessageError):
        parse(text)


@pytest.mark.parametrize("side", ["real", "simulated"])
def test_a_level_holds_the_real_robot_where_another_one_is_commanded(clock, side):
    panel = Panel(ROBOT, (SPEED, TURN), clock, may_clear=True, side=side)
    panel.take_control(ME)
    names = [limb.name for limb in ROBOT.limbs]

    held = []
    for level in (1, 3, 5, 4):
        assert panel.choose_level(ME, level, has_cues=True) == ""
        held.append(panel.held_limbs)

    assert held == ([[], names, names, []] if side == "real" else [[]] * 4)


def test_a_level_that_commands_the_robot_as_before_leaves_a_held_limb_alone(clock):
    panel = Panel(ROBOT, (SPEED, TURN), clock, may_clear=True, side="real")
    panel.take_control(ME)
    panel.clutch(ME, LIMB, is_held=True)

    panel.choose_level(ME, 4, has_cues=False)

    assert panel.held_limbs == [LIMB]
    assert panel.parts.cues is False


def test_a_level_is_refused_to_those_who_watch_and_where_there_are_none(panel, clock):
    panel.take_control(ME)
    assert "levels" in panel.choose_level(ME, 3, has_cues=True)
    real = Panel(ROBOT, (SPEED, TURN), clock, may_clear=True, side="real")
    real.take_control(ME)

    assert real.choose_level(OTHER, 3, has_cues=True) == "take control first"
    assert real.level is None
    assert real.held_limbs == []


def test_a_page_that_was_open_when_its_process_died_is_not_taken_as_open(panel):
    panel.watch(is_watched=True)
    dtype = make_wishes_dtype(ROBOT, ())
    before = unpack_wishes(pack_wishes(dtype, panel.wishes))
    assert before.is_watched

    panel.resume(before)

    assert not panel.wishes.is_watched
