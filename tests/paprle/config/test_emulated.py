"""Settings of running emulators, found by their notices."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys

import pytest

from paprle.config import resolve
from paprle.config.emulated import describe_emulated
from paprle.contracts.errors import ConfigError
from paprle.ipc.process import WORKSPACE
from paprle_emulators.notice import announce, find_notice_folder

TRIPLE = ("leader=puppeteer", "follower=piper", "env=ros2")
PORT = "leader.limbs.arm.port=/dev/pts/77"
REACHED = ("env.interface=loopback", "gate.accept_unattended=true")


@contextlib.contextmanager
def announce_in_another_process(part, name, overrides, follower):
    """Hold a notice under the number of another process."""
    code = f"""
import sys
from paprle_emulators.notice import announce
with announce({part!r}, {name!r}, {list(overrides)!r}, {follower!r}):
    print("ready", flush=True)
    sys.stdin.read()
"""
    command = [sys.executable, "-c", code]
    with subprocess.Popen(
        command, cwd=WORKSPACE, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        yield
        process.stdin.close()


@pytest.fixture(autouse=True)
def runtime(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


def test_the_triple_as_typed_reaches_the_running_emulators():
    with (
        announce("leader", "puppeteer_piper", [PORT]),
        announce_in_another_process("env", "ros2", REACHED, "piper"),
    ):
        resolved = resolve(TRIPLE)

    assert resolved.leader.limbs["arm"].port == "/dev/pts/77"
    assert resolved.env.interface == "loopback"
    assert resolved.gate.accept_unattended
    told = "\n".join(describe_emulated(resolved.sources))
    for key in ("leader.limbs.arm.port", "env.interface", "gate.accept_unattended"):
        assert key in told
    assert str(os.getpid()) in told


def test_the_command_line_wins_over_an_emulator():
    with announce("env", "ros2", REACHED, "piper"):
        resolved = resolve((*TRIPLE, "gate.accept_unattended=false"))

    assert not resolved.gate.accept_unattended


@pytest.mark.parametrize(
    ("part", "name", "follower"),
    [
        ("env", "ros2", "ur5e"),
        ("env", "can", "piper"),
        ("env", "ur", "ur5e"),
        ("leader", "puppeteer_g1", ""),
    ],
)
def test_an_emulator_of_another_device_changes_nothing(part, name, follower):
    with announce(part, name, ["gate.accept_unattended=true"], follower):
        resolved = resolve(TRIPLE)

    assert not resolved.gate.accept_unattended
    assert describe_emulated(resolved.sources) == []


def test_a_killed_emulator_accepts_no_robot():
    folder = find_notice_folder()
    folder.mkdir()
    notice = {"part": "env", "name": "ros2", "follower": "piper"}
    (folder / "4242.json").write_text(json.dumps({**notice, "overrides": REACHED}))

    assert not resolve(TRIPLE).gate.accept_unattended


@pytest.mark.parametrize("text", ["", "[]", "{", '{"part": "env", "overrides": 3}'])
def test_a_damaged_notice_is_ignored(text):
    with announce("env", "ros2", REACHED, "piper"):
        (find_notice_folder() / f"{os.getpid()}.json").write_text(text)

        assert not resolve(TRIPLE).gate.accept_unattended


def test_two_emulators_of_one_device_are_refused():
    with (
        announce("env", "ros2", REACHED, "piper"),
        announce_in_another_process("env", "ros2", REACHED, "piper"),
        pytest.raises(ConfigError, match=r"env: expected one emulator of 'ros2'"),
    ):
        resolve(TRIPLE)


def test_a_typed_port_chooses_between_two_emulators(tmp_path):
    ports = [f"leader.limbs.arm.port={tmp_path / name}" for name in ("left", "right")]
    (tmp_path / "link").symlink_to(tmp_path / "right")
    with (
        announce("leader", "puppeteer_piper", [ports[0]]),
        announce_in_another_process("leader", "puppeteer_piper", [ports[1]], ""),
    ):
        right = resolve((*TRIPLE, ports[1]))
        linked = resolve((*TRIPLE, f"leader.limbs.arm.port={tmp_path / 'link'}"))

    assert right.leader.limbs["arm"].port == str(tmp_path / "right")
    assert linked.leader.limbs["arm"].port == str(tmp_path / "link")


def test_an_emulator_accepts_no_robot_at_another_place():
    with announce("env", "ros2", REACHED, "piper"):
        resolved = resolve((*TRIPLE, "env.interface=eth0"))

    assert not resolved.gate.accept_unattended
