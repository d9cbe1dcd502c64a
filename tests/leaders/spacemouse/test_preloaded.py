"""Runs the tests of the leader where hidapi meets the emulated mouse."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hardware.spacemouse.emulator import build_shim
from paprle.ipc.process import WORKSPACE


@pytest.mark.process
@pytest.mark.nightly
def test_the_leader_passes_with_the_real_hidapi(tmp_path):
    """Preloading needs a process of its own; what failed stands in its output."""
    library = build_shim(tmp_path)

    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-x", "-rs", "-p", "no:randomly"),
            *("-p", "no:cacheprovider", "-p", "no:xdist", "--confcutdir"),
            *(str(Path(__file__).parent), str(Path(__file__).parent / "preloaded.py")),
        ],
        check=False,
        cwd=WORKSPACE,
        env={**os.environ, "LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stdout[-6000:]
    assert " passed" in done.stdout
    skipped = [line for line in done.stdout.splitlines() if "SKIPPED" in line]
    assert all("this device" in line for line in skipped), done.stdout
