"""``paprle_emulators.start``: a device in a process, its orders, its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import paprle_emulators
from paprle_emulators import EmulatorError, start

pytestmark = pytest.mark.process


def test_a_device_has_ports_takes_orders_and_ends(tmp_path):
    link = tmp_path / "imu"
    with start("imu", port=link, packet="inertial") as imu:
        assert imu.ports == {"imu": str(link)}
        assert imu.port == str(link)
        assert "leader.imu.packet=inertial" in imu.overrides
        assert link.is_symlink()
        assert imu.order({"cmd": "unplug"})["ok"]
        assert not link.exists()
        imu.order({"cmd": "replug"})
        assert link.exists()

    assert imu.process.returncode == 0
    assert not link.is_symlink()


def test_a_refused_order_is_an_error_and_the_device_goes_on(tmp_path):
    with start("imu", port=tmp_path / "imu") as imu:
        with pytest.raises(EmulatorError, match="expected one of flip"):
            imu.order({"fault": "rain"})
        with pytest.raises(EmulatorError, match="expected 'cmd' or 'fault' of"):
            imu.order({"cmd": "dance"})

        assert imu.order({"fault": "flip", "share": 0.5})["ok"]


def test_faults_come_from_the_start(tmp_path):
    faults = ["silent", {"fault": "flip", "share": 0.1}]
    with start("imu", port=tmp_path / "imu", faults=faults) as imu:
        assert imu.ports

    with pytest.raises(EmulatorError, match="got 'rain'"):
        start("imu", port=tmp_path / "imu", faults=["rain"])


def test_the_error_has_the_reason_of_a_failed_start():
    with pytest.raises(EmulatorError, match=r"lag.*\n*.*could not convert|float: 'x'"):
        start("piper", lag="x")


def test_a_device_that_dies_is_noticed(tmp_path):
    imu = start("imu", port=tmp_path / "imu")
    os.kill(imu.process.pid, signal.SIGKILL)
    imu.process.wait()

    with pytest.raises(EmulatorError, match="it has ended"):
        imu.order({"cmd": "replug"})
    with pytest.raises(EmulatorError, match="it died"), imu:
        pass


def test_errors_of_a_device_are_shown_when_a_test_fails(capfd, tmp_path):
    def fail():
        with start("imu", port=tmp_path / "imu") as imu:
            imu._errors.write(b"the sensor complained")
            raise AssertionError

    with pytest.raises(AssertionError):
        fail()

    assert "the sensor complained" in capfd.readouterr().err


def test_it_is_found_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)

    with start("imu", port=tmp_path / "imu") as imu:
        assert imu.port


def test_its_notice_is_not_for_sessions_beside_it(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))

    with start("piper") as arm:
        assert arm.overrides
        assert list(tmp_path.iterdir()) == []


def test_the_python_can_backend_reads_a_started_piper():
    can = pytest.importorskip("can")

    with start("piper", ideal=True) as arm:
        with can.Bus(interface="emucan", channel=arm.port) as bus:
            message = bus.recv(5.0)

        assert message is not None
        assert arm.order({"fault": "silence", "time": 0.1})["done"] == "silence"


PLUGIN_TEST = """
def test_a_port_is_there(imu_port):
    assert imu_port.port


def test_any_device_is_started(emulator, tmp_path):
    assert emulator("imu", port=tmp_path / "other").ports


def test_a_missing_device_skips(emulator):
    emulator("toaster")
"""


def test_the_plugin_gives_fixtures_to_other_projects(tmp_path):
    (tmp_path / "test_it.py").write_text(PLUGIN_TEST)
    plugin = "paprle_emulators.pytest_plugin"
    root = str(Path(paprle_emulators.__file__).parents[1])
    begin = time.monotonic()

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rs", "-p", plugin, "-p",
         "no:randomly", "-p", "no:cacheprovider", str(tmp_path)],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": root}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip

    assert "2 passed, 1 skipped" in done.stdout, done.stdout + done.stderr
    assert "got 'toaster'" in done.stdout
    assert time.monotonic() - begin < 60
