"""Wheels of the checkout, built as a release builds them."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from paprle.ipc.process import WORKSPACE


def copy_checkout(folder: Path) -> Path:
    """Copy the files of the checkout, links as links."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=WORKSPACE, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listed.returncode:
        pytest.skip("not a checkout")
    for name in listed.stdout.splitlines():
        if os.path.lexists(WORKSPACE / name):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(WORKSPACE / name, folder / name, follow_symlinks=False)
    return folder


def build(project: Path, out: Path, kind: str = "wheel") -> Path:
    """Build a wheel, an sdist or an editable wheel by hatchling."""
    builder = pytest.importorskip("hatchling.build")
    here = Path.cwd()
    os.chdir(project)  # where a builder of PEP 517 looks
    try:
        return out / getattr(builder, f"build_{kind}")(str(out))
    finally:
        os.chdir(here)
