"""A limb follows an object that an operator drags at the page: browser, tick, gate."""

import signal

import numpy as np
import pytest
from operator_page import PATIENT, Outlook, operate
from running import judge

from paprle.contracts.settings.retarget import LookSettings
from paprle.contracts.types import SessionState

pytestmark = [
    pytest.mark.process,
    pytest.mark.sim,
    pytest.mark.nightly,
    pytest.mark.timeout(400),
]

TYPED = np.array([0.3, 0.15, 0.25])
UP = np.array([0.0, 0.0, 1.0])
TIP = 0.09  # [m] near the tip of an object's arrow
FAR = 0.06  # [m] of a drag
MOTION = LookSettings()
WORDS = [
    "session.objects=[cup]",
    "retarget.limbs.arm={rule: follow, object: cup, from: arm}",
    *PATIENT,
]


def read_cup(operator):
    inputs = operator.page.locator("form[data-object=cup] input")
    return np.array([float(inputs.nth(k).input_value()) for k in range(3)])


def put(operator, outlook, xyz):
    form = operator.page.locator("form[data-object=cup]")
    for k in range(3):
        form.locator("input").nth(k).fill(f"{xyz[k]:.3f}")
    form.locator("button", has_text="Put").click()
    for _ in range(60):
        if operator.sees_arrow(outlook, xyz + TIP * UP, 2):
            return
        operator.page.wait_for_timeout(500)
    raise AssertionError("no arrow where the cup is")


def drag(operator, outlook):
    """Pull the cup up by its arrow; return how far it went, [m]."""
    before = read_cup(operator)
    for _ in range(5):
        operator.pull(outlook, before + TIP * UP, FAR * UP)
        operator.page.wait_for_timeout(1500)
        moved = read_cup(operator) - before
        if moved[2] > 0.5 * FAR:
            return moved
    raise AssertionError("the cup was not dragged")


def test_a_limb_goes_as_the_cup_is_dragged_from_where_both_were(tmp_path):
    with operate(tmp_path, "piper", *WORDS) as operator:
        page, outlook = operator.page, Outlook("piper")

        def find_hand():
            operator.wait_for_rest(outlook, "arm")
            return outlook.find_eef(operator.read_joints(), "arm").translation

        operator.wait_for_picture()
        put(operator, outlook, TYPED)
        hands = [find_hand()]
        operator.hold()
        page.wait_for_timeout(1000)
        hands.append(find_hand())  # far from the cup, and none of it moves the hand
        drags = [drag(operator, outlook)]
        hands.append(find_hand())
        operator.let_go()
        put(operator, outlook, TYPED - 0.1 * UP)  # elsewhere, while nobody drives
        operator.hold()
        page.wait_for_timeout(1000)
        hands.append(find_hand())
        drags.append(drag(operator, outlook))
        hands.append(find_hand())
        operator.press.up("m")
        operator.session.kill("session", signal.SIGINT)
        operator.session.wait_gone(60.0)
        episode = operator.session.episode()

    ways = np.diff(hands, axis=0)
    expected = [0 * UP, drags[0], 0 * UP, drags[1]]
    np.testing.assert_allclose(ways, expected, atol=4e-3)
    assert not judge(episode).violations
    is_driven = episode.ticks["state"] == SessionState.ENGAGED
    t = episode.ticks["sample"]["stamp_ns"] * 1e-9  # a page's come unevenly
    p = episode.ticks["target"][:, 0, :3]
    steps, dt = np.linalg.norm(np.diff(p, axis=0), axis=1), np.diff(t)
    both = is_driven[1:] & is_driven[:-1] & np.isfinite(steps)
    assert (steps - MOTION.max_speed * dt)[both].max() < 1e-4, "it jumped"
    assert steps[both].max() > 1e-4, "it was dragged"
