"""``paprle-emulators`` is useful alone: no paprle, no Pinocchio, no MuJoCo."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from wheels import build, copy_checkout

from paprle.ipc.process import WORKSPACE

pytestmark = pytest.mark.process
LARGEST = 2_000_000  # chosen: of the unpacked package, without numpy [bytes]
ALONE = """
import sys
for name in ("paprle", "paprle_lab", "pinocchio", "mujoco", "hardware"):
    sys.modules[name] = None  # an import of it fails, as where it is not installed
from paprle_emulators.__main__ import main
sys.exit(main())
"""
CLIENT = """
import can
from dynamixel_sdk import PacketHandler, PortHandler
from paprle_emulators import start

with start("dynamixel", motion="sines") as rig:
    port = PortHandler(rig.port)
    assert port.openPort() and port.setBaudRate(4_000_000)
    model, result, error = PacketHandler(2.0).ping(port, 1)
    assert (model, result, error) == (1220, 0, 0), (model, result, error)
    port.closePort()
with start("piper") as arm, can.Bus(interface="emucan", channel=arm.port) as bus:
    seen = {bus.recv(2.0).arbitration_id for _ in range(100)}
    assert {0x2A5, 0x2A6, 0x2A7} <= seen, seen
print("both answered")
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A wheel and a source distribution, from a clean copy of the checkout."""
    copy, out = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("dist")
    project = copy_checkout(copy) / "packages/paprle_emulators"
    return build(project, out), build(project, out, "sdist")


@pytest.fixture(scope="module")
def unpacked(built, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site-packages")
    with zipfile.ZipFile(built[0]) as archive:
        archive.extractall(folder)
    return folder


def run(unpacked, cwd, *command, **env):
    return subprocess.run(
        [sys.executable, *command], cwd=cwd, capture_output=True, text=True,
        timeout=110, check=False, stdin=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": str(unpacked), "HOME": str(cwd)} | env,
    )  # fmt: skip


def test_the_wheel_is_small_and_whole(unpacked):
    files = [path for path in unpacked.rglob("*") if path.is_file()]
    rigs = sorted(path.stem for path in unpacked.rglob("rigs/leader/*.yaml"))

    assert {path.name for path in unpacked.iterdir() if path.is_dir()} == {
        "paprle_emulators", next(unpacked.glob("*.dist-info")).name,
    }  # fmt: skip
    assert sum(path.stat().st_size for path in files) < LARGEST
    here = sorted(p.stem for p in WORKSPACE.glob("configs/leader/puppeteer_*.yaml"))
    assert rigs == here


def test_the_source_distribution_holds_files_and_no_links(built):
    with tarfile.open(built[1]) as archive:
        members = archive.getmembers()

    assert all(member.isfile() or member.isdir() for member in members)
    assert any(m.name.endswith("puppeteer_piper/robot.urdf") for m in members)


def test_it_asks_for_numpy_and_yaml_alone(unpacked):
    metadata = next(unpacked.glob("*.dist-info/METADATA")).read_text()
    needed = [
        line.removeprefix("Requires-Dist: ")
        for line in metadata.splitlines()
        if line.startswith("Requires-Dist: ") and "extra ==" not in line
    ]

    assert sorted(name.split(">")[0] for name in needed) == ["numpy", "pyyaml"]


@pytest.mark.parametrize("device", ["imu", "spacemouse"])
def test_a_device_runs_without_paprle(unpacked, tmp_path, device):
    command = [sys.executable, "-c", ALONE, device, f"port={tmp_path / 'port'}"]
    env = os.environ | {"PYTHONPATH": str(unpacked), "HOME": str(tmp_path)}
    with subprocess.Popen(
        command, cwd=tmp_path, env=env, text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as running:  # fmt: skip
        said = running.stdout.readline()
        running.terminate()
        _, problems = running.communicate(timeout=60)

    assert '"ready": true' in said, problems
    assert running.returncode == 0, problems


def test_the_robot_behind_ros_says_what_it_needs(unpacked, tmp_path):
    code = ALONE.replace("sys.modules[name] = None", "HIDDEN.add(name)").replace(
        "import sys\n",
        "import sys\nimport paprle_emulators.devices as d\nHIDDEN = set()\n"
        "real = d.find_spec\n"
        "d.find_spec = lambda name: None if name in HIDDEN else real(name)\n",
    )

    done = run(unpacked, tmp_path, "-c", code, "ros2-robot")

    assert done.returncode == 2
    assert "pip install 'paprle-emulators[ros2]'" in done.stderr


def make_environment(folder: Path, *packages: str) -> Path:
    """Return the Python of a new environment with these packages."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin/python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    return python


@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", ["wheel", "source"])
def test_others_drivers_reach_devices_in_an_environment_without_paprle(
    built, tmp_path, kind
):
    archive = built[0] if kind == "wheel" else built[1]
    wanted = f"paprle-emulators[dynamixel,piper] @ {archive.as_uri()}"
    python = make_environment(tmp_path / "env", wanted)
    (tmp_path / "empty").mkdir()
    clean = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}

    listed = subprocess.run(
        [python, "-m", "pip", "list", "--format=freeze"],
        capture_output=True, text=True, check=True, env=clean,
    ).stdout  # fmt: skip
    done = subprocess.run(
        [python, "-c", CLIENT],
        cwd=tmp_path / "empty", env=clean, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert "both answered" in done.stdout
    names = {line.split("==")[0] for line in listed.splitlines()}
    assert not names & {"paprle", "pin", "mujoco", "numba"}
    assert (tmp_path / "env/bin/paprle-emulate").exists()
