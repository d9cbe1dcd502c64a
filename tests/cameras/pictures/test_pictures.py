"""Pictures of a folder, played as a camera would give them."""

import numpy as np
import pytest

from paprle.cameras.pictures.camera import Pictures
from paprle.cameras.pictures.config import PicturesConfig
from paprle.contracts.errors import DeviceError
from paprle.testing import CameraContract, ManualClock

cv2 = pytest.importorskip("cv2")

WIDTH, HEIGHT = 32, 24


def draw(folder, n=3, width=WIDTH):
    """Write n pictures, each of one grey, and the first pixel red."""
    for k in range(n):
        image = np.full((HEIGHT, width, 3), 10 * k, np.uint8)
        image[0, 0] = (0, 0, 255)  # BGR
        assert cv2.imwrite(str(folder / f"{k:03d}.png"), image)
    return folder


def make(folder, clock=None, **fields):
    return Pictures(
        PicturesConfig(folder=str(folder), **fields), clock or ManualClock()
    )


def test_plays_the_pictures_in_order_and_over_again(tmp_path):
    clock = ManualClock()
    camera = make(draw(tmp_path), clock, fps=10.0)
    camera.open()

    frames = []
    for _ in range(4):
        frames.append(camera.grab(0.0))
        clock.advance(0.1)

    assert [frame.data[-1] for frame in frames] == [0, 10, 20, 0]
    assert list(frames[0].data[:3]) == [255, 0, 0], "RGB"


def test_gives_no_picture_before_it_is_due(tmp_path):
    clock = ManualClock()
    camera = make(draw(tmp_path), clock, fps=10.0)
    camera.open()
    camera.grab(0.0)
    clock.advance(0.05)

    assert camera.grab(0.01) is None


def test_says_size_and_calibration_before_it_is_opened(tmp_path):
    info = make(draw(tmp_path), focal=(30.0, 31.0), link="hand").info

    assert (info.width, info.height, info.link) == (WIDTH, HEIGHT, "hand")
    assert info.K.tolist() == [[30.0, 0.0, 15.5], [0.0, 31.0, 11.5], [0.0, 0.0, 1.0]]
    assert np.isnan(make(tmp_path).info.K).all()


def test_a_folder_without_pictures_is_refused(tmp_path):
    with pytest.raises(DeviceError, match=r"expected \*\.png in .*, got none"):
        make(tmp_path).open()


def test_a_file_that_is_no_picture_is_refused_by_name(tmp_path):
    (draw(tmp_path) / "001.png").write_bytes(b"text")

    with pytest.raises(DeviceError, match="'001.png'"):
        make(tmp_path).open()


def test_pictures_of_several_sizes_are_refused(tmp_path):
    draw(tmp_path, 2)
    assert cv2.imwrite(str(tmp_path / "009.png"), np.zeros((5, 5, 3), np.uint8))

    with pytest.raises(DeviceError, match="of 32 × 24 pixels, got '009.png'"):
        make(tmp_path).open()


class TestPictures(CameraContract):
    @pytest.fixture(autouse=True)
    def take_folder(self, tmp_path):
        self.folder = draw(tmp_path)

    def make_camera(self, clock):
        return make(self.folder, clock)

    def unplug(self, camera):
        camera.close()
