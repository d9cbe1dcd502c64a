"""Session views made of tick, gate status and advice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from paprle.config import Resolved
from paprle.contracts.gate_status import GateStatus
from paprle.contracts.observing_leader import Sight
from paprle.contracts.plugins import Advice, Record, SessionView
from paprle.contracts.types import GateState, RobotInfo, SessionState, Vec
from paprle.gate.reason_text import describe_reasons, list_words
from paprle.gate.reasons import Reason
from paprle.hosts.factories import (
    list_objects,
    list_placed,
    make_advisor,
    make_leader_info,
)
from paprle.hosts.operator.operator_messages import NEWS, NEWS_DTYPE, read_news
from paprle.hosts.roles import ADVICE
from paprle.hosts.views.newest_images import NewestImages
from paprle.hosts.views.predicted_view import Mirroring
from paprle.ipc.mailbox import Mailbox, Newest
from paprle.ipc.ports import LatestPort, split_name
from paprle.ipc.process import Role
from paprle.ipc.records import Layout, make_layout
from paprle.ipc.stop_reason import read_stop_reason

_HELD = {GateState.HOLD, GateState.STOPPED}


class ViewReader:
    """Reads session views in a role."""

    def __init__(self, role: Role, resolved: Resolved, robot: RobotInfo) -> None:
        leader = make_leader_info(resolved, robot)
        objects, placed = list_objects(resolved), list_placed(resolved)
        self._layout = make_layout(robot, leader, objects, placed)
        self._ticks = Mailbox(self._layout.tick, role.fds["tick"])
        self._status = Mailbox(self._layout.status, role.fds["status"])
        self._news = None
        if NEWS in role.fds:
            self._news = Newest(Mailbox(NEWS_DTYPE, role.fds[NEWS]), read_news)
        mine = {port: split_name(port) for port in role.fds}
        is_afar = resolved.is_gate_afar
        self._mirroring = Mirroring(robot) if is_afar else None
        _, own = split_name(role.payload["name"])
        self._advice: dict[str, Mailbox] = {
            name: LatestPort(make_advisor(resolved, robot, name).advice).open(
                role.fds[port]
            )
            for port, (kind, name) in mine.items()
            if kind == ADVICE and name != own
        }

    def read(self, now_ns: int) -> SessionView | None:
        """Return the newest view; None at first."""
        tick, status = self._ticks.read(), self._status.read()
        if tick is None or status is None:
            return None
        said = {name: box.read() for name, box in self._advice.items()}
        spoken = {name: record for name, record in said.items() if record is not None}
        news = None if self._news is None else self._news.read()
        view = make_view(self._layout, tick, status, now_ns, spoken, news)
        if self._mirroring is None:
            return view
        return replace(view, mirror=self._mirroring.look(tick, status, now_ns))


class SightReader:
    """Reads session views and images in a role."""

    def __init__(
        self, role: Role, resolved: Resolved, robot: RobotInfo, rate: float
    ) -> None:
        """Open the ports, for reads at ``rate``, [Hz]."""
        self._reader = ViewReader(role, resolved, robot)
        self._images = NewestImages(role, resolved, rate)
        self.cameras = self._images.cameras

    def read(self, now_ns: int) -> Sight | None:
        """Return the newest sight; None at first."""
        view = self._reader.read(now_ns)
        if view is None:
            return None
        return Sight(view, self._images.read(now_ns))


def make_view(
    layout: Layout,
    tick: Record,
    status: Record,
    now_ns: int,
    advice: Mapping[str, Record] | None = None,
    news: Mapping[str, Any] | None = None,
) -> SessionView:
    """Return a view of the session, sharing the records' arrays."""
    stamp_ns, written_ns = int(tick["stamp_ns"]), int(status["stamp_ns"])
    tick_age = (now_ns - stamp_ns) * 1e-9
    has_sample = bool(tick["has_sample"])
    leader_age = tick_age + float(tick["sample_age_ns"]) * 1e-9
    state = GateState(int(status["state"]))
    return SessionView(
        stamp_ns=stamp_ns,
        state=SessionState(int(tick["state"])),
        episode=int(tick["episode"]),
        captured_ns=int(tick["sample"]["stamp_ns"]) if has_sample else 0,
        posted_ns=int(tick["posted_ns"]),
        computed_ns=int(tick["compute_ns"]),
        targets=dict(zip(layout.limbs, tick["target"], strict=True)),
        drivers=_name_drivers(layout, tick),
        mappings=_name_mappings(layout, tick),
        q_des=tick["q_des"],
        gate_state=state,
        reasons=list_words(int(status["reasons"])),
        latched=_describe_latched(status) if state in _HELD else "",
        counts=_name_counts(status),
        written_ns=written_ns,
        q_cmd=status["q_cmd"],
        dq_cmd=status["dq_cmd"],
        measured_ns=int(status["meas_ns"]),
        q=status["q_meas"],
        dq=status["dq_meas"],
        tau=status["tau_meas"],
        status=GateStatus._make(status[name].item() for name in GateStatus._fields),
        objects=_name_objects(layout, tick, status),
        leader_age=leader_age if has_sample else float("inf"),
        tick_age=tick_age,
        gate_age=(now_ns - written_ns) * 1e-9,
        advice={
            name: Advice(record, (now_ns - int(record["stamp_ns"])) * 1e-9)
            for name, record in (advice or {}).items()
        },
        news=news or {},
        felt=_name_felt(layout, tick) if has_sample else {},
    )


def _describe_latched(status: Record) -> str:
    return describe_reasons(int(status["latched"]), read_stop_reason(status))


def _name_drivers(layout: Layout, tick: Record) -> dict[str, str | None]:
    limbs = layout.leader.limbs
    return {
        limb: limbs[int(row)] if 0 <= int(row) < len(limbs) else None
        for limb, row in zip(layout.limbs, tick["driver"], strict=True)
    }


def _name_mappings(layout: Layout, tick: Record) -> dict[str, Vec]:
    rows = zip(layout.limbs, tick["mapping"], strict=True)
    known = {limb: D[:, np.isfinite(D).all(axis=0)] for limb, D in rows if D.size}
    return {limb: D for limb, D in known.items() if D.size}


def _name_felt(layout: Layout, tick: Record) -> dict[str, float]:
    taus = tick["sample"]["device_tau"].tolist()
    named = zip(layout.leader.device_joints, taus, strict=True)
    return {name: tau for name, tau in named if np.isfinite(tau)}


def _name_counts(status: Record) -> dict[str, int]:
    counts = status["counts"]
    return {r.name.lower(): int(counts[r]) for r in Reason if counts[r]}


def _name_objects(layout: Layout, tick: Record, status: Record) -> dict[str, Vec]:
    names = (*layout.objects, *layout.placed)
    rows = zip(names, (*status["objects"], *tick["placed"]), strict=True)
    return {name: row for name, row in rows if not np.isnan(row).any()}
