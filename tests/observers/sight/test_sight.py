"""What the robot's cameras see, from the robot's host into a browser."""

import socket
import time
from pathlib import Path

import numpy as np
import pytest
from browser import find_browser, open_browser
from sights import (
    COLOUR,
    HEIGHT,
    WIDTH,
    find_udp_port,
    make_sight,
    show_depth,
    write_key,
)

from paprle.cameras.sight.camera import SightCamera
from paprle.cameras.sight.config import SightCameraConfig
from paprle.contracts.errors import DeviceError
from paprle.contracts.plugins import Frame
from paprle.hardware.media.caller import Caller
from paprle.hardware.media.challenge import Challenger
from paprle.hardware.media.receiver import Receiver
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


@pytest.mark.nightly
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

        page.page.get_by_text("stands still").wait_for()  # nothing is shown any more


KEY = b"0123456789abcdef0123456789abcdef"


class Onlooker:
    """Somebody at the cable, at another port, who has no key."""

    def __init__(self, sight):
        self.port = sight.config.udp_port
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.setblocking(False)
        self.got = []

    def play(self, asks):
        """Send what was heard of others, and take what comes for it."""
        for data in asks:
            self.socket.sendto(data, ("127.0.0.1", self.port))
        try:
            while True:
                self.got.append(self.socket.recv(65536))
        except BlockingIOError:
            return


class Tapped(Receiver):
    """An operator whose asks are heard by others."""

    def __init__(self):
        super().__init__(KEY, 0, (HEIGHT, WIDTH))
        self.said = []

    def ask(self, now):
        data = super().ask(now)
        self.said += [data] if data is not None else []
        return data


def watch(sight, caller, seconds, meanwhile=lambda: None):
    """Show images for a while; return how many pictures arrived."""
    n, due, end = 0, 0.0, time.monotonic() + seconds
    while time.monotonic() < end:
        if time.monotonic() > due:
            due = time.monotonic() + 0.05
            show_depth(sight, time.monotonic_ns, n)
            meanwhile()
        n += caller.step() is not None
    return n


@pytest.mark.timed
def test_asks_that_are_played_again_take_no_pictures_and_disturb_nobody(tmp_path):
    sight = make_sight(write_key(tmp_path), time.monotonic_ns)
    sight.open()
    receiver, thief = Tapped(), Onlooker(sight)
    caller = Caller("127.0.0.1", sight.config.udp_port, receiver, time.monotonic_ns)
    alone = watch(sight, caller, 1.0)

    beside = watch(sight, caller, 1.0, lambda: thief.play(receiver.said[-20:]))

    thief.socket.close()
    caller.close()
    sight.close()
    assert alone > 8
    assert beside > 0.8 * alone
    longest = max(map(len, thief.got))
    assert longest < min(map(len, receiver.said)), "it makes nothing larger"
    assert "challenged" in sight.closing_notes[-1]


def test_asks_of_an_earlier_run_are_played_again_for_nothing(tmp_path):
    sight = make_sight(write_key(tmp_path), time.monotonic_ns)
    sight.open()
    receiver = Tapped()
    caller = Caller("127.0.0.1", sight.config.udp_port, receiver, time.monotonic_ns)
    assert watch(sight, caller, 0.5)
    sight.close()
    sight.open()
    # from the very address that asked before
    for data in receiver.said:
        caller._socket.send(data)
    for k in range(6):
        show_depth(sight, time.monotonic_ns, k)
        time.sleep(0.05)
    caller.close()
    sight.close()

    assert sight._peers == {}


ELSEWHERE, OTHER = ("10.0.0.1", 5000), ("10.0.0.1", 5001)


def ask_anew(asker, challenger, address, now):
    """Let an asker ask, and hear what comes; return the ask and what it was for."""
    data = asker.ask(now)
    ask, answer = challenger.hear(data, address, now)
    if answer is not None:
        asker.receive(answer, now)
    return data, ask


def test_an_ask_counts_once_from_one_address_for_some_seconds():
    challenger, asker = Challenger(KEY), Receiver(KEY, 0, (HEIGHT, WIDTH))
    assert ask_anew(asker, challenger, ELSEWHERE, 100.0)[1] is None
    data, ask = ask_anew(asker, challenger, ELSEWHERE, 100.1)
    assert ask is not None

    assert challenger.hear(data, ELSEWHERE, 100.2) == (None, None)
    assert challenger.hear(data, OTHER, 100.2)[0] is None
    for k in range(20):  # it asks on, over several periods
        assert ask_anew(asker, challenger, ELSEWHERE, 101.0 + 2.0 * k)[1] is not None
    assert challenger.hear(data, ELSEWHERE, 140.0)[0] is None
    assert Challenger(KEY).hear(data, ELSEWHERE, 100.2)[0] is None


@pytest.mark.parametrize("damage", [b"", b"x", bytes(100), bytes(2000)])
def test_an_invalid_request_is_refused_without_an_answer(damage):
    challenger = Challenger(KEY)

    assert challenger.hear(damage, ELSEWHERE, 1.0) == (None, None)
    assert challenger.counts["refused"] == 1


@pytest.mark.parametrize("mode", [0o666, 0o644, 0o640, 0o604])
def test_a_key_that_others_may_read_is_refused(tmp_path, mode):
    key = write_key(tmp_path)
    Path(key).chmod(mode)

    with pytest.raises(DeviceError, match=f"only their owner may.*mode {mode:o}"):
        make_sight(key, time.monotonic_ns).open()
    config = SightCameraConfig(host="127.0.0.1", key=key)
    with pytest.raises(DeviceError, match="only their owner may"):
        SightCamera(config, time.monotonic_ns).open()


@pytest.mark.parametrize("listen", ["usb", "127.0.0.1"])
def test_it_listens_at_the_address_that_it_is_given_alone(tmp_path, listen):
    sight = make_sight(write_key(tmp_path), time.monotonic_ns, listen=listen)
    sight.open()

    bound = sight._socket.getsockname()
    notes = " ".join(sight.notes)
    sight.close()

    assert bound == ("127.0.0.1", sight.config.udp_port)
    assert f"127.0.0.1, UDP port {sight.config.udp_port}" in notes


def test_an_unusable_listen_address_is_reported(tmp_path):
    sight = make_sight(write_key(tmp_path), time.monotonic_ns, listen="0.0.0.0")

    with pytest.raises(DeviceError, match="observers.sight.listen: expected one IPv4"):
        sight.open()
