"""LeRobot in environments of its own, one for each release, made once."""

import os
import subprocess
from pathlib import Path

import pytest
from pythons import find_pythons

ROOT = Path(__file__).resolve().parents[3]
RELEASES = ("0.4", "0.6")
_NEEDED = {
    "0.3": "lerobot[feetech]==0.3.3",
    "0.4": "lerobot[feetech]==0.4.4",
    "0.6": "lerobot[core-scripts,feetech,training]>=0.6,<0.7",
}
_OLDER = ("3.12", "3.11", "3.10")
_PYTHONS = {"0.3": _OLDER, "0.4": _OLDER, "0.6": ("3.12", "3.13", "3.14")}


def find_newest_lerobot():
    """Return the Python of the newest LeRobot; skip where there is none."""
    has_newest = any(version in find_pythons() for version in _PYTHONS["0.6"])
    return find_lerobot("0.6" if has_newest else "0.4")


def find_lerobot(release):
    """Return the Python of an environment with a release; skip where there is none."""
    home, needed = ROOT / f".venv-lerobot-{release}", _NEEDED[release]
    python = home / "bin/python"
    if not python.exists():
        pythons = find_pythons()
        fit = [pythons[one] for one in _PYTHONS[release] if one in pythons]
        if not fit:
            pytest.skip(f"{needed} needs a Python of {', '.join(_PYTHONS[release])}")
        subprocess.run([fit[0], "-m", "venv", str(home)], check=True)
    more = "" if release == "0.3" else ", accelerate, scservo_sdk"
    if run(python, "-c", f"import lerobot{more}").returncode:
        done = run(python, "-m", "pip", "install", "--quiet", needed)
        if done.returncode:
            pytest.skip(f"{needed} cannot be installed: {done.stderr[-500:]}")
    return python


def add_guests(python):
    """Install the two packages by which LeRobot finds PAPRLE."""
    for name in ("lerobot_robot_paprle", "lerobot_teleoperator_paprle"):
        folder = str(ROOT / "packages" / name)
        done = run(python, "-m", "pip", "install", "--quiet", "--no-deps", folder)
        assert done.returncode == 0, done.stderr


def run(python, *words, **more):
    offline = {"HF_HUB_OFFLINE": "1", "WANDB_MODE": "disabled"} | more
    env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return subprocess.run(
        [str(python), *words],
        env=env | offline, capture_output=True, text=True, check=False,
    )  # fmt: skip
