"""Colour over a link that is narrow and loses, on a virtual clock."""

import numpy as np
import pytest

from paprle.contracts.settings.camera import CameraSettings

cv2 = pytest.importorskip("cv2")
colour = pytest.importorskip("paprle.hardware.media.colour")
fragments = pytest.importorskip("paprle.hardware.media.fragments")
rates = pytest.importorskip("paprle.hardware.media.rate")

SECRET = b"a secret of thirty-two bytes ..."
WIDTH, HEIGHT = 320, 240
K = CameraSettings(focal=(300.0, 290.0), centre=(150.0, 130.0))
PERIOD, H, POSES = 1.0 / 30.0, 0.001, 1e4  # [s], [s], [bytes/s]


class Rig:
    """A camera, and who asks for its colour over 20 ms with losses."""

    def __init__(self, rate, encoding="rgb8", loss=0.0):
        self.lens = K.make_info(WIDTH, HEIGHT, encoding)
        estimator = rates.RateEstimator(rate, rate)
        self.sender = colour.ColourSender(SECRET, 3, self.lens, estimator, POSES)
        self.receiver = colour.ColourReceiver(SECRET, 3)
        rng = np.random.default_rng(5)
        coarse = rng.integers(0, 255, (HEIGHT // 8, WIDTH // 8, 3)).astype(np.uint8)
        self.image = cv2.resize(coarse, (WIDTH, HEIGHT))
        self.rng, self.loss, self.now = rng, loss, 0.0
        self.under_way, self.pictures, self.n_bytes = [], [], 0

    def run(self, seconds):
        for k in range(round(seconds / H)):
            self.now += H
            ask = self.receiver.ask(self.now)
            if ask is not None:
                self.sender.hear(fragments.unpack_ask(SECRET, ask), self.now)
            if k % round(PERIOD / H) == 0:
                self.sender.offer(round(self.now * 1e9), self.encode())
            for data in self.sender.step(self.now, round(self.now * 1e9)):
                self.n_bytes += len(data) + fragments.HEADS
                if self.rng.random() >= self.loss:
                    self.under_way.append((self.now + 0.02, data))
            self.deliver()
        return self

    def encode(self):
        if self.lens.encoding == "jpeg":
            return cv2.imencode(".jpg", self.image)[1].tobytes()
        return self.image[:, :, ::-1].tobytes()

    def deliver(self):
        while self.under_way and self.under_way[0][0] <= self.now:
            picture = self.receiver.receive(self.under_way.pop(0)[1], self.now)
            if picture is not None:
                self.pictures.append((self.now, picture))


def unpack(picture):
    """Return a picture's pixels, and the K that goes with them."""
    width, height, fx, fy, cx, cy = colour.HEAD.unpack_from(picture.data)
    jpeg = np.frombuffer(picture.data, np.uint8, offset=colour.HEAD.size)
    pixels = cv2.imdecode(jpeg, cv2.IMREAD_COLOR)
    assert pixels.shape == (height, width, 3)
    return pixels, np.array([[fx, 0.0, cx], [0.0, fy, cy], [0.0, 0.0, 1.0]])


@pytest.mark.parametrize("encoding", ["rgb8", "jpeg"])
def test_a_wide_link_gives_the_picture_as_it_is_with_its_lens(encoding):
    rig = Rig(1.25e6, encoding).run(1.0)

    now, picture = rig.pictures[-1]
    pixels, lens = unpack(picture)
    np.testing.assert_allclose(lens, rig.lens.K, atol=1e-4)
    assert np.abs(pixels.astype(int) - rig.image).mean() < 8.0
    assert now - picture.stamp_ns * 1e-9 < 0.1, "in our time"


def test_a_narrow_link_gives_a_coarse_picture_in_time_and_keeps_its_rate():
    rate = 40e3  # [bytes/s]
    rig = Rig(rate).run(4.0)

    _, lens = unpack(rig.pictures[-1][1])
    share = lens[0, 0] / rig.lens.K[0, 0]
    assert share < 1.0
    middle = share * (rig.lens.K[0, 2] + 0.5) - 0.5
    np.testing.assert_allclose(lens[0, 2], middle, atol=1e-3)
    late = [now - picture.stamp_ns * 1e-9 for now, picture in rig.pictures[5:]]
    assert np.median(late) < 0.25
    assert rig.n_bytes < (rate - POSES) * 4.0 + 2000


def test_a_picture_that_lost_a_part_is_none_and_the_others_are_whole():
    rig = Rig(250e3, loss=0.05).run(4.0)

    assert rig.receiver.counts["pictures broken"] > 0
    assert len(rig.pictures) > 10
    for _, picture in rig.pictures:
        unpack(picture)


def test_unreadable_images_are_left_out_and_counted():
    rig = Rig(250e3, "jpeg")
    rig.encode = lambda: b"no jpeg"
    rig.run(0.5)

    assert rig.sender.counts["unreadable"] > 0
    assert rig.pictures == []
