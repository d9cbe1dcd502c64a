"""Table of a session's processes and ports.

Each row comes after those that outlive it; the last is shut down first (K4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from paprle.config import Resolved
from paprle.config.laws import list_named
from paprle.contracts.settings.camera import FilmSettings
from paprle.contracts.settings.plugin import DescentSettings, SightSettings
from paprle.contracts.types import RobotInfo
from paprle.hosts.factories import (
    RING_BYTES,
    list_controls,
    list_observers,
    list_placed,
    make_advisor,
    make_camera,
    sees,
)
from paprle.hosts.operator.operator_messages import NEWS, NEWS_DTYPE
from paprle.ipc.feedback_record import make_feedback_dtype
from paprle.ipc.pictures import RECORDING_DTYPE, find_room
from paprle.ipc.ports import Frames, LatestPort, Ordered, Port, name_port
from paprle.ipc.records import Layout, split_layout
from paprle.ipc.wishes_record import WISHES, make_wishes_dtype
from paprle.plugins import find_plugin, load_factory
from paprle.retargeting.anchor_record import make_anchors_dtype

SESSION_RING = "session_ring"
GATE_RING = "gate_ring"
GATE = "gate"
LEADER = "leader"
RECORDER = "recorder"
ADVICE = "advice"
CAMERA = "camera"
FRAMES = "frames"
FOOTAGE = "footage"
RECORDING = "recording"


class IfLost(Enum):
    """The session's reaction to a process's death."""

    END = "the session ends"
    BRAKE = "its limbs brake and hold; the session ends with the last one"
    WARN = "the operator is told, the session goes on"
    RESTART = "the operator is told, the session goes on and starts it again"


@dataclass(frozen=True, kw_only=True)
class RoleSpec:
    """One process of a session.

    Attributes:
        name: Its kind, and the instance after a colon.
        shutdown: Time limit for its end, [s].
        is_left_slowly: Its end moves an arm, and gets its full time.
        starts_after: Roles that must be ready before; it gets their reports, and their
            end by a pipe ``<role>_alive``.
    """

    name: str
    module: str
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    if_lost: IfLost
    shutdown: float
    is_left_slowly: bool = False
    starts_after: tuple[str, ...] = ()
    takes_keys: bool = False


def list_roles(resolved: Resolved) -> tuple[RoleSpec, ...]:
    """Return a session's processes, each after those that outlive it."""
    advice = [name_port(ADVICE, name) for name in list_named(resolved.advisors)]
    controls = list_controls(resolved)
    told = ("tick", "status", NEWS, *advice)
    rows = [_make_observer(name, told, resolved) for name in list_observers(resolved)]
    filmed = list_filmed(resolved)
    rows += [
        _make_camera(name, is_filmed=name in filmed)
        for name in list_named(resolved.cameras)
    ]
    rows += [_make_advisor(name, resolved) for name in list_named(resolved.advisors)]
    if resolved.record.dir is not None:
        rows.append(_make_recorder(filmed))
    rows.append(make_gate_role(is_remote=resolved.is_gate_afar))
    wishes = [name_port(WISHES, name) for name in controls]
    return (*rows, *(_make_leader(name, resolved, wishes) for name in resolved.leaders))


def make_gate_role(*, is_remote: bool) -> RoleSpec:
    """Return the gate's row, or its remote stand-in's."""
    return RoleSpec(
        name=GATE,
        module="paprle.hosts.two_hosts.remote_gate"
        if is_remote
        else "paprle.hosts.processes.gate",
        reads=("setpoint",),
        writes=("status", GATE_RING),
        if_lost=IfLost.END,
        # chosen: it brakes, and leaves its follower by its policy; from afar come the
        # records that found no room on the way, too
        shutdown=65.0 if is_remote else 8.0,
    )


def list_sights(resolved: Resolved) -> tuple[str, ...]:
    """Return the ports of session and cameras for viewers."""
    frames = (name_port(FRAMES, camera) for camera in list_named(resolved.cameras))
    return ("tick", "status", *frames)


def _make_leader(name: str, resolved: Resolved, wishes: Sequence[str]) -> RoleSpec:
    config = resolved.leaders[name].config
    sees = isinstance(config, SightSettings)
    seen = list_sights(resolved) if sees else ("status", "tick")
    descent = config.descent if isinstance(config, DescentSettings) else 0.0
    return RoleSpec(
        name=name_port(LEADER, name),
        module="paprle.hosts.processes.leader",
        reads=("feedback", "anchors", *seen, *wishes),
        writes=(name_port("sample", name),),
        if_lost=IfLost.BRAKE,
        # chosen: a device that does not answer any more; an arm that sinks before
        shutdown=2.0 + descent,
        is_left_slowly=descent > 0.0,
        takes_keys=True,
    )


def list_served(resolved: Resolved) -> tuple[RoleSpec, ...]:
    """Return the processes beside a served gate."""
    gate = make_gate_role(is_remote=False)
    seeing = [
        name
        for name in list_observers(resolved)
        if sees(load_factory(find_plugin("observer", name)))
        and name not in list_controls(resolved)  # a page shows a session
    ]
    if not seeing:
        return (gate,)
    rows = [_make_observer(name, (), resolved) for name in seeing]
    rows += [_make_camera(n, is_filmed=False) for n in list_named(resolved.cameras)]
    return (*rows, gate)


def _make_observer(name: str, told: Sequence[str], resolved: Resolved) -> RoleSpec:
    seen = [name_port(FRAMES, camera) for camera in list_named(resolved.cameras)]
    has_controls = name in list_controls(resolved)
    return RoleSpec(
        name=f"observer:{name}",
        module="paprle.hosts.processes.observer",
        reads=(*told, *seen),
        writes=(name_port(WISHES, name),) if has_controls else (),
        if_lost=IfLost.RESTART if has_controls else IfLost.WARN,
        shutdown=2.0,  # chosen: it leaves a network, and nobody waits for it
        starts_after=(GATE,),
    )


def list_filmed(resolved: Resolved) -> list[str]:
    """Return the recorded cameras."""
    return [
        name
        for name, config in list_named(resolved.cameras).items()
        if resolved.record.dir is not None
        and isinstance(config, FilmSettings)
        and config.video != "none"
    ]


def _make_camera(name: str, *, is_filmed: bool) -> RoleSpec:
    return RoleSpec(
        name=name_port(CAMERA, name),
        module="paprle.hosts.processes.camera",
        reads=("status", *[RECORDING] * is_filmed),
        writes=(name_port(FRAMES, name), *[name_port(FOOTAGE, name)] * is_filmed),
        if_lost=IfLost.RESTART,
        shutdown=8.0,  # measured: 4 s where it gives way to a load of 16 on 2 cores
        starts_after=(GATE,),
    )


def _make_advisor(name: str, resolved: Resolved) -> RoleSpec:
    others = [other for other in list_named(resolved.advisors) if other != name]
    return RoleSpec(
        name=f"advisor:{name}",
        module="paprle.hosts.processes.advisor",
        reads=(
            *list_sights(resolved),
            *(name_port(ADVICE, other) for other in others),
        ),
        writes=(name_port(ADVICE, name),),
        if_lost=IfLost.WARN,
        shutdown=2.0,  # chosen: it is slow, and nobody waits for it
    )


def _make_recorder(filmed: Sequence[str]) -> RoleSpec:
    return RoleSpec(
        name=RECORDER,
        module="paprle.hosts.processes.recorder",
        reads=(SESSION_RING, GATE_RING, *(name_port(FOOTAGE, n) for n in filmed)),
        writes=(RECORDING,),
        if_lost=IfLost.WARN,
        shutdown=10.0,  # chosen: what waits is written to a slow disk
        starts_after=(GATE,),
    )


def list_ports(layout: Layout, leaders: tuple[str, ...]) -> dict[str, Port]:
    """Return a session's ports, not made."""
    samples = {
        name_port("sample", name): LatestPort(own.sample)
        for name, own in zip(leaders, split_layout(layout), strict=True)
    }
    return {
        **list_gate_ports(layout),
        **samples,
        "tick": LatestPort(layout.tick),
        "feedback": LatestPort(make_feedback_dtype(len(layout.limbs))),
        "anchors": LatestPort(make_anchors_dtype(len(layout.limbs))),
        SESSION_RING: Ordered(RING_BYTES),
        RECORDING: LatestPort(RECORDING_DTYPE),
        NEWS: LatestPort(NEWS_DTYPE),
    }


def list_named_ports(resolved: Resolved, robot: RobotInfo) -> dict[str, Port]:
    """Return the ports of cameras, advisors and controls, not made.

    Raises:
        DeviceError: If a format is unknown.
        MissingDependency: If a format needs a missing package.
    """
    ports: dict[str, Port] = {}
    for name in list_named(resolved.cameras):
        info = make_camera(resolved, name).info
        ports[name_port(FRAMES, name)] = Frames(info.max_bytes + info.depth_bytes)
        ports[name_port(FOOTAGE, name)] = Ordered(find_room(info))
    for name in list_named(resolved.advisors):
        advisor = make_advisor(resolved, robot, name)
        ports[name_port(ADVICE, name)] = LatestPort(advisor.advice)
    for name in list_controls(resolved):
        dtype = make_wishes_dtype(robot, list_placed(resolved))
        ports[name_port(WISHES, name)] = LatestPort(dtype)
    return ports


def list_gate_ports(layout: Layout) -> dict[str, Port]:
    """Return the ports between a gate and its client."""
    return {
        "setpoint": LatestPort(layout.setpoint),
        "status": LatestPort(layout.status),
        GATE_RING: Ordered(RING_BYTES),
    }
