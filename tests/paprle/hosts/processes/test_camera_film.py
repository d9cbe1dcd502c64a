"""Pictures of a camera, coded while an episode is written."""

import json
import threading

import numpy as np
import pytest

from paprle.contracts.images import Frame
from paprle.contracts.settings.camera import CameraSettings
from paprle.hosts.processes.camera_film import CameraFilm
from paprle.ipc.mailbox import Mailbox, Ring
from paprle.ipc.pictures import RECORDING_DTYPE, PictureKind, unpack_coded

pytest.importorskip("av")

WIDTH, HEIGHT = 64, 48
INFO = CameraSettings().make_info(WIDTH, HEIGHT, "rgb8", depth_unit=0.001)
IMAGE, DEPTH = bytes(3 * WIDTH * HEIGHT), bytes(2 * WIDTH * HEIGHT)


class Recorder:
    """The recorder's end."""

    def __init__(self, room=1 << 20):
        self.ring, self.level = Ring(room), Mailbox(RECORDING_DTYPE)
        self.film = CameraFilm(
            INFO, "h264", self.ring, self.level, lambda: {"camera": "door"}
        )

    def tell(self, episode, is_on):
        self.level.write(np.array((episode, is_on), RECORDING_DTYPE))

    def film_one(self, stamp_ns, episode=1):
        self.film.step(episode, Frame(stamp_ns, IMAGE, DEPTH))

    def take(self):
        return [
            (
                kind,
                unpack_coded(data) if kind != PictureKind.EVENT else json.loads(data),
            )
            for kind, data in self.ring.drain()
        ]

    def run(self, until):
        """Run the thread until something holds."""
        thread = threading.Thread(target=self.film.run)
        thread.start()
        waiting = threading.Event()
        for _ in range(400):
            if until():
                break
            waiting.wait(0.01)
        self.film.end()
        thread.join()


def test_nothing_is_coded_while_no_episode_is_written():
    recorder = Recorder()
    recorder.film.offer(Frame(1, IMAGE, DEPTH))
    recorder.tell(1, False)
    recorder.film.offer(Frame(2, IMAGE, DEPTH))

    recorder.run(until=lambda: True)

    assert recorder.take() == []
    assert recorder.film.n_dropped == 0


def test_each_episode_begins_with_a_key_picture_and_depth_beside_it():
    recorder = Recorder()
    for k in range(3):
        recorder.film_one(k * 33_000_000)
    recorder.film_one(4 * 33_000_000, episode=2)

    taken = recorder.take()
    pictures = [coded for kind, coded in taken if kind == PictureKind.PICTURE]
    depths = [coded for kind, coded in taken if kind == PictureKind.DEPTH]
    assert [one.is_key for one in pictures] == [True, False, False, True]
    assert [one.stamp_ns for one in depths] == [one.stamp_ns for one in pictures]


def test_after_a_picture_without_room_comes_a_key_picture():
    recorder = Recorder(room=2000)
    recorder.film_one(0)
    while not recorder.ring.dropped.get(PictureKind.PICTURE):
        recorder.film_one(33_000_000)
    recorder.take()

    recorder.film_one(66_000_000)

    pictures = [coded for kind, coded in recorder.take() if kind == PictureKind.PICTURE]
    assert pictures[0].is_key


def test_images_for_which_there_is_no_time_are_counted():
    recorder = Recorder()
    recorder.tell(1, True)

    for k in range(5):
        recorder.film.offer(Frame(k, IMAGE, DEPTH))

    assert recorder.film.n_dropped == 3, "two wait"


@pytest.mark.long
def test_a_cameras_health_is_reported_once_an_episode_and_on_change():
    recorder = Recorder()
    told = []
    recorder.tell(1, True)
    recorder.film.offer(Frame(1, IMAGE, DEPTH))

    def look():
        told.extend(data for kind, data in recorder.take() if kind == PictureKind.EVENT)
        if len(told) == 1:
            recorder.film.note("silent", "no image for 70 ms")
        if len(told) == 2:
            recorder.tell(2, True)
        return len(told) > 2

    recorder.run(until=look)

    assert [(one["camera"], one["state"]) for one in told] == [
        ("door", "ok"),
        ("door", "silent"),
        ("door", "silent"),
    ]


def test_the_failure_of_the_thread_is_kept():
    recorder = Recorder()
    recorder.tell(1, True)
    recorder.film.offer(Frame(1, IMAGE, DEPTH))
    recorder.film._encoder = None

    recorder.run(until=lambda: recorder.film.failure is not None)

    assert isinstance(recorder.film.failure, AttributeError)
