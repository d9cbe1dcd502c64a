"""What the robot's cameras see, from the robot's host into a browser."""

import time

import numpy as np
import pytest
from browser import find_browser, open_browser
from sights import COLOUR, HEIGHT, WIDTH, find_udp_port, make_sight, write_key

from paprle.contracts.errors import DeviceError
from paprle.contracts.plugins import Frame
from paprle.testing import ObserverContract

pytest.importorskip("cv2")

RED, BLUE = (200, 30, 30), (30, 30, 200)


class TestSight(ObserverContract):
    @pytest.fixture(autouse=True)
    def take_key(self, tmp_path):
        self.key = write_key(tmp_path)

    def make_observer(self, clock):
        return make_sight(self.key, clock)


def test_a_missing_key_and_a_taken_port_are_told(tmp_path):
    with pytest.raises(DeviceError, match="observers.sight.key"):
        make_sight(str(tmp_path / "none"), time.monotonic_ns).open()

    first = make_sight(write_key(tmp_path), time.monotonic_ns)
    first.open()
    second = make_sight(write_key(tmp_path), time.monotonic_ns)
    object.__setattr__(second.config, "udp_port", first.config.udp_port)
    with pytest.raises(DeviceError, match="to be free"):
        second.open()
    first.close()


@pytest.fixture
def sight(tmp_path):
    pytest.importorskip("aiortc")
    made = make_sight(
        write_key(tmp_path), time.monotonic_ns, video=True, port=find_udp_port()
    )
    made.open()
    yield made
    made.close()


def show_colours(sight, colour):
    rgb = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    rgb[:, : WIDTH // 2], rgb[:, WIDTH // 2 :] = colour
    frame = Frame(time.monotonic_ns(), rgb.tobytes())
    sight.show({"front": frame}, {"front": COLOUR})


def read_pixels(page):
    """Return the colours of the left and of the right half of the video."""
    return page.page.evaluate(
        """() => {
          const video = document.querySelector("video");
          if (!video || !video.videoWidth) return null;
          const canvas = document.createElement("canvas");
          canvas.width = video.videoWidth; canvas.height = video.videoHeight;
          const context = canvas.getContext("2d");
          context.drawImage(video, 0, 0);
          const at = (x) => Array.from(context.getImageData(
            x * canvas.width, canvas.height / 2, 1, 1).data.slice(0, 3));
          return [at(0.25), at(0.75)];
        }"""
    )


def wait_for_colours(page, sight, colours, timeout=20.0):
    """Show a picture again and again until the browser shows it, too."""
    end, seen = time.monotonic() + timeout, None
    while time.monotonic() < end:
        show_colours(sight, colours)
        time.sleep(0.05)
        seen = read_pixels(page)
        if seen and np.abs(np.subtract(seen, colours)).max() < 40:
            return
    raise AssertionError(f"expected {colours}, got {seen}")


@pytest.mark.process
@pytest.mark.long
def test_a_browser_shows_what_the_camera_sees_now_and_nothing_without_the_token(sight):
    find_browser()
    show_colours(sight, (RED, BLUE))

    with open_browser() as page:
        for token in ("", "#another"):
            page.open(sight._video.server.address + token)
            page.page.get_by_text("no video").wait_for()
            assert read_pixels(page) is None
            page.page.goto("about:blank")

        page.open(sight._video.address)
        wait_for_colours(page, sight, (RED, BLUE))
        wait_for_colours(page, sight, (BLUE, RED))
        assert page.page.text_content("#state") == "live"
        assert not page.errors
