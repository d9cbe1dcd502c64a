"""The process of one advisor."""

from __future__ import annotations

import contextlib
import os
import time

from paprle.config.laws import list_named
from paprle.contracts.plugins import Advisor
from paprle.hosts.factories import make_advisor, read_payload
from paprle.hosts.roles import ADVICE
from paprle.hosts.views.view import SightReader
from paprle.ipc.loop import BESIDE_PRIORITY, DeadlineLoop
from paprle.ipc.ports import LatestPort, name_port, split_name
from paprle.ipc.process import Role, is_closed, run_role


class AdvisorHost:
    """One advisor with inputs and advice."""

    def __init__(self, role: Role) -> None:
        resolved, robot = read_payload(role.payload)
        _, name = split_name(role.payload["name"])
        self._role = role
        self._rate = list_named(resolved.advisors)[name].rate
        self._sight = SightReader(role, resolved, robot, self._rate)
        self._advisor: Advisor = make_advisor(resolved, robot, name)
        box = role.fds[name_port(ADVICE, name)]
        self._advice = LatestPort(self._advisor.advice).open(box)

    def run(self) -> None:
        """Run until the session ends."""
        try:
            self._advisor.open()
            self._role.report("ready", notes=list(self._advisor.notes))
            _go_before_pages()
            loop = DeadlineLoop(self._rate)
            while not is_closed(self._role.fds["session_alive"]):
                loop.wait()
                self.step(time.monotonic_ns())
        finally:
            self._advisor.close()
            for text in self._advisor.closing_notes:
                self._role.report("summary", message=text)

    def step(self, now_ns: int) -> None:
        """Ask for advice, if the session has begun."""
        sight = self._sight.read(now_ns)
        if sight is None:
            return
        record = self._advisor.advise(*sight)
        if record is not None:
            self._advice.write(record)
        for text in self._advisor.take_warnings():
            self._role.report("trouble", message=text)


def _go_before_pages() -> None:
    # Threads that it starts later are ordinary ones: a network takes no processor away.
    if hasattr(os, "sched_setscheduler"):
        policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, policy, os.sched_param(BESIDE_PRIORITY))


def main(role: Role) -> None:
    """Host the advisor."""
    AdvisorHost(role).run()


if __name__ == "__main__":
    run_role(main)
