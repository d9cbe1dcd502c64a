"""How a camera does, judged by when its images come."""

import itertools
import math

import pytest

from paprle.contracts.images import Frame
from paprle.contracts.settings.camera import CameraSettings
from paprle.hosts.views.camera_health import NO_IMAGE, CameraState, Health

PERIOD_NS = 33_333_333
WIDTH, HEIGHT = 4, 2


class Camera:
    """A camera in time that the test makes; it is looked at when it asks for that."""

    def __init__(self, is_noisy=True, is_back=False):
        info = CameraSettings(fps=30.0).make_info(
            WIDTH, HEIGHT, "mono8", is_noisy=is_noisy
        )
        self.now_ns = 1_000_000_000
        self.health = Health(info, self.now_ns, is_back=is_back)
        self.told = []
        self.numbers = itertools.count()

    def wait(self, periods):
        end_ns = self.now_ns + round(periods * PERIOD_NS)
        while self.now_ns < end_ns:
            nap_ns = math.ceil(self.health.find_nap(self.now_ns) * 1e9)
            self.now_ns = min(self.now_ns + nap_ns, end_ns)
            self.look()

    def look(self):
        self.told += [(c.state, self.now_ns) for c in self.health.look(self.now_ns)]

    def give(self, n=1, periods=1.0, number=None):
        taken = []
        for _ in range(n):
            self.wait(periods)
            k = next(self.numbers) if number is None else number
            data = k.to_bytes(WIDTH * HEIGHT, "little")
            taken.append(self.health.accept(Frame(self.now_ns, data), self.now_ns))
            self.look()
        return taken

    @property
    def states(self):
        return [state for state, _ in self.told]


def test_nothing_is_told_of_a_camera_that_is_well():
    camera = Camera()

    assert all(camera.give(100))
    assert camera.told == []
    assert camera.health.state is CameraState.OK
    assert camera.health.n_faults == 0


def test_silence_is_seen_within_two_periods():
    camera = Camera()
    camera.give(30)
    last_ns = camera.now_ns

    camera.wait(10)

    [(state, told_ns)] = camera.told
    assert state is CameraState.SILENT
    assert told_ns - last_ns <= 2 * PERIOD_NS + 100_000
    assert camera.health.state in NO_IMAGE


def test_a_repeated_image_is_seen_at_once_and_never_used():
    camera = Camera()
    camera.give(30, number=None)
    camera.give(1, number=77)
    last_ns = camera.now_ns

    taken = camera.give(5, number=77)

    assert taken == [False] * 5
    [(state, told_ns)] = camera.told
    assert state is CameraState.FROZEN
    assert told_ns - last_ns <= 2 * PERIOD_NS
    assert camera.health.n_repeated == 5


def test_a_still_scene_of_a_drawn_camera_is_not_frozen():
    camera = Camera(is_noisy=False)

    assert all(camera.give(30, number=7))
    assert camera.told == []


def test_a_slow_camera_is_told_with_its_rate():
    camera = Camera()
    camera.give(30)

    camera.give(40, periods=1.5)

    assert camera.states == [CameraState.SLOW]


def test_a_slow_camera_is_told_within_two_of_its_images_and_150_ms():
    camera = Camera()
    camera.give(30)
    began_ns = camera.now_ns

    camera.give(6, periods=1.6)

    [(state, told_ns)] = camera.told
    assert state is CameraState.SLOW
    assert told_ns - began_ns <= 150_000_000 + 1.6 * PERIOD_NS


def test_the_rate_that_is_told_is_that_of_the_late_images():
    camera = Camera()
    camera.give(30)
    camera.told = []
    for _ in range(5):
        camera.wait(1.6)
        data = next(camera.numbers).to_bytes(WIDTH * HEIGHT, "little")
        camera.health.accept(Frame(camera.now_ns, data), camera.now_ns)
        texts = [change.text for change in camera.health.look(camera.now_ns)]
        if texts:
            break

    assert texts == ["18.8 of 30 images/s"]


def test_late_images_now_and_then_are_not_told():
    camera = Camera()
    for _ in range(20):
        camera.give(5)
        camera.give(1, periods=1.5)

    assert camera.told == []


def test_a_camera_is_reported_well_once_images_have_kept_coming():
    camera = Camera()
    camera.give(30)
    camera.wait(10)

    camera.give(20)
    assert camera.states == [CameraState.SILENT]
    camera.give(20)

    assert camera.states == [CameraState.SILENT, CameraState.OK]
    assert camera.health.state is CameraState.OK


def test_a_camera_that_comes_and_goes_is_told_once():
    camera = Camera()
    camera.give(30)

    for _ in range(10):
        camera.wait(5)
        camera.give(3)

    assert camera.states == [CameraState.SILENT]
    assert camera.health.n_faults >= 10


def test_a_cameras_image_may_be_used_as_soon_as_it_comes_again():
    camera = Camera()
    camera.give(30)
    camera.wait(10)

    assert camera.give(1) == [True]
    assert camera.health.state not in NO_IMAGE


def test_a_device_that_went_away_is_told_and_comes_back():
    camera = Camera()
    camera.give(30)
    camera.health.lose("unplugged", camera.now_ns)
    camera.wait(60)
    camera.health.begin(camera.now_ns)

    camera.give(60)

    assert camera.states == [CameraState.GONE, CameraState.OK]


def test_a_process_that_took_over_says_that_images_come_again():
    camera = Camera(is_back=True)

    camera.give(3)

    assert camera.states == [CameraState.OK]


def test_a_camera_that_never_gives_an_image_is_told():
    camera = Camera()

    camera.wait(150)

    assert camera.states == [CameraState.SILENT]


@pytest.mark.parametrize(
    ("frame", "why"),
    [
        (Frame(10**12, b"short"), "expected images of 8 bytes, got 5"),
        (Frame(1, bytes(8)), "stamps that rise"),
        (Frame(10**12, bytes(8), b"depth"), "expected 0 bytes of depth"),
    ],
    ids=["size", "stamp", "depth"],
)
def test_an_image_that_is_not_as_declared_is_refused_and_told_once(frame, why):
    camera = Camera()
    camera.give(3)

    for _ in range(3):
        assert not camera.health.accept(frame, camera.now_ns)
    [change] = camera.health.look(camera.now_ns)

    assert why in change.text
    assert camera.health.n_refused == 3
