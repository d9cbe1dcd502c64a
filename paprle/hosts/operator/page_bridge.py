"""Exchange of text with a session's pages."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from paprle.hosts.factories import list_controls
from paprle.hosts.operator.operator_messages import NEWS, News
from paprle.hosts.operator.progress import Progress
from paprle.hosts.plan import SessionPlan
from paprle.hosts.roles import SESSION_RING
from paprle.hosts.supervisor import Children
from paprle.ipc.ports import name_port
from paprle.ipc.records import Record, Stream
from paprle.ipc.wishes_record import WISHES, find_held, find_placed, unpack_wishes
from paprle.link.remote_leader.error_report import ErrorRow, describe_errors
from paprle.session.core import Core

_N_ROWS = 240  # chosen: two seconds of two hands
_RECENT_NS = 2_000_000_000  # [ns] chosen: rows come within a second, by the network
_PLACES = {name: place for place, name in enumerate(ErrorRow._fields)}


class Desk:
    """Posts texts to pages and reads their requests."""

    def __init__(
        self, children: Children, plan: SessionPlan, core: Core, progress: Progress
    ) -> None:
        self._children, self._core, self._progress = children, core, progress
        self._pages = [
            children.box(name_port(WISHES, name))
            for name in list_controls(plan.resolved)
        ]
        self._news = News(children.box(NEWS))
        self._folder, self._task = plan.resolved.record.dir, plan.resolved.record.task
        self._leader = _describe_leader(plan)
        self._placed = plan.layout.placed
        self._n_taken: dict[tuple[int, str], int] = {}
        self._far: deque[list[Any]] = deque(maxlen=_N_ROWS)
        self._streams: dict[str, dict[str, int]] = {}

    def read(self) -> list[Record | None]:
        """Return each page's requests."""
        return [page.read() for page in self._pages]

    @property
    def is_watched(self) -> bool:
        """Whether somebody has a page open."""
        return any(
            page is not None and bool(page["is_watched"]) for page in self.read()
        )

    def obey(self, pages: Sequence[Record | None]) -> None:
        """Hold the pages' held limbs; note placed objects."""
        said = [page for page in pages if page is not None]
        held = map(find_held, said)
        self._core.motion.following.drivers.hold(frozenset().union(*held))
        if self._placed:
            placed = {
                name: row for page in said for name, row in find_placed(page).items()
            }
            self._core.place(placed)

    def tell(self, text: str) -> None:
        """Post a persistent line."""
        self._news.tell(text)

    def pass_far_on(self, now_ns: int) -> None:
        """Record remote measurements; keep them for pages."""
        for told in self._children.take_far():
            event = json.dumps({**told, "t_ns": now_ns}).encode()
            self._children.ring(SESSION_RING).push(Stream.EVENT, event)
            self._far.extend(told["rows"])
            self._streams = told["streams"]

    def update(
        self,
        recording: str,
        episodes: list[dict[str, Any]],
        lost: Collection[str],
        n_overruns: int,
    ) -> None:
        """Post the newest state; take typed texts."""
        self._take_texts()
        if self._children.is_read(NEWS):
            told = {**self._describe(), "recording": recording}
            told |= {"lost": list(lost), "overruns": n_overruns}
            told["far"] = self._describe_far()
            self._news.write(told, episodes)

    def _describe(self) -> dict[str, Any]:
        core, episodes = self._core, self._core.episodes
        begin_ns = episodes.begin_ns
        return {
            "note": core.note,
            "episode": self._progress.number,
            "counts": {**episodes.fates, **episodes.outcomes},
            "seconds": None if begin_ns is None else (core.now_ns - begin_ns) // 10**9,
            "task": episodes.task or self._task,
            "noted": list(episodes.noted),
            "folder": self._folder,
            "short": self._progress.shortfalls,
            "standing": self._progress.standing,
            "is_still": self._progress.is_still,
            "offers_posture": core.motion.offer is not None,
            "cuts": self._progress.cuts,
            "behind": self._progress.is_behind,
            "leader": self._leader,
            "objects": list(self._placed),
        }

    def _describe_far(self) -> dict[str, str]:
        since_ns = self._core.now_ns - _RECENT_NS
        rows = [row for row in self._far if row[0] > since_ns]

        def find(name: str) -> float | None:
            known = [v for row in rows if (v := row[_PLACES[name]]) is not None]
            return float(np.median(known)) if known else None

        return describe_errors(find, self._streams)

    def _take_texts(self) -> None:
        for i, record in enumerate(self.read()):
            if record is None:
                continue
            if self._is_new(i, "n_notes", record):
                self._progress.take_note(unpack_wishes(record).note)
            if self._progress.may_type() and self._is_new(i, "n_tasks", record):
                self._progress.take_task(unpack_wishes(record).task)

    def _is_new(self, page: int, counter: str, record: Record) -> bool:
        n, before = int(record[counter]), self._n_taken.get((page, counter), 0)
        self._n_taken[page, counter] = n
        return n != before


def _describe_leader(plan: SessionPlan) -> dict[str, Any]:
    at_page = [one.info for one in plan.leaders.values() if one.is_at_page]
    limbs = [limb.name for limb in plan.robot.info.limbs]
    hands = {limb for info in at_page for limb in info.limbs}
    slots = zip(limbs, plan.retargeting.slots, strict=True)
    led = [limb for limb, sources in slots if sources]
    return {
        "hint": plan.layout.leader.engage_hint,
        "hands": [limb for limb in limbs if limb in hands],
        "led": led if len(led) > 1 else [],
        "emits": at_page[0].emits if at_page else "",
        "keeps_poses": any(one.keeps_poses for one in plan.leaders.values()),
    }
