"""The picture shows what is near, what presses on a hand, and what cameras see."""

import asyncio
import io
import time
from dataclasses import replace
from types import SimpleNamespace
from typing import get_args

import numpy as np
import pinocchio as pin
import pytest
from PIL import Image

from paprle.config import resolve
from paprle.contracts.images import CameraInfo, Encoding, Frame
from paprle.contracts.proximity import Near
from paprle.hosts.plan import make_robot
from paprle.observers.view.config import ViewConfig
from paprle.observers.view.drawing.bodies import Robot
from paprle.observers.view.drawing.forces import Forces, estimate_force
from paprle.observers.view.drawing.frusta import Frusta
from paprle.observers.view.drawing.handles import Handles
from paprle.observers.view.drawing.held_reason import HeldReason
from paprle.observers.view.drawing.proximity_colours import Nearness
from paprle.observers.view.observer import View
from paprle.observers.view.panel import Panel
from paprle.observers.view.thumbnails import Album, Shot, encode, shrink

PIPER = make_robot(
    resolve(["leader=autopilot", "follower=piper", "env=kinematic"])
).info
ARM = PIPER.limbs[0]
OWN = (10, 20, 30)


@pytest.fixture(scope="module")
def server():
    import viser  # noqa: PLC0415

    server = viser.ViserServer("127.0.0.1", 0, verbose=False)
    yield server
    server.stop()


@pytest.fixture
def robot():
    robot = Robot(PIPER)
    robot.move(PIPER.home)
    return robot


def make_info(encoding="rgb8", width=64, height=48):
    K = np.array([[50.0, 0, 32], [0, 50.0, 24], [0, 0, 1]])
    T = pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.1]))
    return CameraInfo(
        width=width, height=height, fps=30.0, encoding=encoding, K=K,
        link="gripper_base", T_link_cam=T,
    )  # fmt: skip


def make_near(distance, share):
    points = np.array([[0.0, 0, 0], [distance, 0, 0]])
    return Near(("upper", "wall"), distance, share, points)


def test_a_handle_dragged_without_the_dead_man_is_counted_and_goes_back(server, robot):
    now = [10_000_000_000]
    panel = Panel(PIPER, (0.2, 1.0), lambda: now[0], may_clear=True)
    handles = Handles(server, robot, {"arm": ARM}, panel)
    handles.offer(["arm"])
    handle = handles._handles["arm"]
    before = np.array(handle.position)
    drag = handles._make_listener("arm")

    for _ in range(3):  # a drag is many messages
        handle.position = before + 0.1
        asyncio.run(drag(SimpleNamespace(target=handle)))
    handles.offer(["arm"])

    assert np.array(handle.position) == pytest.approx(before)
    assert panel.n_vain_drags == 1
    now[0] += 1_000_000_000
    asyncio.run(drag(SimpleNamespace(target=handle)))
    assert panel.n_vain_drags == 2


@pytest.mark.parametrize(
    ("reason", "link"),
    [
        ("arm stands: joint4 at its limit", "link4"),
        ("arm stands: something blocks it", ARM.eef_link),
        ("gripper stands: something blocks it", ARM.eef_link),
    ],
)
def test_the_reason_of_a_hold_is_written_at_the_joint_that_it_names(
    server, robot, reason, link
):
    held = HeldReason(server, robot, PIPER)

    held.show(reason, [])

    assert (held._label.visible, held._label.text) == (True, reason)
    assert held._label.position == pytest.approx(robot.find(link).translation)
    held.show("", [])
    assert not held._label.visible


def test_the_reason_of_a_hold_is_written_between_the_bodies_that_it_names(
    server, robot
):
    held = HeldReason(server, robot, PIPER)

    held.show("'upper' of arm is kept clear of 'wall'", [make_near(0.02, 1.0)])

    assert held._label.position == pytest.approx([0.01, 0.0, 0.0])


def test_a_near_body_changes_colour_and_has_a_distance_line(server):
    mesh = server.scene.add_box("/upper", color=OWN)
    drawn = Nearness(server, {"upper": [(mesh, OWN)]})

    drawn.show([make_near(0.02, 1.0)])
    close = tuple(mesh.color)
    line, label = drawn._lines[0], drawn._labels[0]
    assert (line.visible, label.visible, label.text) == (True, True, "20 mm")
    drawn.show([make_near(0.07, 0.2)])
    far = tuple(mesh.color)
    drawn.show([])

    assert len({close, far, OWN}) == 3
    assert tuple(mesh.color) == OWN, "its own colour again"
    assert not (line.visible or label.visible)


@pytest.mark.parametrize("force", [[0.0, 0, 20], [15.0, -5, 0]])
def test_a_force_at_the_hand_is_found_in_the_torques(robot, force):
    q = PIPER.home + 0.3
    J, weight, _ = robot.weigh(ARM, q, np.zeros(len(q)))
    tau = np.full(len(q), np.nan)
    tau[: len(weight)] = weight - J[:3].T @ force

    found = estimate_force(robot, ARM, q, tau)

    assert found == pytest.approx(force, abs=1.0)


def test_a_robot_whose_bodies_cannot_be_read_is_still_shown():
    view = View(ViewConfig(), PIPER, time.monotonic_ns)

    def fail(_):
        raise ValueError("no such body")

    view.set_proximity_source(fail)

    assert list(view._look_for_near(PIPER.home)) == []
    assert list(view._look_for_near(PIPER.home)) == []
    assert len(view.take_warnings()) == 1, "it is told once"


def test_no_arrow_is_drawn_of_nothing_and_none_of_what_is_not_measured(server, robot):
    forces = Forces(server, robot, PIPER.limbs)
    q = PIPER.home
    J, weight, _ = robot.weigh(ARM, q, np.zeros(len(q)))
    pressed = np.zeros(len(q))
    pressed[: len(weight)] = weight - J[2] * 20.0
    arrow, label = forces._arrows["arm"], forces._labels["arm"]
    for _ in range(50):
        forces.show(q, pressed)
    assert (arrow.visible, label.text) == (True, "20 N")
    forces.show(q, np.full(len(q), np.nan))

    assert not (arrow.visible or label.visible)


def test_a_camera_stands_where_its_link_carries_it_with_its_picture(server, robot):
    info = make_info()
    album = Album(lambda: True)
    album.cameras["wrist"] = info
    frusta = Frusta(server, robot)
    pixels = np.full((48, 64, 3), 200, np.uint8)
    album._frames["wrist"] = Frame(1, pixels.tobytes())
    album.develop()
    frusta.show(album.shots, album.cameras)
    handle = frusta._handles["wrist"]

    T = robot.find("gripper_base") * info.T_link_cam
    assert handle.position == pytest.approx(T.translation)
    album.cameras["wrist"] = replace(info, link="no such link")
    frusta.show(album.shots, album.cameras)  # is left alone
    assert handle.image is not None
    assert handle.fov == pytest.approx(2 * np.arctan(24 / 50))
    shown = np.asarray(Image.open(io.BytesIO(album.shots["wrist"].jpeg)))
    assert np.abs(shown.astype(int) - 200).max() < 3


def test_a_camera_without_image_keeps_its_place_and_loses_its_picture(server, robot):
    info, album, frusta = make_info(), Album(lambda: True), Frusta(server, robot)
    frame = Frame(1, bytes(48 * 64 * 3))
    album.take({"wrist": frame}, {"wrist": info})
    album.develop()
    frusta.show(album.shots, album.cameras)
    handle = frusta._handles["wrist"]
    ink = tuple(handle.color)
    assert handle.image is not None

    album.drop(["wrist"])
    frusta.show(album.shots, album.cameras)
    assert handle.image is None
    assert tuple(handle.color) != ink
    album.take({"wrist": frame}, {"wrist": info})
    album.develop()
    frusta.show(album.shots, album.cameras)

    assert handle.image is not None
    assert tuple(handle.color) == ink


def test_a_picture_in_the_making_is_not_shown_after_its_camera_is_gone(monkeypatch):
    album = Album(lambda: True)
    album.cameras["wrist"] = make_info()
    album._frames["wrist"] = Frame(1, bytes(48 * 64 * 3))

    def lose_meanwhile(pixels):
        album.drop(["wrist"])
        return encode(pixels)

    monkeypatch.setattr("paprle.observers.view.thumbnails.encode", lose_meanwhile)
    album.develop()
    album.develop()

    assert album.shots == {}


@pytest.mark.parametrize("encoding", get_args(Encoding))
def test_an_invalid_image_is_counted_and_replaces_the_last_one(encoding):
    album = Album(lambda: True)
    album.cameras["a"] = make_info(encoding)
    album.shots["a"] = Shot(0, np.zeros((48, 64, 3), np.uint8), b"")
    for data in (b"", b"\xff\xd8\xff\xe0nonsense", b"\0" * 7):
        album._frames["a"] = Frame(1, data)
        album.develop()

    assert album.n_broken == 3
    assert album.shots == {}


def test_each_segment_has_its_own_colour_and_the_background_is_black():
    ids = np.zeros((48, 64), "<u2")
    ids[:, 8:], ids[:, 40:] = 3, 16
    painted = shrink(Frame(1, ids.tobytes()), make_info("ids16"))

    colours = painted[20, [0, 8, 63]].astype(int)
    assert colours[0].tolist() == [0, 0, 0]
    assert np.abs(colours[1] - colours[2]).sum() > 100
    assert (painted[:, 8:40] == colours[1]).all()


def test_a_coded_image_of_another_size_is_not_decoded():
    out = io.BytesIO()
    Image.new("RGB", (640, 480)).save(out, "PNG")

    assert shrink(Frame(1, out.getvalue()), make_info("png")) is None


@pytest.mark.parametrize(("encoding", "form"), [("jpeg", "JPEG"), ("png", "PNG")])
def test_large_images_are_made_small(encoding, form):
    out = io.BytesIO()
    Image.new("RGB", (1280, 720), (0, 90, 0)).save(out, form)
    small = shrink(Frame(1, out.getvalue()), make_info(encoding, 1280, 720))

    assert small.shape[1] <= 320
    assert abs(int(small[5, 5, 1]) - 90) < 4
