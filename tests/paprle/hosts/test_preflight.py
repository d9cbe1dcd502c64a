"""A dry run finds what a start would refuse; both refuse it before anything moves."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from played import POSE, T_GOOD, make_pose_rows, write_csv

from paprle import plugins
from paprle.cli import main

DRIVEN = ("leader=autopilot", "follower=piper")
REFUSED = {
    "unattended": (
        (*DRIVEN, "env=can", "env.interface=emucan", "env.channel=/dev/null"),
        "expected gate.accept_unattended=true, got false",
        "piper_sdk",
    ),
    "channel": (
        (*DRIVEN, "env=can", "env.channel=can97", "gate.accept_unattended=true"),
        "socketcan 'can97': expected a CAN interface of this name, got none",
        "piper_sdk",
    ),
    "serial adapter": (
        (*DRIVEN, "env=can", "env.interface=slcan", "env.channel=/dev/ttyNO"),
        "slcan '/dev/ttyNO': expected a port at this path, got none",
        "piper_sdk",
    ),
    "screen": (
        (*DRIVEN, "env=mujoco", "env.viewer=true"),
        "env.viewer: expected a screen",
        "mujoco",
    ),
    "terminal": (
        ("leader=keyboard", "follower=piper", "env=kinematic"),
        "leader 'keyboard': expected a terminal to take keys from",
        "numpy",
    ),
    "ports": (
        (
            *("leader=puppeteer", "follower=piper", "env=kinematic"),
            "leader.limbs.arm.port=/dev/ttyNO",
        ),
        "port '/dev/ttyNO': expected a serial device, got none",
        "dynamixel_sdk",
    ),
}


def list_children() -> str:
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text()


@pytest.mark.parametrize("verb", [["run"], ["run", "--dry-run"]], ids=["run", "dry"])
@pytest.mark.parametrize("what", REFUSED)
def test_a_dry_run_and_a_start_refuse_the_same(
    capsys, monkeypatch, tmp_path, what, verb
):
    args, message, package = REFUSED[what]
    pytest.importorskip(package)
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    before = list_children()

    code = main([*verb, *args, f"record.dir={tmp_path / 'OUT'}"])

    shown = capsys.readouterr()
    assert code == 2, shown
    assert message in shown.err
    assert ("drives" in shown.out) is (len(verb) > 1), "a dry run shows the pairing"
    assert list_children() == before
    assert not (tmp_path / "OUT").exists()


def test_everything_is_refused_at_once(capsys):
    pytest.importorskip("piper_sdk")
    args = ("leader=keyboard", "follower=piper", "env=can", "env.channel=can97")

    assert main(["run", *args, "--dry-run"]) == 2

    said = capsys.readouterr().err
    for text in ("a terminal", "can97", "gate.accept_unattended"):
        assert text in said


@pytest.fixture
def motion(tmp_path):
    rows = make_pose_rows(T_GOOD)
    rows[50, 1] = np.nan
    return write_csv(tmp_path / "hand.csv", POSE, rows)


FILE = ("leader=offline", "follower=piper", "env=kinematic", "session.status=false")


def test_a_dry_run_tells_what_is_wrong_with_a_file(capsys, motion):
    assert main(["run", *FILE, f"leader.path={motion}", "--dry-run"]) == 0

    assert "hand.csv: 100 rows, 1 rows with NaN" in capsys.readouterr().out


@pytest.mark.long
def test_a_run_in_virtual_time_tells_it_too(capsys, motion):
    words = (*FILE, f"leader.path={motion}", "session.clock=virtual")

    assert main(["run", *words]) == 0

    assert "hand.csv: 100 rows, 1 rows with NaN" in capsys.readouterr().out


@pytest.mark.parametrize("verb", [["run"], ["run", "--dry-run"]], ids=["run", "dry"])
def test_a_file_that_is_mostly_lost_is_refused_by_both(capsys, tmp_path, verb):
    rows = make_pose_rows(T_GOOD)
    rows[::3, 1] = np.nan
    path = write_csv(tmp_path / "hand.csv", POSE, rows)

    assert main([*verb, *FILE, f"leader.path={path}"]) == 2

    assert "leader.allow_loss=true" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("args", "unchecked"),
    [
        (
            (*DRIVEN, "env=ros2"),
            "not checked: follower: whether the robot is in the graph",
        ),
        (
            (*DRIVEN, "env=can", "env.interface=emucan", "env.channel=/dev/null"),
            "not checked: follower: whether the arms answer",
        ),
    ],
)
def test_a_dry_run_says_what_it_could_not_check(capsys, args, unchecked):
    words = (*args, "gate.accept_unattended=true", "--dry-run")

    assert main(["run", *words]) == 0

    assert unchecked in capsys.readouterr().out


def test_a_dry_run_of_a_simulation_leaves_nothing_unchecked(capsys):
    assert main(["run", *DRIVEN, "env=kinematic", "--dry-run"]) == 0

    assert "not checked" not in capsys.readouterr().out


def test_a_real_robot_in_virtual_time_is_refused_as_every_refusal(capsys):
    pytest.importorskip("piper_sdk")
    words = (*DRIVEN, "env=can", "env.channel=can97", "session.clock=virtual")

    assert main(["run", *words]) == 2

    assert "can97" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("leader", "package"), [("gamepad", "pygame"), ("spacemouse", "hid")]
)
def test_a_dry_run_names_a_package_that_opening_needs(
    capsys, monkeypatch, leader, package
):
    monkeypatch.setattr(
        plugins, "find_spec", lambda name: None if name == package else find_spec(name)
    )
    words = (f"leader={leader}", "follower=piper", "env=kinematic", "--dry-run")

    assert main(["run", *words]) == 2

    message = (
        f"leader '{leader}': expected the package {package}, got none; pip install"
    )
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("verb", [["run"], ["run", "--dry-run"]], ids=["run", "dry"])
def test_a_leader_at_the_page_is_refused_without_a_page(capsys, verb):
    words = ("leader=web", "follower=piper", "env=kinematic", "session.view=false")

    assert main([*verb, *words]) == 2

    assert "leave that out" in capsys.readouterr().err


@pytest.mark.parametrize(("limit", "is_told"), [("", True), ("=2", False)])
def test_a_motion_that_is_repeated_without_end_is_announced(capsys, limit, is_told):
    words = ["leader=autopilot", "follower=piper", "env=kinematic", "--dry-run"]
    words += ["session.duration=3", *[f"session.episodes{limit}"] * bool(limit)]

    assert main(["run", *words]) == 0

    said = capsys.readouterr().out
    assert ("the motion begins anew in episodes of 3 [s]" in said) is is_told
