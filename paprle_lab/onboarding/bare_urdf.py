"""Cached follower's YAML of a bare URDF."""

from __future__ import annotations

import hashlib
import os
import shlex
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

from paprle.config.folders import expand_home
from paprle.contracts.kit.work import UNSEEN, Work
from paprle.robot.urdf import read_urdf
from paprle_lab.onboarding.mesh_bodies import find_mesh
from paprle_lab.onboarding.new_robot import make_slug, write_new_robot
from paprle_lab.onboarding.xacro_files import name_robot, provide_urdf


def provide_yaml(urdf: Path, work: Work = UNSEEN) -> tuple[Path, list[str]]:
    """Return the cached YAML of a bare URDF, and notes.

    Raises:
        ConfigError: If the URDF is invalid.
    """
    given = expand_home(str(urdf)).absolute()
    path = provide_urdf(given, _find_cache() / "expanded")
    read_urdf(path)  # a mistake in it has its own name, and no cache
    slug = make_slug(name_robot(given))
    yaml = _find_cache() / _digest(path) / f"{slug}.yaml"
    told = [
        f"{urdf.name}: guesses stand in {yaml}; to review and keep them: "
        f"paprle new-robot {shlex.quote(str(urdf))}"
    ]
    kept = yaml.parent / "doubts.txt"  # doubts do not fade with a second start
    if yaml.is_file():
        found = kept.read_text(encoding="utf-8").splitlines() if kept.is_file() else []
    else:
        found = list(write_new_robot(path, yaml.parent, slug, work=work).findings())
        doubts = [line for line in found if line.startswith("CHECK")]
        kept.write_text("\n".join(doubts), encoding="utf-8")
    return yaml, [f"{urdf.name}: {line}" for line in found] + told


def _find_cache() -> Path:
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "paprle" / "robots"


def _digest(urdf: Path) -> str:
    content = urdf.read_bytes()
    digest = hashlib.sha256(str(urdf).encode() + content)
    for mesh in _list_meshes(urdf, content):
        stat = mesh.stat()
        digest.update(f"{mesh} {stat.st_size} {stat.st_mtime_ns}".encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _list_meshes(urdf: Path, content: bytes) -> Iterator[Path]:
    for mesh in ET.fromstring(content).iterfind("link/collision/geometry/mesh"):
        path = find_mesh(mesh.get("filename", ""), urdf)
        if path is not None:
            yield path
