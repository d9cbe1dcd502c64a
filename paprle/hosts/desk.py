"""What passes in words between a session and its pages, beside the tick."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from paprle.hosts.children import Children
from paprle.hosts.factories import list_controls
from paprle.hosts.news import NEWS, News
from paprle.hosts.plan import Plan
from paprle.hosts.progress import Progress
from paprle.ipc.ports import name_port
from paprle.ipc.records import Record
from paprle.ipc.wishes_record import WISHES, unpack_wishes
from paprle.session.core import Core


class Desk:
    """Says to pages what the terminal says, and takes from them what is asked for."""

    def __init__(
        self, children: Children, plan: Plan, core: Core, progress: Progress
    ) -> None:
        """Make it.

        Args:
            children: Where the pages are.
            plan: What the session is made of.
            core: Its state.
            progress: What is said at the terminal.
        """
        self._children, self._core, self._progress = children, core, progress
        self._pages = [
            children.box(name_port(WISHES, name))
            for name in list_controls(plan.resolved)
        ]
        self._news = News(children.box(NEWS))
        self._folder, self._task = plan.resolved.record.dir, plan.resolved.record.task
        self._leader = _describe_leader(plan)
        self._n_tasks: dict[int, int] = {}

    def read(self) -> list[Record | None]:
        """Return what is asked for at each page; cheap, for every tick."""
        return [page.read() for page in self._pages]

    def tell(self, text: str) -> None:
        """Let pages show a line that stays."""
        self._news.tell(text)

    def update(
        self,
        recording: str,
        episodes: list[dict[str, Any]],
        lost: Collection[str],
        n_overruns: int,
    ) -> None:
        """Tell pages what is newest, and take what was typed there.

        Args:
            recording: How the recording goes; empty when nothing is being recorded.
            episodes: What was recorded so far, the newest last.
            lost: Names of processes that are lost.
            n_overruns: Deadlines missed so far.
        """
        self._take_tasks()
        if self._children.is_read(NEWS):
            told = {**self._describe(), "recording": recording}
            told |= {"lost": list(lost), "overruns": n_overruns}
            self._news.write(told, episodes)

    def _describe(self) -> dict[str, Any]:
        """Return what is said of the session: ``note`` is what to know or do next."""
        core, episodes = self._core, self._core.episodes
        begin_ns = episodes.begin_ns
        return {
            "note": core.note,
            "episode": self._progress.number,
            "counts": {**episodes.fates, **episodes.outcomes},
            "seconds": None if begin_ns is None else (core.now_ns - begin_ns) // 10**9,
            "task": episodes.task or self._task,
            "folder": self._folder,
            "short": self._progress.shortfalls,
            "leader": self._leader,
        }

    def _take_tasks(self) -> None:
        """Take the task that somebody gave at a page, once nothing moves."""
        if not self._progress.may_type():
            return
        for i, record in enumerate(self.read()):
            if record is not None and int(record["n_tasks"]) != self._n_tasks.get(i, 0):
                wishes = unpack_wishes(record)
                self._n_tasks[i] = wishes.n_tasks
                self._progress.take_task(wishes.task)


def _describe_leader(plan: Plan) -> dict[str, Any]:
    """Return how it is begun, and what of the robot is moved at a page."""
    at_page = [one.info for one in plan.leaders.values() if one.is_at_page]
    limbs = [limb.name for limb in plan.robot.info.limbs]
    hands = {limb for info in at_page for limb in info.limbs}
    return {
        "hint": plan.layout.leader.engage_hint,
        "hands": [limb for limb in limbs if limb in hands],
        "emits": at_page[0].emits if at_page else "",
    }
