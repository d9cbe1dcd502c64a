"""Description of a pairing for the operator."""

from __future__ import annotations

import math
from collections.abc import Sequence

from paprle.contracts.settings.core import IkSettings
from paprle.contracts.settings.retarget import RetargetSettings
from paprle.kinematics.task import list_rows
from paprle.retargeting.limb_sources import Slot, read_limb_settings
from paprle.retargeting.pairing import (
    LED_BY_SIGHT,
    LimbPairing,
    LimbSource,
    Pairing,
)
from paprle.retargeting.rules.axes import AxesRule
from paprle.retargeting.rules.modes import BUILT_IN, describe_modes
from paprle.robot import RobotModel
from paprle.robot.chain import Limb


def describe_pairing(
    robot: RobotModel,
    pairing: Pairing,
    settings: RetargetSettings,
    slots: Sequence[Sequence[Slot]],
    ik: IkSettings,
) -> str:
    """Return each limb's driver and rule in one line."""
    groups: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for name, own in zip(robot.limbs, slots, strict=True):
        if name not in pairing.limbs:
            continue
        (who, first), *others = [
            (who, tuple(_describe_rule(name, source, slot, settings)))
            for who, source, slot in _group_sources(pairing.limbs[name].sources, own)
        ]
        how = (*first, *(f"or {them}: {', '.join(told)}" for them, told in others))
        how += _describe_rank(robot.limbs[name], pairing.limbs[name], ik)
        groups.setdefault(how, {}).setdefault(who, []).append(name)
    parts = [
        ", ".join([*(f"{who} drives {_and(to)}" for who, to in driven.items()), *how])
        for how, driven in groups.items()
    ]
    if settings.filter is not None:
        cutoff = settings.filter.min_cutoff
        late = 500.0 / (math.pi * cutoff)
        parts.append(
            f"filtered from {cutoff:g} Hz up (One-Euro: {late:.0f} ms late at rest, "
            "less in motion)"
        )
    held = _list_held(robot, pairing)
    if held:
        holding = f"{_and(held)} {'hold' if len(held) > 1 else 'holds'}"
        return ", ".join(("; ".join(parts), holding))
    return "; ".join(parts)


def _group_sources(
    sources: Sequence[LimbSource], slots: Sequence[Slot]
) -> list[tuple[str, LimbSource, Slot]]:
    groups: list[tuple[str, LimbSource, Slot]] = []
    for source, slot in zip(sources, slots, strict=True):
        if groups and groups[-1][1].rule == source.rule != "axes":
            who = f"{groups[-1][0]} or {source.leader_limb}"
            groups[-1] = who, groups[-1][1], groups[-1][2]
        else:
            groups.append((source.leader_limb, source, slot))
    return groups


def _describe_rank(limb: Limb, pair: LimbPairing, ik: IkSettings) -> tuple[str, ...]:
    n_joints, n_rows = len(limb.joint_names), len(list_rows(ik.of_limb(limb.name)))
    is_posed = any(one.rule not in {"joints", *LED_BY_SIGHT} for one in pair.sources)
    if not is_posed or n_joints >= n_rows:
        return ()
    return (f"position before orientation ({n_joints} joints)",)


def _describe_modes(name: str, rule: AxesRule, settings: RetargetSettings) -> str:
    kind = read_limb_settings(settings, name).modes
    advised = "" if kind in BUILT_IN else f"as '{kind}' suggests, else "
    return f"{advised}{describe_modes(rule.modes)}"


def _describe_rule(
    name: str, source: LimbSource, slot: Slot, settings: RetargetSettings
) -> list[str]:
    s = read_limb_settings(settings, name)
    rpy = s.rpy_xyz_extrinsic or (0.0, 0.0, 0.0)
    scale = 1.0 if s.scale is None else s.scale
    reason = f" ({source.reason})" if source.reason else ""
    if source.rule == "joints":
        return [f"joint by joint{reason}"]
    if source.rule == "look_at":
        asked = settings.limbs[name]
        where = f", where '{asked.advice}' says" if asked.advice else ""
        return [f"looking at {asked.of}{where}"]
    if source.rule == "follow":
        return [f"following {settings.limbs[name].object}"]
    if source.rule == "absolute":
        is_ignored = scale != 1.0 or any(rpy)
        return [f"absolute{' (scale and turn are ignored)' if is_ignored else ''}"]
    axes = {"world": "world", "view": "view"}.get(s.alignment or "", "tool")
    turned = " turned by rpy ({:g}, {:g}, {:g})".format(*rpy) if any(rpy) else ""
    how = f"relative{reason}"
    if isinstance(slot.rule, AxesRule):
        how = f"by axes ({_describe_modes(name, slot.rule, settings)})"
    return [how, f"scale {scale:g}", f"{axes} axes{turned}"]


def _list_held(robot: RobotModel, pairing: Pairing) -> list[str]:
    held = [name for name in robot.limbs if name not in pairing.limbs]
    for name, pair in pairing.limbs.items():
        joints = robot.limbs[name].joint_names
        for source in pair.sources[:1]:
            held += [
                joint
                for joint, given in zip(joints, source.joints, strict=False)
                if given is None
            ]
    return held


def _and(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
