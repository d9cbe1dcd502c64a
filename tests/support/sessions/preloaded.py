"""Tests of what the real hidapi reads, in a process above an emulated mouse."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from paprle.ipc.process import WORKSPACE
from paprle_emulators.spacemouse.mouse import build_shim


def run_preloaded(file: Path, folder: Path) -> None:
    """Run a file of tests with the shim preloaded; what failed stands in the error.

    Args:
        file: The tests, with a name under which nobody else collects them.
        folder: Where the shim is put.
    """
    library = build_shim(folder)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-x", "-rs", "-p", "no:randomly"),
            *("-p", "no:cacheprovider", "-p", "no:xdist", "--confcutdir"),
            *(str(file.parent), str(file)),
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
