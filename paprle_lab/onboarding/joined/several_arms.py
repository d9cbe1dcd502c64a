"""A follower of several described arms."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from keyword import iskeyword
from pathlib import Path
from typing import Any

import pinocchio as pin
import yaml  # type: ignore[import-untyped]

from paprle.config import known_names, resolve
from paprle.config.files import EVERYWHERE
from paprle.config.folders import DATA
from paprle.contracts.errors import ConfigError, suggest
from paprle.contracts.kit.work import UNSEEN, Work
from paprle.contracts.settings.core import (
    GripperSettings,
    LimbSettings,
    RobotSettings,
)
from paprle.contracts.settings.limits import LimitSettings
from paprle.contracts.validation.fields import read_defaults, read_fields, to_plain
from paprle.plugins import find_plugin, is_name, load_config_class
from paprle.robot import RobotModel
from paprle_lab.onboarding.joined.limits import BY_JOINT, join_limits
from paprle_lab.onboarding.joined.places import (
    FARTHEST,
    MIX,
    NEAREST,
    ROOM,
    STEP,
    PlacedArm,
    check_places,
    line_up,
    measure_apart,
    report_arms,
)
from paprle_lab.onboarding.joined.urdf import join_urdfs
from paprle_lab.onboarding.new_robot import make_slug, name_urdf


def read_arms(words: Sequence[str]) -> list[PlacedArm]:
    """Return the arms of words ``FOLLOWER@LIMB``.

    Raises:
        ConfigError: Listing unknown arms and clashing limbs.
    """
    pairs = [(name, limb) for name, _, limb in (word.partition("@") for word in words)]
    problems = _check_limbs([limb for _, limb in pairs])
    known = known_names("follower")
    for name in dict.fromkeys(name for name, _ in pairs):
        if name not in known:
            problems.append(
                f"new-robot: unknown follower '{name}'; {suggest(name, known)}"
            )
    if len(pairs) < 2:
        problems.append(
            f"new-robot: expected two arms or more, got '{' '.join(words)}'; for "
            "example: paprle new-robot ur5e@left xarm7@right"
        )
    if problems:
        raise ConfigError(problems)
    arms = [_read_arm(name, limb) for name, limb in pairs]
    several = [arm for arm in arms if len(arm.robot.limbs) != 1]
    if several:
        raise ConfigError(
            [
                f"new-robot: expected followers of one limb, got '{arm.name}' with "
                f"{', '.join(arm.robot.limbs) or 'none'}; give the arms one by one"
                for arm in several
            ]
        )
    return arms


def write_several(
    arms: Sequence[PlacedArm],
    out_dir: Path,
    name: str | None = None,
    places: Mapping[str, pin.SE3] | None = None,
    ignored: Sequence[tuple[str, str]] = (),
    *,
    work: Work = UNSEEN,
) -> list[str]:
    """Write and check YAML and URDF of a follower of several arms.

    ``places``: poses of base links in the common root, else chosen; ``ignored``: more
    pairs of links exempt from clearance.

    Returns:
        The report, as lines.

    Raises:
        ConfigError: If a file exists, a place is of no limb, or arms touch at home.
    """
    slug = make_slug(name or "_".join(arm.name for arm in arms))
    path, urdf = out_dir / f"{slug}.yaml", (out_dir / f"{slug}.urdf").resolve()
    _check_free(slug, (path, urdf))
    given = check_places(arms, places or {})
    out_dir.mkdir(parents=True, exist_ok=True)
    try:
        work.note("looking for places with room between the arms")
        settings, apart = _place(arms, slug, urdf, given, ignored)
        tree = _describe(arms, replace(settings, urdf=name_urdf(urdf, path)))
        with path.open("x", encoding="utf-8") as file:
            file.write(
                _HEAD.format(arms=" and ".join(f"{a.name} ({a.limb})" for a in arms))
            )
            yaml.safe_dump(tree, file, sort_keys=False, default_flow_style=None)
        _check_home(RobotModel.from_yaml(path))
    except BaseException:  # a Ctrl-C leaves no half of it either
        path.unlink(missing_ok=True)
        urdf.unlink(missing_ok=True)
        raise
    return report_arms(arms, path, urdf, apart, given)


_HEAD = """\
# {arms}, joined by `paprle new-robot`. docs/two_arms.md
# Where the arms stand is in the URDF: `paprle calibrate bases` finds it by touches.
"""


def _check_limbs(limbs: Sequence[str]) -> list[str]:
    taken = read_fields(load_config_class(find_plugin("follower", MIX)))
    problems = [
        "new-robot: expected a limb's name of small letters, digits and _, got "
        f"'{limb}'" + f"; it is a setting of env={MIX}" * (limb in taken)
        for limb in limbs
        if not is_name(limb)
        or not limb.isidentifier()
        or iskeyword(limb)
        or limb in taken
    ]
    problems += [
        f"new-robot: expected a limb's name for each arm, got '{limb}' twice; for "
        "example: ur5e@left xarm7@right"
        for limb in dict.fromkeys(limbs)
        if limbs.count(limb) > 1
    ]
    problems += [
        f"new-robot: expected limbs of different beginnings, got '{one}' and "
        f"'{other}': names of both begin with {one}_; choose another name"
        for one in limbs
        for other in limbs
        if other.startswith(f"{one}_")
    ]
    return problems


def _read_arm(name: str, limb: str) -> PlacedArm:
    resolved = resolve(["leader=autopilot", f"follower={name}", "env=kinematic"])
    settings = resolved.robot
    return PlacedArm(
        limb, name, settings, RobotModel.from_settings(settings, name, DATA)
    )


def _check_free(slug: str, paths: Sequence[Path]) -> None:
    for there in paths:
        if there.exists():
            raise ConfigError(
                f"{there}: exists already; choose another name or remove it"
            )
    if slug in known_names("follower"):
        raise ConfigError(
            f"new-robot: expected a new name, got '{slug}', which is a follower; "
            "choose another one by --name"
        )


def _place(
    arms: Sequence[PlacedArm],
    name: str,
    urdf: Path,
    given: Mapping[str, pin.SE3],
    ignored: Sequence[tuple[str, str]],
) -> tuple[RobotSettings, float]:
    """Write the URDF with room between the arms; return settings and room, [m]."""
    sources = {arm.limb: arm.robot.urdf_path for arm in arms}
    settings = _join(arms, str(urdf), ignored)
    n_steps = 0 if len(given) == len(arms) else math.ceil((FARTHEST - NEAREST) / STEP)
    for k in range(n_steps + 1):
        places = {**line_up(arms, NEAREST + k * STEP), **given}
        urdf.write_text(join_urdfs(name, sources, places), encoding="utf-8")
        if k == 0:
            settings = replace(settings, limits=_join_limits(arms, settings))
        apart = measure_apart(RobotModel.from_settings(settings, name), arms)
        if apart >= ROOM:
            break
    return settings, apart


def _join(
    arms: Sequence[PlacedArm], urdf: str, ignored: Sequence[tuple[str, str]]
) -> RobotSettings:
    limbs = {}
    for arm in arms:
        (limb,) = arm.robot.limbs.values()
        gripper = limb.gripper
        limbs[arm.limb] = LimbSettings(
            base_link=arm.rename(limb.base_link),
            eef_link=arm.rename(limb.eef_link),
            joints=tuple(map(arm.rename, limb.joint_names)),
            home=tuple(limb.take(arm.robot.home).tolist()),
            gripper=None
            if gripper is None
            else GripperSettings(
                joint=arm.rename(gripper.joint),
                closed=gripper.closed,
                open=gripper.open,
            ),
        )
    return RobotSettings(
        urdf=urdf,
        limbs=limbs,
        hold={
            k: q for arm in arms for k, q in arm.rename_keys(arm.settings.hold).items()
        },
        ignore_collisions=(
            *(
                (arm.rename(a), arm.rename(b))
                for arm in arms
                for a, b in arm.settings.ignore_collisions
            ),
            *ignored,
        ),
    )


def _join_limits(arms: Sequence[PlacedArm], settings: RobotSettings) -> LimitSettings:
    by_joint = {
        key: {
            joint: value
            for arm in arms
            for joint, value in arm.rename_keys(
                getattr(arm.settings.limits, key)
            ).items()
        }
        for key in BY_JOINT
    }
    wanted = {
        field: {
            arm.rename(joint): float(value)
            for arm in arms
            for joint, value in zip(
                arm.robot.joint_names, getattr(arm.robot.info, field), strict=True
            )
        }
        for field in ("dq_max", "ddq_max", "dddq_max")
    }
    return join_limits(
        [arm.settings.limits for arm in arms],
        by_joint,
        wanted,
        lambda limits: RobotModel.from_settings(replace(settings, limits=limits)).info,
    )


def _describe(arms: Sequence[PlacedArm], settings: RobotSettings) -> dict[str, Any]:
    limits = _without_defaults(settings.limits)
    limits["ddq_max"] = settings.limits.ddq_max
    limbs = {
        name: _without_defaults(one) for name, one in (settings.limbs or {}).items()
    }
    tree = {**_without_defaults(settings), "limbs": limbs, "limits": limits}
    return {**tree, "envs": _describe_envs(arms)}


def _without_defaults(settings: Any) -> dict[str, Any]:
    plain, defaults = to_plain(settings), read_defaults(type(settings))
    return {key: value for key, value in plain.items() if value != defaults.get(key)}


def _describe_envs(arms: Sequence[PlacedArm]) -> dict[str, Any]:
    envs: dict[str, Any] = {}
    for env in EVERYWHERE:
        own = [arm.settings.envs.get(env) or {} for arm in arms]
        envs[env] = own[0] if all(one == own[0] for one in own) else {}
    envs[MIX] = {arm.limb: {"robot": arm.name, "env": arm.env} for arm in arms}
    return envs


def _check_home(robot: RobotModel) -> None:
    touching = robot.find_collisions(robot.home)
    if touching:
        pairs = ", ".join(f"{a} and {b}" for a, b in touching)
        raise ConfigError(
            f"{robot.name}: expected a home where nothing touches, got {pairs}; place "
            "the arms farther apart by --place LIMB=x,y,z,roll,pitch,yaw"
        )
