"""The page without a mouse, and without colours: every state and body has a word."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
import pytest
from page_alone import PageAlone, serve_alone
from phones import wait_until

from paprle.contracts.operator.actions import PAGE_KEYS, Actions
from paprle.contracts.types import SessionState
from paprle.testing.robots import make_robot_info

pytestmark = [pytest.mark.process, pytest.mark.long, pytest.mark.timeout(180)]

ROBOT = make_robot_info(has_gripper=True, n_limbs=2)
PRESSES = ["engage", "next_episode", "success", "failure", "discard", "stop"]
VAIN = ["engage", "reposture"]
N_STOPS = 60  # no page of ours has more that a Tab reaches


class Watched(PageAlone):
    """A page of a session that is in any state."""

    told = MappingProxyType({})

    def tell(self, **fields):
        self.told = fields

    def describe(self):
        limbs = [limb.name for limb in ROBOT.limbs]
        leader = {"hint": "hold", "hands": limbs, "emits": "pose"}
        news = {"leader": leader, "note": "", "folder": "OUT", "seconds": 3}
        told = dict(self.told)
        return {"news": news | told.pop("news", {})} | told

    def hold(self):
        """Press the dead-man's key, once the page has the leader that was told."""
        self.page.locator("#move").wait_for()
        self.key.down("m")

    def tab_to(self, selector):
        """Press Tab until what is meant has the focus; return how it is marked."""
        for _ in range(N_STOPS):
            self.key.press("Tab")
            if self.page.evaluate(f"document.activeElement.matches('{selector}')"):
                return self.page.evaluate(
                    "getComputedStyle(document.activeElement).outlineStyle"
                )
        raise AssertionError(f"no Tab reaches {selector}")


@pytest.fixture(scope="module")
def watched():
    with serve_alone(Watched, ROBOT, 19080) as made:
        yield made


@pytest.mark.parametrize("action", PRESSES)
def test_tab_reaches_every_button_and_enter_presses_it(watched, action):
    before = watched.view.wishes.actions
    watched.page.evaluate("document.activeElement.blur()")

    outline = watched.tab_to(f"[data-press={action}]")
    watched.key.press("Enter")

    wait_until(lambda: getattr(watched.view.wishes.actions.since(before), action) == 1)
    assert outline != "none", "who tabs has to see where he is"
    others = watched.view.wishes.actions.since(before)
    assert sum(others) == 1, others


def test_buttons_of_an_episode_act_once_there_is_one(watched):
    find = lambda name: watched.page.locator(f"[data-press={name}]")  # noqa: E731
    rows = [row for row in PAGE_KEYS if row.needs_episode]
    watched.tell(news={"seconds": None})

    for row in rows:
        wait_until(find(row.name).is_disabled)
    assert find("engage").is_enabled()
    made = {"path": "OUT/episode_000000.mcap", "mark": "kept", "seconds": 2.0}
    watched.tell(news={"seconds": None, "episodes": [made]})
    for row in rows:
        wait_until(find(row.name).is_enabled)
    watched.tell()


def test_a_question_mark_opens_the_list_of_keys_beside_which_all_of_them_act(watched):
    before = watched.view.wishes.actions
    watched.page.locator("#move").wait_for()  # the page has the leader that was told
    watched.key.press("?")
    watched.page.locator("#keys").wait_for()
    caps = watched.page.locator("#key-list kbd").all_inner_texts()

    watched.key.press("Space")

    assert {"Space", "n", "m", "PgUp", "?"} <= set(caps)
    wait_until(lambda: watched.view.wishes.actions.since(before).stop == 1)
    watched.key.press("Escape")
    assert watched.page.locator("#keys").is_hidden()


@pytest.mark.parametrize(
    "row", [row for row in PAGE_KEYS if row.place != "field"], ids=lambda row: row.name
)
def test_every_key_of_the_table_presses_and_its_button_says_what_it_does(watched, row):
    before = watched.view.wishes.actions
    button = watched.page.locator(f"[data-press={row.name}]")
    watched.page.evaluate("document.activeElement.blur()")

    watched.key.press(row.key)

    wait_until(lambda: sum(watched.view.wishes.actions.since(before)) > 0)
    pressed = watched.view.wishes.actions.since(before)
    assert pressed == Actions(**{row.name: 1})
    assert button.get_attribute("title") == row.tip
    assert button.locator("kbd").text_content() == row.cap


@pytest.mark.parametrize("row", [row for row in PAGE_KEYS if row.place == "field"])
def test_a_key_of_the_table_goes_to_its_field(watched, row):
    watched.page.evaluate("document.activeElement.blur()")

    watched.key.press(row.key)

    wait_until(lambda: watched.page.evaluate("document.activeElement.id") == row.name)
    assert watched.page.locator(f"label[for={row.name}] kbd").text_content() == row.cap
    watched.key.press("Escape")


def test_the_page_speaks_of_episodes_until_it_is_told_not_to(watched):
    watched.page.evaluate(
        "() => { window.said = [];"
        " speechSynthesis.speak = (one) => window.said.push(one.text); }"
    )
    said = lambda: watched.page.evaluate("window.said")  # noqa: E731
    made = {"path": "OUT/episode_000007.mcap", "mark": "kept", "seconds": 2.0}
    watched.page.evaluate("document.activeElement.blur()")

    watched.tell(state=SessionState.ENGAGED, news={"recording": "REC"})
    wait_until(lambda: said() == ["recording"])
    watched.tell(
        state=SessionState.RESETTING, news={"recording": "", "episodes": [made]}
    )
    wait_until(lambda: said()[1:] == ["episode 7 kept", "reset the scene"])
    watched.tell(
        state=SessionState.RESETTING, news={"episodes": [made | {"mark": "discarded"}]}
    )
    wait_until(lambda: said()[3:] == ["episode 7 discarded"])

    watched.key.press("v")
    watched.tell(state=SessionState.STOPPED)
    watched.page.locator("#stopped").wait_for()
    assert len(said()) == 4
    watched.key.press("v")
    wait_until(lambda: said()[4:] == ["speech on"])
    watched.tell()


def test_a_drag_without_the_dead_man_is_answered_at_the_page(watched):
    toast = watched.page.locator("#toast")

    watched.view._panel.note_vain_drag()

    toast.filter(has_text="only while the dead-man is held").wait_for(timeout=5000)


def test_a_task_is_given_by_keys(watched):
    watched.tab_to("#task")
    watched.key.type("pick it up")
    watched.key.press("Enter")

    wait_until(lambda: watched.view.wishes.task == "pick it up")


def test_a_note_is_given_by_keys(watched):
    watched.tab_to("#note")
    watched.key.type("it slipped")
    watched.key.press("Enter")

    wait_until(lambda: watched.view.wishes.note == "it slipped")


def test_a_limb_that_is_led_elsewhere_is_held_and_let_go_of_by_keys(watched):
    limbs = [limb.name for limb in ROBOT.limbs]
    leader = {"hint": "", "hands": limbs[:1], "led": limbs, "emits": "pose"}
    watched.tell(news={"leader": leader, "note": "", "folder": "OUT"})
    button = watched.page.locator("#clutches button")
    button.filter(has_text=f"hold {limbs[1]}").wait_for()

    watched.tab_to("#clutches button")
    watched.key.press("Enter")
    wait_until(lambda: watched.view.wishes.held == {1})
    button.filter(has_text=f"{limbs[1]} is held").wait_for()
    watched.key.press("Enter")

    wait_until(lambda: not watched.view.wishes.held)
    watched.tell()


def test_space_stops_wherever_the_focus_is(watched):
    for selector in ("[data-press=engage]", "[data-press=discard]", "#limbs input"):
        before = watched.view.wishes.actions
        watched.tab_to(selector)
        watched.key.press(" ")
        wait_until(lambda n=before: watched.view.wishes.actions.since(n).stop == 1)
        assert sum(watched.view.wishes.actions.since(before)) == 1


def test_every_state_has_a_word_and_a_sentence_of_its_own(watched):
    watched.tell(state=SessionState.ENGAGED)
    watched.page.locator("#word", has_text="Driving").wait_for()
    pair = [watched.page.locator(one).inner_text() for one in ("#word", "#does")]
    said = {"last": pair}
    states = [one for one in SessionState if one is not SessionState.ENGAGED]
    for state in (*states, SessionState.ENGAGED):
        watched.tell(state=state)
        watched.page.wait_for_function(
            "state => document.querySelector('#word').textContent !== state[0] "
            "|| document.querySelector('#does').textContent !== state[1]",
            arg=said["last"],
        )
        words = [watched.page.locator(one).inner_text() for one in ("#word", "#does")]
        said["last"] = said[state] = words
    watched.tell()
    said.pop("last")

    assert all(word and does for word, does in said.values())
    sentences = [tuple(words) for words in said.values()]
    assert len(set(sentences)) == len(sentences)


def test_the_dead_man_a_stop_and_an_alert_are_told_in_words(watched):
    page, hold = watched.page, watched.page.locator("#hold")
    free = hold.inner_text()
    watched.hold()
    page.locator("#hold", has_text="moving").wait_for()
    watched.key.up("m")
    page.locator("#hold", has_text=free.split()[0]).wait_for()
    told = {"leader": {}, "note": "", "told": [(1, "camera:top stands still")]}
    latched = "operator_stop (stop was pressed); look at the robot"
    watched.tell(state=SessionState.STOPPED, latched=latched, news=told)

    said = "Stopped: stop was pressed (operator_stop); look at the robot"
    page.locator("#why", has_text=said).wait_for()
    page.locator("#alerts", has_text="stands still").wait_for()
    mark = "getComputedStyle(document.querySelector('#alerts li'), '::before').content"
    assert "⚠" in page.evaluate(mark)
    watched.tell()


def test_a_dead_man_that_is_held_on_says_what_holds_the_robot(watched):
    hold = watched.page.locator("#hold")
    watched.tell(state=SessionState.STOPPED)
    watched.page.locator("#word", has_text="Stopped").wait_for()
    watched.hold()
    hold.filter(has_text="stopped – let go, then Release").wait_for()
    watched.tell(state=SessionState.CLUTCHED)
    hold.filter(has_text="paused – let go, then hold again").wait_for()

    watched.key.up("m")
    hold.filter(has_text="hold to move").wait_for()
    watched.tell()


def test_buttons_without_effect_are_not_offered(watched):
    leader = {"hint": "hold", "hands": [], "emits": "pose"}
    start, other = (watched.page.locator(f"[data-press={one}]") for one in VAIN)
    watched.tell(state=SessionState.STOPPED)
    watched.page.locator("[data-press=engage]:disabled").wait_for()
    assert not other.is_visible()

    watched.tell(news={"leader": leader, "note": "", "offers_posture": True})

    other.wait_for()
    assert start.is_enabled()
    watched.tell()


@pytest.mark.parametrize("tau", [np.nan, 1.5])
def test_unmeasured_torques_are_shown_in_words(watched, tau):
    watched.tell(tau=np.full(len(ROBOT.joint_names), tau))
    wanted = "not measured" if np.isnan(tau) else "1.50"

    watched.page.locator("#joints", has_text=wanted).wait_for()
    watched.tell()
