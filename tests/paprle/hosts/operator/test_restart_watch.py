"""Processes that die or hang and are started again, seen from the session."""

import os

import numpy as np
import pytest

from paprle.config import resolve
from paprle.hosts.operator.restart_watch import RestartWatch
from paprle.hosts.roles import IfLost, RoleSpec
from paprle.ipc.mailbox import ImageSlots, Mailbox

NAME = "camera:door"
RESOLVED = resolve(
    ["leader=autopilot", "follower=piper", "env=kinematic",
     "cameras.door.type=opencv", "cameras.door.device=0", "cameras.door.width=16",
     "cameras.door.height=16"]
)  # fmt: skip
SECOND = 1_000_000_000


class Children:
    """What a session shares with its processes, without any."""

    def __init__(self):
        spec = RoleSpec(name=NAME, module="none", if_lost=IfLost.RESTART, shutdown=1.0)
        self.specs = (spec,)
        self.slots = ImageSlots(8, 3)
        self.ports = {"frames:door": self.slots}
        self.restarted = []

    def restart(self, name):
        self.restarted.append(name)


class Session:
    """A session that looks at its cameras every 5 ms."""

    def __init__(self):
        self.children, self.told, self.lost = Children(), [], {}
        self.watch = RestartWatch(self.children, self.told.append, self.lost, RESOLVED)
        self.now_ns = 100 * SECOND

    def run(self, seconds, is_alive=False):
        for k in range(round(seconds * 200)):
            self.now_ns += SECOND // 200
            if is_alive and k % 6 == 0:
                self.children.slots.write(self.now_ns, b"image")
            self.watch.look(self.now_ns)

    def kill(self):
        self.lost[NAME] = "killed"
        self.watch.lose(NAME, f"{NAME}: it was killed", self.now_ns)


@pytest.fixture
def session(monkeypatch):
    monkeypatch.setattr("os.getloadavg", lambda: (0.0, 0.0, 0.0))
    return Session()


def test_a_camera_that_writes_is_left_alone(session):
    session.run(10.0, is_alive=True)

    assert (session.told, session.children.restarted) == ([], [])


def test_a_dead_cameras_last_image_is_withdrawn(session):
    session.run(1.0, is_alive=True)
    assert session.children.slots.read() is not None

    session.kill()

    assert session.children.slots.read() is None
    assert session.told == [f"{NAME}: it was killed; it is started again"]


def test_a_process_is_started_again_after_a_second(session):
    session.run(1.0, is_alive=True)
    session.kill()
    session.run(0.9)
    assert session.children.restarted == []

    session.run(0.3)

    assert session.children.restarted == [NAME]
    assert session.lost == {}


def test_a_hanging_camera_is_replaced_and_its_image_withdrawn(session):
    session.run(1.0, is_alive=True)

    session.run(2.1)
    assert "stands still" in session.told[1]
    assert session.children.slots.read() is None
    session.run(1.5)

    assert session.children.restarted == [NAME]


def test_one_whose_images_stay_away_is_told_before_it_is_sure_to_hang(session):
    session.run(1.0, is_alive=True)

    session.run(0.14)
    assert session.told == []
    session.run(0.06)
    assert session.told == [f"{NAME}: no image for 160 ms"]
    for _ in range(5):
        session.run(0.5, is_alive=True)
        session.run(0.2)
    assert len(session.told) == 1, "a camera that stutters is told once"
    session.run(1.2, is_alive=True)

    assert session.told[1:] == [f"{NAME}: images come again"]
    assert session.children.restarted == []


def test_on_a_busy_machine_silence_is_told_later(session, monkeypatch):
    n_cores = os.cpu_count() or 1
    monkeypatch.setattr("os.getloadavg", lambda: (3.0 * n_cores, 0.0, 0.0))
    session.run(1.0, is_alive=True)

    session.run(0.44)
    assert session.told == []
    session.run(0.06)

    assert session.told == [f"{NAME}: no image for 460 ms"]


def test_a_camera_that_says_that_it_has_no_image_is_not_told_again(session):
    session.run(1.0, is_alive=True)
    session.children.slots.write(session.now_ns, b"")

    session.run(1.0)

    assert session.told == []


def test_a_pause_of_the_session_is_no_silence_of_a_camera(session):
    for _ in range(20):
        session.run(0.1, is_alive=True)
        session.now_ns += SECOND // 2
        session.watch.look(session.now_ns)

    assert session.told == []


def test_a_starting_camera_has_20_s(session):
    session.run(19.0)
    assert session.children.restarted == []

    session.run(3.0)
    assert session.children.restarted == [NAME]


def test_a_camera_that_dies_at_once_restarts_ever_more_seldom(session):
    waits = []
    for _ in range(8):
        session.kill()
        begin_ns, n = session.now_ns, len(session.children.restarted)
        while len(session.children.restarted) == n:
            session.run(0.1)
        waits.append(round((session.now_ns - begin_ns) / SECOND))

    assert waits == [1, 2, 4, 8, 16, 30, 30, 30]


def test_a_camera_that_ran_well_restarts_soon(session):
    for _ in range(4):
        session.kill()
        session.run(10.0)
    session.run(1.0, is_alive=True)
    n = len(session.children.restarted)

    session.kill()
    session.run(1.2)

    assert len(session.children.restarted) == n + 1


def test_a_page_that_stands_still_is_started_again():
    session = Session()
    spec = RoleSpec(
        name="observer:view", module="none", if_lost=IfLost.RESTART, shutdown=1.0
    )
    box = Mailbox(np.dtype([("n", "i8")]))
    session.children.specs, session.children.ports = (spec,), {"wishes:view": box}
    session.watch = RestartWatch(
        session.children, session.told.append, session.lost, RESOLVED
    )
    session.run(0.1)
    box.write(np.zeros((), [("n", "i8")]))
    session.run(2.5)
    assert "observer:view: the process stands still" in session.told[0]
    session.run(1.5)

    assert session.children.restarted == ["observer:view"]
