"""Interpreters of this machine: given by PYTHONS, or of pyenv, uv and the path."""

import os
import shutil
import subprocess
from pathlib import Path

VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14")


def find_pythons() -> dict[str, str]:
    """Return the interpreters there are, by version."""
    given = os.environ.get("PYTHONS", "")
    found = given.split(os.pathsep) if given else []
    if not given:
        found += map(str, Path.home().glob(".pyenv/versions/3.*/bin/python"))
        found += map(str, Path.home().glob(".local/share/uv/python/*/bin/python3"))
        found += filter(None, (shutil.which(f"python{v}") for v in VERSIONS))
    pythons = {}
    for python in found:
        tell = "import sys; print('%d.%d' % sys.version_info[:2])"
        done = subprocess.run(
            [python, "-c", tell], capture_output=True, text=True, check=False
        )
        pythons.setdefault(done.stdout.strip(), python)
    return pythons
