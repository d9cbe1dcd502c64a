"""The operator's host of a remote session (``paprle lead``)."""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING

from paprle.config import Resolved
from paprle.contracts.errors import ConfigError, DeviceError
from paprle.contracts.plugins import Leader, Link
from paprle.contracts.types import Actions, LeaderSample
from paprle.hosts.factories import list_observers, make_leader
from paprle.hosts.operator.status import StatusLine, print_line
from paprle.hosts.operator.terminal import Operator
from paprle.hosts.two_hosts.far_watch import FarWatch
from paprle.hosts.two_hosts.stage_scheduler import LOOK_RATE, pin
from paprle.ipc.loop import DeadlineLoop, Promoter, request_realtime
from paprle.link.opening import LEADER, make_link, read_key
from paprle.link.quality import LinkQuality
from paprle.link.remote_leader.hand_poses import make_placing
from paprle.link.remote_leader.operator_side import (
    OperatorSide,
    describe_remote,
    make_feedback,
)
from paprle.link.remote_leader.robot_side import make_far_info

if TYPE_CHECKING:
    from paprle.hosts.two_hosts.lead_pages import LeadPages
    from paprle.hosts.two_hosts.remote_haptics import Forces

_NO_PAGE = "no page of the robot here: add follower=NAME of the robot that is led"
_SURE = 0.5  # chosen: of the share; as the law ``contact`` has it


class Lead:
    """One leader and its link."""

    def __init__(
        self, resolved: Resolved, operator: Operator, *, knows_robot: bool = False
    ) -> None:
        """Prepare; the config's env is not used.

        Raises:
            ConfigError: Without peer or key, or if feedback cannot cross the link.
        """
        settings = resolved.link
        if settings.peer is None:
            raise ConfigError("link.peer: expected the robot's host, got none")
        self.leader: Leader = make_leader(resolved)
        self._pages: LeadPages | None = None
        if list_observers(resolved) and not knows_robot:
            raise ConfigError(
                "observers: expected follower=NAME of the robot to show, got none"
            )
        if list_observers(resolved):
            from paprle.hosts.two_hosts.lead_pages import LeadPages  # noqa: PLC0415 - heavy

            self._pages = LeadPages(resolved, self.leader)
        self._knows_robot = knows_robot
        self._operator, self.closing_notes = operator, list[str]()
        info = make_far_info(self.leader.info)
        self.side = OperatorSide(read_key(settings), info, settings.repeats)
        self._link: Link = make_link(settings, LEADER, is_leader=True)
        self._place = make_placing(self.leader.info)
        self._quality, self._watch = LinkQuality(), FarWatch(self.side)
        self._forces: Forces | None = None
        if self.leader.info.renders == "torque" and self.leader.info.arms:
            from paprle.hosts.two_hosts.remote_haptics import Forces  # noqa: PLC0415 - heavy

            self._forces = Forces(resolved, self.leader)

    def open(self) -> list[str]:
        """Open the link, then the leader.

        Returns:
            Notes for the operator.

        Raises:
            DeviceError: If one cannot be opened.
        """
        info = make_far_info(self.leader.info)
        pages = self._start_pages()
        try:
            self._link.open()
            self.leader.open()
        except DeviceError:
            self._link.close()
            if self._pages is not None:
                self._pages.close()
            raise
        if not self._knows_robot:
            pages = [_NO_PAGE]
        remote = describe_remote(info, has_forces=self._forces is not None)
        notes = [*self.leader.notes, f"at the robot: {remote}", *pages]
        if self._forces is not None:
            self._forces.start()
            notes += self._forces.notes
        return notes

    def step(self, now_ns: int) -> bool:
        """Run one cycle; return True if the leader is exhausted."""
        keys = self._operator.actions
        if self._pages is not None:
            keys = self._pages.press(keys)
        sample = self.leader.latest()
        if sample is not None:
            sample = self._complete(sample, keys)
            self._watch.note_sample(sample, now_ns)
        view = self.side.step(self._link.receive(), sample, now_ns)
        self._post()
        clock = self.side.end.clock
        self._quality.look(clock, now_ns)
        if view is not None:
            self._watch.note_view(view, now_ns)
        if self._watch.is_due(now_ns) and self._pages is not None:
            self._pages.show(self.side, self._watch)
            self._watch.period_ns = self._pages.period_ns
        if self._forces is not None:
            self._forces.step(view, now_ns)
        elif view is not None:
            self.leader.apply(make_feedback(view, now_ns))
        if self.side.end.refusal and self.side.view is None:
            raise DeviceError(f"link: {self.side.end.refusal}")
        return sample is not None and sample.is_exhausted

    def describe(self) -> str:
        """Return the state of session, robot and link; post it."""
        line = self._compose()
        if self._pages is not None:
            self._pages.say(line, self.side, self._watch)
        return line

    def _compose(self) -> str:
        now_ns, view = time.monotonic_ns(), self.side.view
        silence = self.side.watch.find_silence(now_ns)
        link = self._quality.describe(silence)
        if view is None:
            return f"WAITING-FOR-ROBOT link {link}"
        way = (self.side.view_ns - view.captured_ns) * 1e-6 if view.captured_ns else 0.0
        is_met = self._forces is not None and any(
            one.share > _SURE for one in view.holds
        )
        held = " · robot held by what it meets" if is_met else ""
        held = f" · robot does not move: {view.standing}" if view.standing else held
        held = f" · robot held: {view.why}" if view.is_held else held
        state = "LOST" if link.startswith("LOST") else view.state.name
        felt = "" if self._forces is None else f" · {self._forces.describe(now_ns)}"
        felt += f" · {off}" if (off := self._watch.errors.describe()) else ""
        robot = f"confirmed {way:.0f} ms after your hand{held}{felt}"
        return f"{state} link {link} · {robot} · {self._quality.describe_clock()}"

    def close(self) -> None:
        """Send goodbyes; close device and network."""
        self.side.send_disconnects(time.monotonic_ns())
        self._post()
        self._link.close()
        try:
            self.closing_notes = [] if self._forces is None else [self._forces.close()]
        finally:  # whatever its thread did not do, torque is switched off
            self.leader.close()
            if self._pages is not None:
                self._pages.close()
        words = (*self.closing_notes, *self.leader.closing_notes, self._summarise())
        self.closing_notes = [text for text in words if text]

    def pin(self) -> str:
        """Pin the loop apart from the pages; return a note on failure."""
        return pin(is_loop=True) if self._pages is not None else ""

    def take_words(self) -> list[str]:
        """Return new notes."""
        forces = [] if self._forces is None else self._forces.take_words()
        told = [*self.side.take_words(), *self.leader.take_warnings(), *forces]
        if self._pages is not None:
            told += self._pages.take_words()
            for text in told:
                self._pages.tell(text)
        return told

    def _start_pages(self) -> list[str]:
        if self._pages is None:
            return []
        return self._pages.start(lambda: self._operator.actions.quit > 0)

    def _summarise(self) -> str:
        refused = self.side.end.refused
        counts = ", ".join(f"{why} {n}" for why, n in sorted(refused.items()))
        counts_sent = self.side.counts
        errors = self._watch.errors.summarise(counts_sent) or "the robot was not led"
        n_sent = counts_sent.captures_sent
        return f"{n_sent} captures sent; refused: {counts or 'nothing'}; {errors}"

    def _post(self) -> None:
        for data in self.side.take_outbox():
            self._link.send(data)

    def _complete(self, sample: LeaderSample, keys: Actions) -> LeaderSample:
        sums = [a + b for a, b in zip(sample.actions, keys, strict=True)]
        return replace(self._place(sample), actions=Actions(*sums))


def lead(resolved: Resolved, *, knows_robot: bool) -> int:
    """Send a leader's captures to the robot's host.

    Returns:
        The exit code.

    Raises:
        ConfigError: If something does not fit; nothing was opened.
        DeviceError: If leader or network fail, or the host refuses.
    """
    operator, signals = Operator(), list[int]()
    made = Lead(resolved, operator, knows_robot=knows_robot)

    def note(number: int, _frame: FrameType | None) -> None:
        signals.append(number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, note)
    for text in made.open():
        print_line(text)
    keys = _share_terminal(operator)
    status = StatusLine(made.describe, enabled=resolved.session.status)
    # in phase: observers know by the clock when a picture is made
    loop, promoter = DeadlineLoop(LOOK_RATE, turn=0.0), Promoter()
    is_over = False
    try:
        operator.open()
        status.open()
        request_realtime()
        if text := made.pin():
            status.tell(text)
        while not (signals or is_over or operator.actions.quit > 1):
            loop.wait()
            promoter.look()  # the link and the forces have threads of their own
            is_over = made.step(time.monotonic_ns())
            for text in made.take_words():
                status.tell(text)
    finally:
        status.close()
        operator.close()
        made.close()
        for fd in keys:
            os.close(fd)
        for text in made.closing_notes:
            print_line(text)
    return 128 + signals[0] if signals else 0


def _share_terminal(operator: Operator) -> tuple[int, ...]:
    if not operator.is_interactive:
        return ()
    sys.stdin = os.fdopen(os.dup(0))
    read, write = os.pipe()
    os.dup2(read, 0)
    operator.forward_to([write])
    return read, write
