"""A page shows the robot, on this machine alone, and nobody waits for it."""

import socket
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from paprle.config import resolve
from paprle.contracts.errors import ConfigError
from paprle.contracts.kit.motion_cues import CueSettings, make_cue
from paprle.contracts.reality_levels import EVERYTHING, LEVELS, find_parts
from paprle.contracts.session_view import MirroredRobot
from paprle.hosts.factories import add_view, list_observers
from paprle.hosts.plan import make_robot
from paprle.observers.view.config import ViewConfig
from paprle.observers.view.drawing.bodies import Robot
from paprle.observers.view.mirrored import describe_mirror
from paprle.observers.view.observer import View, find_port
from paprle.observers.view.scene import Scene
from paprle.testing import ObserverContract
from paprle.testing.views import make_session_view

WORDS = ["leader=autopilot", "follower=piper", "env=kinematic"]
PIPER = make_robot(resolve(WORDS)).info


def wait_until(is_true, timeout=30.0):
    end = time.monotonic() + timeout
    while not is_true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def is_served(port, host="127.0.0.1"):
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex((host, port)) == 0


class TestView(ObserverContract):
    robot = PIPER

    def make_observer(self, clock):
        return View(ViewConfig(port=find_port(18080)), self.robot, clock)


@pytest.fixture
def view():
    view = View(ViewConfig(port=find_port(18080)), PIPER, time.monotonic_ns)
    yield view
    view.close()


def read_port(view):
    return int(view.notes[0].rsplit(":", 1)[1].partition("/")[0])


def test_open_returns_before_anything_slow_is_loaded(view):
    began = time.monotonic()
    view.open()

    assert time.monotonic() - began < 0.2
    assert view.notes[0].startswith("open http://127.0.0.1:")


def test_the_page_is_on_loopback_and_nowhere_else(view):
    view.open()
    port = read_port(view)
    wait_until(lambda: is_served(port))

    table = Path("/proc/net/tcp").read_text(encoding="ascii")
    rows = [line.split() for line in table.splitlines()[1:]]
    listening = [row[1] for row in rows if row[3] == "0A"]
    own = [at for at in listening if int(at.split(":")[1], 16) == port]
    assert own == [f"0100007F:{port:04X}"]


def test_on_a_network_its_address_has_tls_and_is_a_qr_code():
    pytest.importorskip("segno")
    view = View(ViewConfig(port=18090, listen="127.0.0.1"), PIPER, time.monotonic_ns)
    view._port = 18090  # what open() chooses

    address, code = view.notes

    assert address.startswith("open https://127.0.0.1:18090/#")
    assert code.count("\n") > 10
    assert set(code) <= set("█▀▄ \n")


def test_a_network_that_is_not_there_gives_no_address():
    view = View(ViewConfig(port=18090, listen="nowhere"), PIPER, time.monotonic_ns)
    view._port = 18090

    assert view.notes == []


def test_a_taken_port_is_passed_over():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        assert find_port(taken) != taken


def test_without_its_packages_the_session_is_told_and_goes_on(view, monkeypatch):
    for part in ("site", "viser_proxy"):
        monkeypatch.delitem(sys.modules, f"paprle.observers.view.{part}", raising=False)
    monkeypatch.setitem(sys.modules, "websockets.asyncio.client", None)
    view.open()
    told = []
    wait_until(lambda: told or told.extend(view.take_warnings()) or told)

    assert "without a page: pip install 'paprle[page]'" in told[0]
    view.observe(make_session_view(PIPER))


def test_without_viser_there_is_a_page_that_says_so(view, monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    view.open()
    wait_until(lambda: is_served(read_port(view)))
    told = []
    wait_until(lambda: told or told.extend(view.take_warnings()) or told)

    assert "no 3-D picture: expected viser" in told[0]
    assert not view._talk._has_scene


def test_a_page_that_is_started_again_is_found_at_the_same_address(view):
    view.open()
    before = view.notes[0]
    wishes = view.wishes
    view.close()
    again = View(view.config, PIPER, time.monotonic_ns)
    again.resume(wishes)
    again.open()
    again.close()

    assert again.notes[0].partition("#")[2] == before.partition("#")[2]


def test_a_leader_at_the_page_needs_no_terminal(monkeypatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    words = ["leader=web", *WORDS[1:]]

    assert "view" in list_observers(add_view(resolve(words)))
    assert "view" in list_observers(add_view(resolve([*WORDS, "console=on"])))
    with pytest.raises(ConfigError, match=r"session\.view=false; leave that out"):
        add_view(resolve([*words, "console=off"]))


def test_a_session_with_a_terminal_has_a_page_unless_told_otherwise(monkeypatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)

    assert "view" in list_observers(add_view(resolve(WORDS)))
    off = [*WORDS, "session.view=false"]
    assert "view" not in list_observers(add_view(resolve(off)))


def test_a_session_without_a_terminal_has_a_page_when_asked(monkeypatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)

    assert "view" not in list_observers(add_view(resolve(WORDS)))
    asked = resolve([*WORDS, "observers.view.port=9000"])
    assert list_observers(add_view(asked))["view"].port == 9000


def test_a_view_is_copied_and_never_kept(view):
    q = np.array(PIPER.home)
    view.observe(make_session_view(PIPER, q=q))
    q += 1.0

    assert np.array_equal(view._arrays["q"], PIPER.home)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({}, "as predicted"),
        ({"is_predicted": False}, "as confirmed"),
        ({"age": 0.2}, "confirmed 200 ms ago"),
        ({"held": ("arm",)}, "· held: arm"),
        ({"is_lost": True, "age": 3.0}, "Not heard of for 3.0 s"),
    ],
)
def test_a_robot_far_away_is_shown_as_what_it_is(state, words):
    told = {"age": 0.05, "is_predicted": True, "is_lost": False, "held": ()} | state
    mirror = MirroredRobot(q=PIPER.home, poses={}, **told)

    assert words in describe_mirror(mirror)


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_draws_what_is_not_real_and_everything_comes_back(level):
    scene = Scene(PIPER, Robot(PIPER), None, 10)
    try:
        scene.add_cues(CueSettings())
        roots = scene._roots
        parts = find_parts(level, has_cues=True)

        scene.show_parts(parts)
        shown = {part: {node.visible for node in roots[part]} for part in roots}
        scene.show_parts(EVERYTHING)

        assert shown == {part: {getattr(parts, part)} for part in roots}
        assert all(node.visible for nodes in roots.values() for node in nodes)
        assert [node.name for node in roots["robot"]][0] == "/robot"
    finally:
        scene.close()


def test_cues_are_drawn_where_they_lead_and_vanish_with_the_axes():
    robot = Robot(PIPER)
    scene = Scene(PIPER, robot, None, 10)
    try:
        scene.add_cues(CueSettings(waypoints=True))
        drawn = scene._cues._drawn["arm", "active"]
        column = np.array([1.0, 0, 0, 0, 1.0, 0, 0])
        view = make_session_view(PIPER, mappings={"arm": column[:, None]})
        robot.move(PIPER.home)
        scene.show_cues(view)
        cue = make_cue("active", robot.find("gripper_base"), column)

        np.testing.assert_allclose(drawn._arrow.points[0], cue.arrow, atol=1e-6)
        np.testing.assert_allclose(drawn._dots.points, cue.path[1:, :3], atol=1e-3)
        np.testing.assert_allclose(drawn._ghost.position, cue.path[-1, :3])
        assert drawn._arc.visible
        assert not scene._cues._drawn["arm", "suggested"]._arrow.visible
        scene.show_cues(make_session_view(PIPER))
        assert not any(
            handle.visible for handle in (drawn._arrow, drawn._arc, drawn._ghost)
        )
    finally:
        scene.close()
