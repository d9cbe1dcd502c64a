"""Checks before a start, which open nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paprle.config.laws import list_named
from paprle.contracts.errors import ConfigError, DeviceError
from paprle.contracts.kinds import Kind
from paprle.contracts.plugins import Device, Follower
from paprle.hosts.factories import list_observers
from paprle.hosts.plan import SessionPlan, make_follower
from paprle.hosts.processes.open_follower import accept_unattended
from paprle.plugins import find_missing_packages


@dataclass(frozen=True)
class Rehearsal:
    """Findings of a dry run, with reasons to refuse."""

    told: str
    problems: tuple[str, ...]


def check_start(plan: SessionPlan) -> None:
    """Check that every device could be opened.

    Raises:
        ConfigError: With all problems.
    """
    problems = find_problems(plan, _make_follower(plan))
    if problems:
        raise ConfigError(problems)


def rehearse(plan: SessionPlan) -> Rehearsal:
    """Return the findings of a dry run."""
    follower = _make_follower(plan)
    lines = [plan.describe(), *_list_notes(plan), *_list_unchecked(plan, follower)]
    return Rehearsal("\n".join(lines), tuple(find_problems(plan, follower)))


def find_problems(plan: SessionPlan, follower: Follower | None) -> list[str]:
    """Return reasons against opening; a remote follower is None."""
    problems = [text for one in plan.leaders.values() for text in one.preflight()]
    problems += _list_missing_packages(plan)
    if follower is None:
        return problems
    problems += follower.preflight()
    try:
        if follower.goes_on_unattended:
            accept_unattended(plan.resolved)
    except DeviceError as err:
        problems.append(str(err))
    return problems


def _list_missing_packages(plan: SessionPlan) -> Iterator[str]:
    resolved = plan.resolved
    used: list[tuple[Kind, str]] = [
        ("leader", one.type) for one in resolved.leaders.values()
    ]
    if not resolved.is_gate_afar:
        used.append(("follower", resolved.env_type))
    used += [("observer", name) for name in list_observers(resolved)]
    used += [("advisor", one.type) for one in list_named(resolved.advisors).values()]
    used += [("camera", one.type) for one in list_named(resolved.cameras).values()]
    for kind, name in dict.fromkeys(used):
        yield from find_missing_packages(kind, name)


def _make_follower(plan: SessionPlan) -> Follower | None:
    is_afar = plan.resolved.is_gate_afar
    return None if is_afar else make_follower(plan.resolved, plan.robot)


def _list_notes(plan: SessionPlan) -> Iterator[str]:
    for leader in plan.leaders.values():
        yield from leader.notes


def _list_unchecked(plan: SessionPlan, follower: Follower | None) -> Iterator[str]:
    devices: dict[str, Device] = {
        f"leader {name}".rstrip(): leader for name, leader in plan.leaders.items()
    }
    if follower is None:
        yield f"not checked: the robot and its gate at {plan.resolved.link.peer}"
    else:
        devices["follower"] = follower
    for name, device in devices.items():
        if device.unchecked:
            yield f"not checked: {name}: {device.unchecked}"
    for what, who in plan.list_others().items():
        if who:
            yield f"not checked: {what}: whether {', '.join(sorted(who))} will open"
