"""Advisors on a virtual clock, in lock-step."""

from __future__ import annotations

from paprle.config import Resolved
from paprle.config.laws import list_named
from paprle.contracts.plugins import Advice, Advisor, Clock
from paprle.contracts.types import RobotInfo
from paprle.hosts.factories import make_advisor
from paprle.hosts.views.view import make_view
from paprle.ipc.records import Layout, Record


class Advised:
    """The advisors of a session; they see no images."""

    def __init__(
        self, resolved: Resolved, robot: RobotInfo, layout: Layout, clock: Clock
    ) -> None:
        configs = list_named(resolved.advisors)
        self.advisors: dict[str, Advisor] = {
            name: make_advisor(resolved, robot, name, clock) for name in configs
        }
        self._periods_ns = {name: 1e9 / one.rate for name, one in configs.items()}
        self._due_ns = dict.fromkeys(configs, 0.0)
        self._layout, self._clock = layout, clock
        self._said: dict[str, Record] = {}

    def open(self) -> None:
        """Open all advisors."""
        for advisor in self.advisors.values():
            advisor.open()

    def read(self) -> dict[str, Advice]:
        """Return each advisor's last advice with its age."""
        now_ns = self._clock()
        return {
            name: Advice(record, (now_ns - int(record["stamp_ns"])) * 1e-9)
            for name, record in self._said.items()
        }

    def step(self, tick: Record, status: Record) -> None:
        """Ask the advisors that are due."""
        now_ns = self._clock()
        due = [name for name, at_ns in self._due_ns.items() if now_ns >= at_ns]
        if not due:
            return
        view = make_view(self._layout, tick, status, now_ns, self._said)
        for name in due:
            self._due_ns[name] = (
                max(self._due_ns[name], now_ns) + self._periods_ns[name]
            )
            record = self.advisors[name].advise(view, {})
            if record is not None:
                self._said[name] = record
