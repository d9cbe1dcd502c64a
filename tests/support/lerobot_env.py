"""LeRobot in an environment of its own, made beside the project's once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_HOME = ROOT / ".venv-lerobot"
_NEEDED = "lerobot[dataset,training]>=0.4.4"
_OLDER = "lerobot>=0.4.4"  # before Python 3.12; there the extras are no extras


def find_lerobot():
    """Return the Python of an environment that has LeRobot; skip where none is."""
    python = _HOME / "bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(_HOME)], check=True)
    if run(python, "-c", "import lerobot, accelerate").returncode:
        needed = _NEEDED if sys.version_info >= (3, 12) else _OLDER
        done = run(python, "-m", "pip", "install", "--quiet", needed)
        if done.returncode:
            pytest.skip(f"{needed} cannot be installed: {done.stderr[-500:]}")
    return python


def run(python, *words, **more):
    offline = {"HF_HUB_OFFLINE": "1", "WANDB_MODE": "disabled"} | more
    env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return subprocess.run(
        [str(python), *words],
        env=env | offline, capture_output=True, text=True, check=False,
    )  # fmt: skip
