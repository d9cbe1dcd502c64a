"""Onboarding of a leader."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from paprle.cli.doctor import resolve_leader
from paprle.config.folders import DATA, find_folders
from paprle.contracts.errors import ConfigError
from paprle.contracts.searches.servo_search import FoundServo, ServoSearch
from paprle.hosts.factories import make_leader
from paprle.plugins import list_names
from paprle_lab.onboarding.leader.arm_words import FORM, read_words
from paprle_lab.onboarding.leader.dialogue import (
    MeasuredLeader,
    NewArm,
    count_servos,
    measure_leader,
)
from paprle_lab.onboarding.leader.gello import read_gello
from paprle_lab.onboarding.leader.geometry import (
    Geometry,
    copy_geometry,
    make_geometry,
)
from paprle_lab.onboarding.leader.imported import Imported
from paprle_lab.onboarding.leader.known import KNOWN
from paprle_lab.onboarding.leader.lerobot import convert_lerobot, is_lerobot
from paprle_lab.onboarding.leader.write import make_yaml, name_files, write_all
from paprle_lab.onboarding.new_robot import make_slug
from paprle_lab.onboarding.notes import Note

_MOST = 100_000  # [bytes] chosen: values of a hundred arms


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderRequest:
    """Request for a leader; at most one of ``like``, ``urdf`` and ``words``.

    Attributes:
        port: Empty: the only one, or the operator's choice.
        like: Of ``KNOWN``.
        scale: Length of links per described length.
        home: First posture, [deg]; empty: as known, or zeros.
        calibration: GELLO's or LeRobot's file.
    """

    name: str
    out: Path
    port: str = ""
    like: str = ""
    urdf: Path | None = None
    limb: str = ""
    words: str = ""
    scale: float = 1.0
    home: tuple[float, ...] = ()
    calibration: Path | None = None


def make_new_leader(
    request: LeaderRequest, search: ServoSearch, note: Note
) -> Generator[str, str, dict[str, Any]]:
    """Guide the operator from servos to written files.

    ``search`` is closed; ``note`` takes findings from any thread.

    Yields:
        Questions; expects the answer.

    Returns:
        ``lines``: the report.

    Raises:
        ConfigError: If the request is wrong, or servos do not fit.
        DeviceError: If no servos are found, or they fail.
    """
    name = _check_name(request.name)
    yaml_path, urdf_path = name_files(request.out, name)
    geometry = yield from _find_geometry(request, name)
    arm = _find_arm(request, geometry)
    port = yield from _choose_port(request.port, search.list_ports())
    note(f"looking for servos at {port}")
    servos = search.find(port, count_servos(arm))
    for line in _list_found(servos):
        note(line)
    search.open(port, [*servos])
    try:
        found = yield from measure_leader(arm, servos, search, note)
        settings, files = search.make_settings(name, found.joints, found.gripper)
    finally:
        search.close()
    text = make_yaml(settings, geometry, urdf_path, port, arm.home)
    texts = {Path(path): content for path, content in files.items()}
    texts |= {urdf_path: geometry.urdf, yaml_path: text}
    write_all(texts, lambda: _check(yaml_path))
    return {"lines": _list_lines(found, [*texts], yaml_path)}


def _check(path: Path) -> None:
    make_leader(resolve_leader([f"leader={path.resolve()}"]))


def _check_name(text: str) -> str:
    name = make_slug(text)
    if name in list_names("leader"):
        raise ConfigError(f"name: expected another one than a plug-in's, got {name!r}")
    return name


def _find_geometry(request: LeaderRequest, name: str) -> Generator[str, str, Geometry]:
    if request.urdf is not None:
        return copy_geometry(request.urdf, name, request.scale, request.limb)
    if request.like:
        if request.like not in KNOWN:
            known = ", ".join(f"{n} ({one.about})" for n, one in KNOWN.items())
            raise ConfigError(f"--like: expected one of {known}, got '{request.like}'")
        one = KNOWN[request.like]
        if one.urdf:
            return copy_geometry(DATA / one.urdf, name, request.scale, request.limb)
        return make_geometry(name, read_words(one.words), request.scale)
    if request.words:
        return make_geometry(name, read_words(request.words), request.scale)
    before = ""
    while True:
        answer = yield (
            f"{before}describe the arm as it stands with all joints at 0: {FORM}"
        )
        try:
            return make_geometry(name, read_words(answer), request.scale)
        except ConfigError as err:
            before = f"{err}\n"


def _find_arm(request: LeaderRequest, geometry: Geometry) -> NewArm:
    n = len(geometry.joint_names)
    home = request.home
    if not home and request.like:
        home = KNOWN[request.like].home
    home = home or (0.0,) * n
    if len(home) != n:
        listed = ", ".join(geometry.joint_names)
        raise ConfigError(f"--home: expected {n} angles ({listed}), got {len(home)}")
    arm = NewArm(geometry=geometry, home=tuple(math.radians(q) for q in home))
    if request.calibration is None:
        return arm
    imported = _import(request.calibration, n)
    if len(imported.ids) != n:
        raise ConfigError(
            f"{request.calibration}: expected values of {n} joints, got "
            f"{len(imported.ids)}"
        )
    has_gripper = imported.gripper is not None
    geometry = replace(geometry, has_gripper=has_gripper)
    return replace(arm, imported=imported, geometry=geometry)


def _import(path: Path, n: int) -> Imported:
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as err:
        raise ConfigError(f"{path}: expected a calibration, got {err}") from err
    if len(text) > _MOST:
        raise ConfigError(f"{path}: expected a calibration, got {len(text)} bytes")
    if path.suffix == ".json":
        try:
            tree = json.loads(text)
        except json.JSONDecodeError as err:
            raise ConfigError(f"{path}: expected JSON, got {err}") from err
        if is_lerobot(tree):
            return convert_lerobot(path, tree, n)
    return read_gello(path, text)


def _choose_port(given: str, ports: Sequence[str]) -> Generator[str, str, str]:
    if given:
        return given
    if not ports:
        raise ConfigError(
            "--port: expected a serial device, got none on this computer; plug in the "
            "adapter, or name it"
        )
    listed = "\n".join(f"  {i}: {port}" for i, port in enumerate(ports, start=1))
    while len(ports) > 1:
        answer = yield f"which port has the leader's servos?\n{listed}\ntype its number"
        if answer.isdigit() and 1 <= int(answer) <= len(ports):
            return ports[int(answer) - 1]
    return ports[0]


def _list_found(servos: Sequence[FoundServo]) -> list[str]:
    lines = [f"found {len(servos)} servos at {servos[0].baud} [bit/s]:"]
    for one in servos:
        second = "" if one.obeys is None else f", a second servo of {one.obeys}"
        lines.append(f"  servo {one.id}: {one.model}{second}")
    return lines


def _list_lines(
    found: MeasuredLeader, paths: Sequence[Path], yaml_path: Path
) -> list[str]:
    leader = _name_leader(yaml_path)
    return [
        *(f"wrote {path}" for path in paths),
        *found.lines,
        "next:",
        f"  paprle doctor leader={leader}",
        f"  paprle run leader={leader} follower=ur5e env=kinematic",
    ]


def _name_leader(path: Path) -> str:
    folders = {folder.path / "leader" for folder in find_folders().folders}
    is_found = path.resolve().parent in {folder.resolve() for folder in folders}
    return path.stem if is_found else shlex.quote(str(path.resolve()))
