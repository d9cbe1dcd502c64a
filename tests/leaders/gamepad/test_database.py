"""A pad that SDL knows by a database alone: an Xbox 360 pad, as the kernel has it."""

import json
import os
import subprocess
import sys

import pytest
from shared_data import find_shared

from paprle.ipc.process import WORKSPACE
from paprle.leaders.gamepad.config import GamepadConfig, PadSettings
from paprle.leaders.gamepad.leader import Gamepad
from paprle.testing import ManualClock

KEYS = {
    0x130: "a",  # BTN_SOUTH
    0x131: "b",  # BTN_EAST
    0x133: "x",  # what xpad calls BTN_X
    0x134: "y",  # BTN_Y
    0x136: "leftshoulder",
    0x137: "rightshoulder",
    0x13A: "back",  # BTN_SELECT
    0x13B: "start",
    0x13C: "guide",  # BTN_MODE
    0x13D: "leftstick",
    0x13E: "rightstick",
}
"""What xpad's events are in SDL's layout. spec: Linux's input/gamepad.rst"""
STICKS = {0: "leftx", 1: "lefty", 3: "rightx", 4: "righty"}
TRIGGERS = {2: "lefttrigger", 5: "righttrigger"}
HATS = {1: "dpup", 2: "dpright", 4: "dpdown", 8: "dpleft"}


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    files = [
        find_shared(f"gamepad/{name}")
        for name in ("gamecontrollerdb.txt", "xbox360.desc")
    ]
    ours = tmp_path_factory.mktemp("sdl") / "db.txt"
    done = subprocess.run(
        [
            sys.executable,
            "tests/support/hands/xbox_pad.py",
            *map(str, files),
            str(ours),
        ],
        check=False,
        cwd=WORKSPACE,
        env=os.environ | {"PYTHONPATH": str(WORKSPACE)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.process
def test_each_part_of_an_xbox_pad_lands_where_sdls_layout_has_it(said):
    expected = {"nothing": {}}
    expected |= {f"key {code:#x}": {name: 1.0} for code, name in KEYS.items()}
    expected |= {f"hat {hat}": {name: 1.0} for hat, name in HATS.items()}
    expected |= {f"axis {code:#x} +": {name: 1.0} for code, name in TRIGGERS.items()}
    for code, name in STICKS.items():
        expected[f"axis {code:#x} +"] = {name: 1.0}
        expected[f"axis {code:#x} -"] = {name: -1.0}

    assert said["rack"] == expected


@pytest.mark.process
def test_the_leader_follows_an_xbox_pad(said):
    """LB is held and the left stick pushed away: forward."""
    assert said["leader"] == pytest.approx([1, 0, 0, 0, 0, 0, 0])


def test_a_database_that_is_not_there_is_told():
    """SDL says nothing of it."""
    config = GamepadConfig(pads={"pad": PadSettings()}, database="/no/such/db.txt")

    [problem] = Gamepad(config, ManualClock()).preflight()

    assert problem == (
        "leader.database: expected a file at '/no/such/db.txt', got nothing"
    )
