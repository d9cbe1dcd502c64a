"""Installation of both distributions by name, by pip and by uv, from wheels."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from wheels import build, copy_checkout

import paprle

pytestmark = [
    pytest.mark.process,
    pytest.mark.nightly,
    pytest.mark.timeout(1800),  # dependencies come from a registry
]
NAME = "paprle[emulators]"
TOLD = f"paprle {paprle.__version__}"


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """A folder with the wheels of both distributions."""
    copy = copy_checkout(tmp_path_factory.mktemp("copy"))
    out = tmp_path_factory.mktemp("dist")
    build(copy, out)
    build(copy / "packages/paprle_emulators", out)
    return out


@pytest.fixture
def empty(tmp_path):
    folder = tmp_path / "empty"
    folder.mkdir()
    return folder


@pytest.fixture
def uv():
    beside = Path(sys.executable).with_name("uv")
    found = str(beside) if beside.is_file() else shutil.which("uv")
    if not found:
        pytest.skip("no uv: pip install uv")
    return found


def run(folder, *command):
    """Run a command in a folder, without this environment; return what it prints."""
    clean = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH"}}
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False,
        env=clean | {"UV_TOOL_DIR": str(folder.parent / "tools")},
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout.strip()


def check_commands(folder, programs):
    """Run the installed commands."""
    assert run(folder, programs / "paprle", "--version") == TOLD
    assert "usage: paprle VERB" in run(
        folder, programs / "python", "-m", "paprle", "--help"
    )
    assert "piper" in run(folder, programs / "paprle-emulate", "--help")
    assert list(folder.iterdir()) == []


def test_pip_installs_by_name(index, empty, tmp_path):
    env = tmp_path / "env"
    run(empty, sys.executable, "-m", "venv", env)
    run(empty, env / "bin/python", "-m", "pip", "install", "--quiet",
        "--find-links", index, NAME)  # fmt: skip

    check_commands(empty, env / "bin")


def test_uv_installs_by_name(index, empty, tmp_path, uv):
    env = tmp_path / "env"
    run(empty, uv, "venv", "--quiet", "--python", sys.executable, env)
    run(empty, uv, "pip", "install", "--quiet", "--python", env / "bin/python",
        "--refresh-package", "paprle", "--refresh-package", "paprle-emulators",
        "--find-links", index, NAME)  # fmt: skip

    check_commands(empty, env / "bin")


def test_uv_runs_a_tool_by_name(index, empty, uv):
    words = ["--quiet", "--isolated", "--python", sys.executable, "--find-links", index,
             "--refresh-package", "paprle", "--from", "paprle"]  # fmt: skip

    assert run(empty, uv, "tool", "run", *words, "paprle", "--version") == TOLD
    assert list(empty.iterdir()) == []
