"""Progress and summary of a session as text."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterator
from typing import Any

from paprle.contracts.operator.state_words import STATE_WORDS
from paprle.contracts.settings.core import SessionSettings
from paprle.contracts.types import GateState, SessionState
from paprle.gate.reasons import Reason
from paprle.hosts.operator.short_line import (
    LineFacts,
    OverrunCounter,
    describe_line,
)
from paprle.hosts.operator.standing import StandingDetector
from paprle.hosts.operator.terminal import Operator
from paprle.hosts.operator.tracking_watch import TrackingWatch, make_classifier
from paprle.hosts.plan import SessionPlan
from paprle.ipc.records import Record
from paprle.session.core import Core

_LONGEST_TASK = 24  # chosen: of a line of 80 letters
_HEARD = {SessionState.ENGAGED, SessionState.CLUTCHED, SessionState.STOPPED}
_BEHIND, _CAUGHT_UP = 0.05, 0.04  # [m] spec: requirements.md A11; chosen: hysteresis
_BETWEEN = {SessionState.RESETTING, SessionState.WAITING}


class Progress:
    """Composes the operator's texts and judges the tracking."""

    def __init__(
        self, core: Core, plan: SessionPlan, operator: Operator | None
    ) -> None:
        self._core, self._plan, self._settings = core, plan, plan.resolved.session
        self._task = plan.resolved.record.task
        core.episodes.subtasks = plan.resolved.record.subtasks
        self.tracking = TrackingWatch(make_classifier(plan))
        self._standing = StandingDetector(plan.robot)
        self._overruns = OverrunCounter()
        self._operator = operator
        self.is_behind = False
        if operator is not None:
            takers: dict[str, Callable[[str], None]] = {"task": self.take_task}
            if plan.resolved.record.dir is not None:  # else it would stand nowhere
                takers["note"] = self.take_note
            operator.let_type(self.may_type, takers)

    @property
    def attention(self) -> Callable[[], str] | None:
        """Finder of reasons for an alert; None if off."""
        return self._find_attention if self._settings.bell else None

    @property
    def was_left(self) -> bool:
        """Whether a leader without a human was mostly not followed."""
        is_most = self.tracking.session.is_most
        return is_most and not self._plan.layout.leader.is_human

    def note(self, tick: Record, status: Record) -> bool:
        """Keep a tick's numbers, in its thread; return whether it is judged."""
        return self.tracking.note(self._core, tick, status)

    def look(self) -> None:
        """Find and count causes of tracking errors."""
        self.tracking.update(self._core)
        newest = self.tracking.newest.findings
        causes = {one.limb: one.cause for one in newest if one.limb}
        self._standing.update(self._core, causes)
        farthest = max((one.pos for one in newest if one.pos > 0.0), default=0.0)
        is_led = self._core.state is SessionState.ENGAGED
        least = _CAUGHT_UP if self.is_behind else _BEHIND
        self.is_behind = is_led and farthest > least
        limbs = self._plan.retargeting.pairing.limbs
        stuck = {  # a camera that cannot go farther needs nobody's decision
            one.limb: one.cause
            for one in newest
            if one.is_stuck and limbs[one.limb].rule != "look_at"
        }
        self._core.motion.look_for_postures(stuck)

    def compose(
        self,
        n_overruns: int,
        recording: str,
        lost: Collection[str],
        width: int,
        link: str = "",
    ) -> str:
        """Return all facts in a line of a log, at best within ``width``."""
        self.look()
        if draft := self._show_draft():
            return f"WAITING   · {draft}"
        core = self._core
        gate_state, _ = core.motion.gate_view
        head = [f"{core.state.name:<9}", core.note, self._name_drivers(), self.number]
        is_closing = core.state is SessionState.CLOSING  # nothing is asked any more
        tail = ["" if is_closing else link, recording]
        tail += self.shortfalls
        tail += self.standing
        tail += [str(cut) for cut in self.tracking.newest.cuts if cut.share > 0.0]
        tail += ["BEHIND: wait for the robot"] if self.is_behind else []
        if core.stuck.limbs:
            tail.append(f"leader stuck: {', '.join(core.stuck.limbs)}")
        tail += [f"{name} LOST" for name in lost]
        is_odd = gate_state is not GateState.ENGAGED
        gate = [f"gate {gate_state.name}"] if is_odd else []
        gate += [f"{n_overruns} overruns"] if n_overruns else []
        fates = core.episodes.fates
        n_discarded = fates["discarded"]
        kept = f"kept {fates['kept']}"
        discarded = f", discarded {n_discarded}" if n_discarded else ""
        times = [_describe_time(core, self._settings)]
        is_between = core.episodes.begin_ns is None
        choices = (
            (head, [kept + discarded], times, self._tasks(), tail, gate),
            (head, [kept], times, self._tasks(), tail),
            (head, [kept], self._tasks() if is_between else times, tail),
            (head, times, tail),
        )
        lines = [" · ".join(p for part in c for p in part if p) for c in choices]
        return next((line for line in lines if len(line) <= width), lines[0])

    def compose_words(
        self,
        n_overruns: int,
        recording: str,
        lost: Collection[str],
        width: int,
        link: str = "",
    ) -> str:
        """Return the line of a person: plain words, the most urgent fact alone."""
        self.look()
        core = self._core
        if draft := self._show_draft():
            return f"{STATE_WORDS[SessionState.WAITING].word} · {draft}"
        is_closing = core.state is SessionState.CLOSING  # nothing is asked any more
        held = [*self.standing, *(f"{name} is stuck" for name in core.stuck.limbs)]
        if core.motion.gate_view[0] is GateState.HOLD and not core.note:
            held.append("the gate holds the robot")
        behind = ["wait for the robot"] if self.is_behind else []
        facts = LineFacts(
            state=core.state,
            is_still=self.is_still,
            note=core.note,
            episode=self._count_episodes(),
            time=_describe_time(core, self._settings),
            recording=recording,
            lost=tuple(lost),
            link="" if is_closing else link,
            held=held,
            short=[*behind, *self.shortfalls, *self.cuts],
            overruns=self._overruns.describe(n_overruns, core.now_ns),
            rest=[self._name_drivers(), *self._tasks(), "" if is_closing else link],
        )
        return describe_line(facts, width)

    def _show_draft(self) -> str:
        if self._operator is None or self._operator.draft is None:
            return ""
        return f"{self._operator.typing}: {self._operator.draft}_ (Enter takes it)"

    @property
    def shortfalls(self) -> list[str]:
        """Present causes of tracking errors."""
        return [str(one) for one in self.tracking.newest.findings]

    @property
    def standing(self) -> list[str]:
        """Limbs that stand although asked to move."""
        return [str(one) for one in self._standing.newest]

    @property
    def is_still(self) -> bool:
        """Whether the robot stands although asked to move."""
        return self._standing.is_still

    @property
    def cuts(self) -> list[str]:
        """Cut shares of the requested motion."""
        return [str(one) for one in self.tracking.newest.cuts]

    def summarise(self, n_overruns: int, recording: dict[str, Any]) -> Iterator[str]:
        """Yield the lines of a summary."""
        core = self._core
        self.tracking.update(core)
        short = self.tracking.session.summarise()
        reason = core.end_reason or "before it began"
        has_why = core.note and reason not in {"done", "quit"}
        why = f" ({core.note})" if has_why else ""
        n_failed = _count_failed(recording)
        told = f"{core.episodes.number} episode(s){_count(core, n_failed)}"
        yield f"ended: {reason}{why}, {told}"
        if short:
            yield short
        if stood := self._standing.summarise():
            yield stood
        if self.was_left:
            yield "the robot did not follow for most of the time: read the line above"
        if core.decisions.missed:
            yield core.decisions.missed
        counts = core.motion.gate_counts
        acted = [f"{r.name.lower()} {counts[r]}" for r in Reason if counts[r]]
        if acted:
            yield "gate acted (periods): " + ", ".join(acted)
        yield from _list_samples(core)
        if core.stuck.n_times:
            yield f"leader stuck (times): {core.stuck.n_times}"
        if core.modes.n_times:
            yield f"modes switched (times): {core.modes.n_times}"
        if n_overruns:
            yield f"missed deadlines: {n_overruns}"
        yield from _list_recordings(recording)

    @property
    def number(self) -> str:
        """The episode's number and their total."""
        limit, number = self._settings.episodes, self._core.episodes.n_kept + 1
        return f"ep {number}" if limit is None else f"ep {min(number, limit)}/{limit}"

    def _count_episodes(self) -> str:
        limit, number = self._settings.episodes, self._core.episodes.n_kept + 1
        if limit is None:
            return f"episode {number}"
        return f"episode {min(number, limit)} of {limit}"

    def _name_drivers(self) -> str:
        leaders = self._core.leaders
        if len(leaders.names) < 2:
            return ""
        rows = self._core.motion.driver.tolist()
        led_by = {leaders.names[leaders.owners[row]] for row in rows if row >= 0}
        if not led_by:
            return ""
        waiting = self._core.motion.following.drivers.waiting
        waits = {leaders.names[place] for place in waiting} - led_by
        told = f" ({', '.join(sorted(waits))} when it lets go)" if waits else ""
        return f"led by {', '.join(sorted(led_by))}{told}"

    def _tasks(self) -> list[str]:
        task = self._core.episodes.task or self._task
        short = task if len(task) <= _LONGEST_TASK else f"{task[:_LONGEST_TASK]}…"
        return [short]

    def _find_attention(self) -> str:
        core = self._core
        if core.state in _HEARD:
            return core.state.name + " behind" * self.is_behind
        if core.state is not SessionState.WAITING:
            return ""
        closed_ns, reset = core.episodes.closed_ns, self._settings.reset_time
        is_over = closed_ns is None or core.now_ns - closed_ns >= reset * 1e9
        return core.state.name if is_over else ""

    def may_type(self) -> bool:
        """Whether nothing moves."""
        return self._core.state is SessionState.WAITING

    def take_task(self, task: str) -> None:
        """Take the next episode's task."""
        self._core.episodes.task = task

    def take_note(self, text: str) -> None:
        """Add a note to the open or last episode."""
        if text:
            self._core.episodes.notes.append(text)


def _describe_time(core: Core, settings: SessionSettings) -> str:
    episodes = core.episodes
    if episodes.begin_ns is not None:
        return _measure(core.now_ns - episodes.begin_ns, settings.duration)
    if episodes.closed_ns is None or core.state not in _BETWEEN:
        return ""
    since_ns = core.now_ns - episodes.closed_ns
    return f"reset {_measure(since_ns, settings.reset_time or None)}"


def _measure(since_ns: int, limit: float | None) -> str:
    text = _clock(since_ns * 1e-9)
    return text if limit is None else f"{text} of {_clock(limit)}"


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60:02d}:{int(seconds) % 60:02d}"


def _count_failed(recording: dict[str, Any]) -> int:
    failures = recording.get("failures", ())
    return len({text.partition(":")[0] for text in failures})


def _count(core: Core, n_failed: int) -> str:
    fates, outcomes = core.episodes.fates, core.episodes.outcomes
    if not core.episodes.number:
        return ""
    n_failed = min(n_failed, fates["kept"])
    told = [f"kept {fates['kept'] - n_failed}"]
    told += [f"recording failed {n_failed}"] if n_failed else []
    told += [f"{name} {outcomes[name]}" for name in outcomes if outcomes[name]]
    if fates["discarded"]:
        redone = f" ({fates['redone']} to redo)" if fates["redone"] else ""
        told.append(f"discarded {fates['discarded']}{redone}")
    if fates["broken off"]:
        told.append(f"broken off {fates['broken off']}")
    return f": {', '.join(told)}"


def _list_samples(core: Core) -> Iterator[str]:
    if core.leaders.refused:
        refused = sorted(core.leaders.refused.items())
        told = ", ".join(f"{name} {n}" for name, n in refused)
        yield f"samples refused: {told}"
    if core.leaders.n_unwrapped:
        yield f"steps of a turn unwrapped in joints: {core.leaders.n_unwrapped}"


def _list_recordings(recording: dict[str, Any]) -> Iterator[str]:
    paths = recording.get("episodes", ())
    marks = recording.get("marks") or ["kept"] * len(paths)
    kept = []
    for path, mark in zip(paths, marks, strict=True):
        yield f"recorded: {path}" + ("" if mark == "kept" else f" ({mark})")
        if mark != "discarded":
            kept.append(path)
    if recording.get("dropped"):
        lost = [f"{name} {n}" for name, n in sorted(recording["dropped"].items())]
        yield f"records lost, the disk was too slow: {', '.join(lost)}"
    for text in recording.get("failures", ()):
        yield f"RECORDING FAILED: {text}"
    if kept:
        yield f"look at it with: paprle evaluate {kept[-1]}"


def list_remedies(recording: dict[str, Any]) -> Iterator[str]:
    """Yield recovery commands of failed recordings."""
    for path in recording.get("broken", ()):
        yield f"save what is on disk with: paprle recover {shlex.quote(path)}"
