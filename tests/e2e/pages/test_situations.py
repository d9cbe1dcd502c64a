"""The page in each situation, by measure, beside a view without a session.

With PICTURES=FOLDER every look is kept there.
"""

from __future__ import annotations

import pytest
from operator_page import find_pictures
from page_judge import SIZES, find_covered, judge_page
from stage import SITUATIONS, set_stage

from paprle.config import resolve
from paprle.hosts.plan import make_robot

pytestmark = [pytest.mark.process, pytest.mark.long, pytest.mark.timeout(300)]

DAY = [("phone", "light")]
NIGHT = [(s, c) for s in SIZES for c in ("light", "dark") if (s, c) not in DAY]
NEEDED = {
    "driving": ["#hold", "#jog button", "#openings input", "[data-press=stop]"],
    "joints": ["#hold", "#sliders input", "[data-press=stop]"],
}
ON_PHONES = ["[data-press=next_episode]", "[data-press=redo]"]
EVERY_LOOK = [
    *(pytest.param(*one, id="-".join(one)) for one in DAY),
    *(pytest.param(*one, id="-".join(one), marks=pytest.mark.nightly) for one in NIGHT),
]


def make_stage(follower, port):
    words = ["leader=web", f"follower={follower}", "env=kinematic"]
    return set_stage(make_robot(resolve(words)).info, port)


@pytest.fixture
def stage():
    with make_stage("piper", 18600) as made:
        yield made


@pytest.fixture
def two_arms():
    with make_stage("papras_7dof_2arm", 18620) as made:
        yield made


def look_at_all(stage, names, size, scheme, folder):
    """Return what is wrong in each situation at one size."""
    width, height, is_touch = SIZES[size]
    how = {"color_scheme": scheme, "has_touch": is_touch, "is_mobile": is_touch}
    found = {}
    with stage.browse(width=width, height=height, **how) as browser:
        page = browser.page
        for name in names:
            stage.play(page, name)
            found[name] = judge_page(page, is_touch=is_touch)
            if name in NEEDED:
                needed = NEEDED[name] + (ON_PHONES if size == "phone" else [])
                page.evaluate("scrollTo(0, 0)")
                found[name] += [
                    f"not in one screen: {one}" for one in find_covered(page, needed)
                ]
            arms = len(stage.view.robot.limbs)
            browser.shoot(folder / f"{size}_{scheme}_{arms}_{name}.png")
            stage.leave(page, name)
        errors = [text for text in browser.errors if "WebSocket" not in text]
    assert errors == []
    return {name: bad for name, bad in found.items() if bad}


@pytest.mark.parametrize(("size", "scheme"), EVERY_LOOK)
def test_every_situation_can_be_read_and_pressed(stage, size, scheme, tmp_path):
    folder = find_pictures(tmp_path)

    assert look_at_all(stage, SITUATIONS, size, scheme, folder) == {}


@pytest.mark.parametrize(("size", "scheme"), EVERY_LOOK)
def test_two_arms_are_driven_within_one_screen(two_arms, size, scheme, tmp_path):
    folder = find_pictures(tmp_path)
    names = ["ready", "driving", "joints"]

    assert look_at_all(two_arms, names, size, scheme, folder) == {}
