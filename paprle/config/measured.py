"""Measurements of a rig in a site's settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from paprle.config.folders import SESSION, find_site
from paprle.contracts.settings.feedback import RigOrigin


class MeasurementGroup(NamedTuple):
    """Measurements with common owners."""

    what: str
    owners: tuple[str, ...]
    keys: tuple[str, ...]


PARTS = (
    MeasurementGroup(
        "friction and delay",
        ("leader",),
        ("loop_delay", "leader_delay", "viscous", "coulomb"),
    ),
    MeasurementGroup(
        "lag",
        ("follower", "env"),
        ("dead_time", "time_constant", "lags", "drive_stiffness"),
    ),
)
"""All that is measured."""


def store(
    tree: dict[str, Any], found: Mapping[str, Any], names: Mapping[str, str]
) -> None:
    """Store ``feedback.rig`` in place, replacing other parts; merge joints."""
    rig = _enter(_enter(tree, "feedback"), "rig")
    origin = _enter(rig, "measured_with")
    for part in PARTS:
        new = {key: found[key] for key in part.keys if key in found}
        if not new:
            continue
        if any(origin.get(owner) != names[owner] for owner in part.owners):
            for key in part.keys:
                rig.pop(key, None)
        for key, value in new.items():
            is_by_joint = isinstance(value, Mapping)
            rig[key] = {**rig.get(key, {}), **value} if is_by_joint else value
        origin |= {owner: names[owner] for owner in part.owners}


def _enter(tree: dict[str, Any], key: str) -> dict[str, Any]:
    if not isinstance(tree.get(key), dict):
        tree[key] = {}
    section: dict[str, Any] = tree[key]
    return section


def store_latency(
    tree: dict[str, Any], found: Mapping[str, float], names: Mapping[str, str]
) -> None:
    """Store ``record.latency``, [s], replacing other triples."""
    latency = _enter(_enter(tree, "record"), "latency")
    if latency.get("measured_with") != dict(names):
        latency.clear()
    latency.update({"measured_with": dict(names), **found})


def leave_out_others(tree: Mapping[str, Any], names: Mapping[str, str]) -> None:
    """Remove measurements of other parts in place."""
    record = tree.get("record")
    latency = record.get("latency") if isinstance(record, dict) else None
    if isinstance(latency, dict) and latency.get("measured_with") != dict(names):
        del tree["record"]["latency"]
    feedback = tree.get("feedback")
    rig = feedback.get("rig") if isinstance(feedback, dict) else None
    origin = rig.get("measured_with") if isinstance(rig, dict) else None
    if not isinstance(rig, dict) or not isinstance(origin, dict):
        return
    for part in PARTS:
        if _find_others(part, origin, names):
            for key in part.keys:
                rig.pop(key, None)


def say_others(origin: RigOrigin, names: Mapping[str, str]) -> Iterator[str]:
    """Yield notes on measurements of other parts."""
    told = {owner: str(getattr(origin, owner)) for owner in names}
    site = f"{find_site().label}/{SESSION}"
    for part in PARTS:
        others = _find_others(part, told, names)
        if others:
            was = " ".join(f"{owner}={told[owner]}" for owner in part.owners)
            triple = " ".join(f"{owner}={name}" for owner, name in names.items())
            only = part.owners[0]
            yield (
                f"feedback: {part.what} in {site} were measured with {was} and are not "
                f"used here; measure: paprle identify {triple} --only {only}"
            )


def _find_others(
    part: MeasurementGroup, origin: Mapping[str, Any], names: Mapping[str, str]
) -> list[str]:
    return [
        owner
        for owner in part.owners
        if origin.get(owner) and origin[owner] != names.get(owner)
    ]
