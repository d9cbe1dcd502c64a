"""Pads through the SDL that pygame ships, on SDL's own virtual joysticks."""

import json
import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from paprle.hardware.gamepad.controls import AXES, BUTTONS, normalise
from paprle.hardware.gamepad.errors import PadError
from paprle.hardware.gamepad.rack import Rack
from paprle.hardware.gamepad.virtual import VirtualPad


@pytest.fixture
def pad():
    pad = VirtualPad("Test pad")
    yield pad
    pad.unplug()


@pytest.fixture
def rack(pad):  # noqa: ARG001 - it is there
    rack = Rack(["test PAD"])
    rack.open()
    yield rack
    rack.close()


def read(rack, now_ns=0):
    return rack.read(now_ns)[0]


def test_a_pad_at_rest_says_zero_everywhere(rack):
    assert set(read(rack).values()) == {0.0}
    assert set(read(rack)) == {*AXES, *BUTTONS}


MAPPED = [name for name in (*AXES, *BUTTONS) if name != "touchpad"]
"""What SDL maps of a virtual pad: all but the button below a touchpad."""


@pytest.mark.parametrize("control", MAPPED)
def test_each_control_moves_itself_and_no_other(rack, pad, control):
    pad.move(control, 1.0)

    values = read(rack)

    assert values.pop(control) == pytest.approx(1.0, abs=1e-4)
    assert set(values.values()) == {0.0}


@pytest.mark.parametrize(
    ("raw", "value"), [(0, 0.0), (32767, 1.0), (-32768, -1.0), (-16384, -0.5)]
)
def test_axes_are_normalised(raw, value):
    assert normalise(raw) == pytest.approx(value, abs=1e-4)


def test_a_pad_rumbles_as_it_is_told_and_stops_when_the_time_is_up(rack, pad):
    rack.rumble(0, 0.25, 0.75, 0.02)
    assert pad.rumbled[-1] == pytest.approx((0.25, 0.75), abs=1e-4)

    time.sleep(0.03)
    read(rack)

    assert pad.rumbled[-1] == (0.0, 0.0)


def test_closing_silences_the_motors(rack, pad):
    rack.rumble(0, 1.0, 1.0, 10.0)

    rack.close()

    assert pad.rumbled[-1] == (0.0, 0.0)


def test_a_pad_without_motors_is_known_and_not_told():
    pad = VirtualPad("Dumb pad", has_motors=False)
    rack = Rack(["dumb"])
    rack.open()

    rack.rumble(0, 1.0, 1.0, 0.1)

    assert rack.can_rumble == [False]
    rack.close()
    pad.unplug()


def test_an_unplugged_pad_is_missed_at_once_and_found_again(rack, pad):
    pad.move("leftx", 1.0)
    pad.unplug()
    assert read(rack, 0) is None

    pad.plug()
    pad.move("leftx", 0.5)
    assert read(rack, 100_000_000) is None, "it is looked for five times a second"
    values = read(rack, 200_000_000)

    assert values["leftx"] == pytest.approx(0.5, abs=1e-4)


def test_two_pads_of_one_model_are_two_pads(pad):
    other = VirtualPad("Test pad")
    rack = Rack(["", "test"])
    rack.open()
    pad.move("a", 1.0)

    down = [values["a"] for values in rack.read(0)]

    assert sorted(down) == [0.0, 1.0]
    rack.close()
    other.unplug()


@pytest.mark.usefixtures("pad")
def test_every_pad_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(
        PadError, match=r"'blue', 'red', got 'Test pad' \([0-9a-f]{32}\)"
    ):
        Rack(["blue", "red"]).open()


def test_a_mapping_of_ones_own_is_read(tmp_path):
    """In a process of its own: SDL reads the file when it starts."""
    code = (
        "from paprle.hardware.gamepad.sdl import start_sdl\n"
        "from paprle.hardware.gamepad.rack import Rack\n"
        "from paprle.hardware.gamepad.virtual import VirtualPad\n"
        f"start_sdl({str(tmp_path / 'db.txt')!r})\n"
        "pad = VirtualPad('Odd pad', (0x1234, 0x5678))\n"
        "rack = Rack(['odd']); rack.open()\n"
        "pad.move('b', 1.0)\n"
        "assert rack.read(0)[0]['a'] == 1.0\n"
    )
    guid = subprocess.run(
        [
            sys.executable,
            "-c",
            "from paprle.hardware.gamepad.virtual import VirtualPad\n"
            "from paprle.hardware.gamepad.sdl import list_pads, start_sdl\n"
            "VirtualPad('Odd pad', (0x1234, 0x5678))\n"
            "print([p.guid for p in list_pads(start_sdl())][0])",
        ],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    (tmp_path / "db.txt").write_text(f"{guid},Swapped pad,a:b1,b:b0,platform:Linux,\n")

    subprocess.run([sys.executable, "-c", code], check=True)


def test_sdl_leaves_sigterm_to_the_process():
    """SDL would take it for a wish to close a window, and nothing would end."""
    code = (
        "import time\n"
        "from paprle.hardware.gamepad.virtual import VirtualPad\n"
        "pad = VirtualPad()\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "ready\n"
        os.kill(process.pid, signal.SIGTERM)

        assert process.wait(5) == -signal.SIGTERM


def test_reading_stays_quick_without_an_event_reader(rack, pad):
    """What SDL would queue for a window is no burden after minutes of motion."""

    def measure():
        begin = time.process_time()
        for k in range(200):
            pad.move("leftx", (k % 100) / 100)
            read(rack)
        return time.process_time() - begin

    measure()
    for k in range(70_000):
        pad.move("lefty", (k % 2000) / 2000)
        if k % 10 == 0:
            rack.read(0)

    assert measure() < 0.05


# --- a pad that another process moves ------------------------------------------------


@pytest.fixture
def remote(tmp_path):
    path = str(tmp_path / "pad.sock")
    rack = Rack([f"virtual:{path}"])
    rack.open()
    sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    sender.bind(str(tmp_path / "sender.sock"))
    sender.settimeout(1)

    def say(data):
        sender.sendto(
            data if isinstance(data, bytes) else json.dumps(data).encode(), path
        )

    yield rack, say, sender
    sender.close()
    rack.close()


def test_a_remote_pad_moves_and_tells_what_it_feels(remote):
    rack, say, sender = remote
    say({"leftx": -1.0, "start": 1})

    values = read(rack)
    rack.rumble(0, 0.5, 0.0, 0.1)
    read(rack)

    assert (values["leftx"], values["start"]) == (pytest.approx(-1.0, abs=1e-4), 1.0)
    felt = json.loads(sender.recv(4096))
    while felt["strong"] < 0.1:  # what opening asked of the motors
        felt = json.loads(sender.recv(4096))
    assert felt["strong"] == pytest.approx(0.5, abs=1e-4)


def test_a_remote_pad_is_unplugged_and_plugged_in(remote):
    rack, say, _ = remote
    say({"plug": 0})
    assert read(rack, 0) is None

    say({"plug": 1})
    say({"a": 1})
    read(rack, 10**9)

    assert read(rack, 2 * 10**9)["a"] == 1.0


def test_a_frozen_pad_goes_on_saying_what_it_said(remote):
    rack, say, _ = remote
    say({"leftx": 1.0})
    say({"freeze": 1})
    say({"leftx": 0.0})

    assert read(rack)["leftx"] == 1.0


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"{", b"[1]", b"null", b'{"leftx": "a"}', b'{"leftx": NaN}'),
        *(b'{"nothing": 1}', b"\xff\xfe", b"[" * 4000, b'{"a": {"b": 1}}'),
    ],
    ids=lambda data: repr(data[:12]),
)
def test_a_remote_pad_moves_by_nothing_else(remote, data):
    rack, say, _ = remote
    say(data)

    assert set(read(rack).values()) == {0.0}
