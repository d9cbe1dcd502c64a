"""The tick, from sample to set-point; it neither sleeps nor reads a clock."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from paprle.contracts.kit.motion_cues import CrossingCounter
from paprle.contracts.session_view import Advice
from paprle.contracts.settings.core import SessionSettings
from paprle.contracts.types import (
    Actions,
    Feedback,
    GateState,
    LeaderInfo,
    SessionState,
    Vec,
)
from paprle.ipc.records import (
    HeadCodec,
    Layout,
    Record,
    Request,
    SetpointHead,
    TickHead,
)
from paprle.session.decisions import Decisions
from paprle.session.episode import EpisodeLog
from paprle.session.inputs.frozen_input import StuckWatch
from paprle.session.inputs.mode_watch import ModeWatch
from paprle.session.motion import DesiredMotion
from paprle.session.settling import Settling
from paprle.session.situation import GATE_SILENCE_NS, Situation
from paprle.session.states import EPISODE_STATES, REQUESTS, SessionEvent, step_state

# Python 3.11 takes 0.1 µs to find a member of an enum, and a tick needs ten
_ENGAGED, _STOPPED = SessionState.ENGAGED, SessionState.STOPPED
_CLOSING, _WAITING = SessionState.CLOSING, SessionState.WAITING
_GATE_HOLDS = GateState.HOLD
_STANDSTILL_NS = 25_000_000  # chosen: five ticks of 200 Hz; nothing of ours takes that
_VALID_FOR_NS = 100_000_000  # spec: safety.md A1, T_stale
_NOTHING_ASKED = Actions()


class Core:
    """The session's state and its tick."""

    def __init__(
        self,
        settings: SessionSettings,
        leader: LeaderInfo,
        layout: Layout,
        motion: DesiredMotion,
        *,
        session_id: int,
        is_interactive: bool,
    ) -> None:
        self.state = SessionState.INIT
        self.episodes = EpisodeLog()
        self.motion, self.leaders = motion, motion.leaders
        self.stuck, self.modes = StuckWatch(leader), ModeWatch(leader)
        self.decisions = Decisions(
            settings, leader, motion, self.episodes, is_interactive=is_interactive
        )
        self._leader, self._is_reduced = leader, settings.reduced
        self._session_id = session_id
        self._setpoint: Record = np.zeros((), dtype=layout.setpoint)
        self._codec = HeadCodec(SetpointHead, layout.setpoint)
        self._q_des: Vec = self._setpoint["q_des"]
        self._dq_des: Vec = self._setpoint["dq_des"]
        self._rows = TickRows(layout)
        self.n_ticks, self.crossings = 0, CrossingCounter()
        self.actions = Actions()
        self._gate_state = GateState.DISARMED
        self.now_ns, self._entered_ns, self._stood_ns = 0, 0, -GATE_SILENCE_NS
        self._entered_seq, self._settling = 0, Settling()

    def place(self, objects: Mapping[str, Vec]) -> None:
        """Set T_world_object, xyz + quat_xyzw, by name."""
        self._rows.place(objects)
        self.motion.following.place(objects)

    @property
    def note(self) -> str:
        """A hint for the operator."""
        return self.decisions.note

    @property
    def end_reason(self) -> str:
        """The session's end reason; empty before."""
        return self.decisions.end_reason

    @end_reason.setter
    def end_reason(self, reason: str) -> None:
        self.decisions.end_reason = reason

    def step(
        self,
        now_ns: int,
        samples: Sequence[Record | None],
        status: Record,
        actions: Actions,
        advice: Mapping[str, Advice] | None = None,
    ) -> Output:
        """Run one tick; the next call overwrites the output."""
        self._note_standstill(now_ns)
        self.now_ns = now_ns
        self._entered_ns = self._entered_ns or now_ns
        self.n_ticks += 1
        self.episodes.events = []
        if self.episodes.notes:
            self.episodes.tell_notes(now_ns)
        is_asked = actions != self.actions
        asked = actions.since(self.actions) if is_asked else _NOTHING_ASKED
        self.actions = actions
        self.leaders.update(samples, now_ns)
        self.motion.take_status(status, now_ns)
        self._gate_state = self.motion.gate_view[0]
        if self._gate_state is _GATE_HOLDS:
            self.motion.drop_plan()
        if self.stuck.is_needed:
            self._watch_stuck()
        if self.modes.is_needed:
            for switch in self.modes.take(self.leaders.sample):
                self.episodes.add("mode", now_ns, **switch._asdict())
        situation = Situation(
            now_ns,
            self.state,
            self._entered_ns,
            self._gate_state,
            now_ns - self.motion.gate_stamp_ns > GATE_SILENCE_NS,
            self._stood_ns,
            asked,
            actions.quit,
        )
        self._move_state(self.decisions.decide(situation))
        is_over = self.state is _CLOSING and self.decisions.drive_closing()
        if self.episodes.is_ending:
            self.episodes.close(now_ns, is_standing=self._has_come_to_rest)
        self.motion.step(self.state, now_ns, advice)
        if self.state is _ENGAGED and self.motion.following.changed:
            self._tell_drivers()
        if self.modes.is_needed:
            self._tell_mappings(now_ns)
            self._tell_crossings(now_ns, advice or {})
        self._fill_setpoint(now_ns)
        return Output(self, self._rows, self._setpoint, is_over=is_over)

    @property
    def _has_come_to_rest(self) -> bool:
        # Until then a set-point of the state before may still set it moving.
        is_seen = self.motion.answered_seq >= self._entered_seq
        is_standing = is_seen and self.motion.is_standing
        return is_standing and self._settling.look(self.motion.status)

    def _note_standstill(self, now_ns: int) -> None:
        gap_ns = now_ns - self.now_ns
        if self.now_ns and _STANDSTILL_NS < gap_ns < GATE_SILENCE_NS:
            self._stood_ns = now_ns
            self.leaders.excuse(gap_ns)

    def make_last_setpoint(self, request: Request, now_ns: int) -> Record:
        """Return a last set-point: STOP after a failed tick, or DISARM."""
        self.n_ticks += 1
        self._fill_setpoint(now_ns)
        self._setpoint["request"] = request
        return self._setpoint

    def _watch_stuck(self) -> None:
        is_held = self.state in EPISODE_STATES and self.leaders.is_usable
        sample = self.leaders.sample
        record = None if sample is None else sample.record
        for limb in self.stuck.take(record, self.now_ns, is_held=is_held):
            self.episodes.add("stuck", self.now_ns, limb=limb)

    def _move_state(self, event: SessionEvent | None) -> None:
        before = self.state
        if event is None:
            return
        self.state = step_state(before, event)
        if self.state is before:
            return
        self._entered_ns, self._entered_seq = self.now_ns, self.n_ticks
        self.decisions.enter(self.state, event)
        self.motion.drop_plan()
        if self.state is _ENGAGED:
            self._tell_delays()
        if self.state is _WAITING:  # an episode begins by a press of its own
            self.leaders.spend_presses()
        if event is SessionEvent.REPOSTURE:
            self.motion.change_over()
        if before in EPISODE_STATES and self.state not in EPISODE_STATES:
            self.episodes.end(self.decisions.name_end(event), self.now_ns)
        self.episodes.add(
            "state",
            self.now_ns,
            before=before.name,
            after=self.state.name,
            why=event.name,
        )

    def _tell_delays(self) -> None:
        made = self.leaders.reconstruction
        for one in [] if made is None else made.delays:
            self.episodes.add("reconstruction", self.now_ns, **one._asdict())

    def _tell_drivers(self) -> None:
        limbs, names = self.motion.limb_names, self._leader.limbs
        driver = self.motion.driver.tolist()
        for i in self.motion.following.changed:
            who = "" if driver[i] < 0 else names[driver[i]]
            self.episodes.add("driver", self.now_ns, limb=limbs[i], leader=who)
        by_choice = self.motion.following.drivers.held
        left = set(self.motion.following.list_held()) - by_choice
        again = self._leader.engage_hint or "let go and engage again"
        told = [f"{_name(left, limbs)} held: nobody drives; {again}"] if left else []
        told += [f"{_name(by_choice, limbs)} held at the page"] if by_choice else []
        self.decisions.note = "; ".join(told)

    def _tell_mappings(self, now_ns: int) -> None:
        for limb, D in self.motion.following.take_mappings().items():
            name = self.motion.limb_names[limb]
            self.episodes.add("mapping", now_ns, limb=name, D=np.round(D, 6).tolist())

    def _tell_crossings(self, now_ns: int, advice: Mapping[str, Advice]) -> None:
        if self.crossings.take(advice):
            self.episodes.add("cue", now_ns, n=self.crossings.n)

    def _fill_setpoint(self, now_ns: int) -> None:
        is_engaged = self.state is _ENGAGED
        self._codec.write(
            self._setpoint,
            self._session_id,
            self.n_ticks,
            now_ns,
            self.motion.at_ns,
            self.leaders.arrived_ns if is_engaged else now_ns,
            _VALID_FOR_NS,
            self._choose_request(now_ns),
            self._is_reduced or not is_engaged,
            self.decisions.n_resets,
        )
        self.motion.fill_setpoint(self._q_des, self._dq_des)

    def _choose_request(self, now_ns: int) -> Request:
        motion, state = self.motion, self.state
        if state is _STOPPED:
            return Request.READY if self.decisions.is_clearing(now_ns) else Request.STOP
        request = REQUESTS[state]
        if state is _CLOSING and motion.has_plan:
            request = Request.MOVE
        is_waiting = state is not _ENGAGED and not motion.has_plan
        if self._gate_state is _GATE_HOLDS or is_waiting:
            return min(request, Request.READY)
        return request


def _name(limbs: Iterable[int], names: Sequence[str]) -> str:
    return ", ".join(names[i] for i in sorted(limbs))


class Output:
    """The results of a tick; row and feedback are made after sending."""

    def __init__(
        self, core: Core, rows: TickRows, setpoint: Record, *, is_over: bool
    ) -> None:
        self._core, self._rows = core, rows
        self.setpoint = setpoint
        self.events: list[dict[str, Any]] = core.episodes.events
        self.is_over = is_over

    @cached_property
    def tick(self) -> Record:
        """The recorder's row."""
        return self._rows.fill(self._core)

    @cached_property
    def feedback(self) -> Feedback:
        """The leaders' feedback."""
        core = self._core
        return Feedback(
            stamp_ns=core.now_ns,
            state=core.state,
            episode=core.episodes.number,
            is_engaged=core.state is SessionState.ENGAGED,
            n_keeps=core.actions.keep,
            n_plays=core.actions.play,
            n_cues=core.crossings.n,
        )


class TickRows:
    """The recorder's record of a tick."""

    def __init__(self, layout: Layout) -> None:
        self._record: Record = np.zeros((), dtype=layout.tick)
        self._codec = HeadCodec(TickHead, layout.tick)
        # a record within one is copied at once through its view, else field by field
        self._sample: Record = self._record["sample"]
        self._record["driver"] = -1
        self._has_axes = bool(layout.leader.axes)
        self._objects, self._placed = layout.placed, self._record["placed"]
        self._placed[...] = np.nan

    def place(self, objects: Mapping[str, Vec]) -> None:
        """Set objects' poses; others become NaN."""
        for row, name in enumerate(self._objects):
            self._placed[row] = objects.get(name, np.nan)

    def fill(self, core: Core) -> Record:
        """Return the last step's record; overwritten by the next."""
        record, motion, sample = self._record, core.motion, core.leaders.sample
        head = TickHead(
            k=core.n_ticks,
            stamp_ns=core.now_ns,
            state=core.state,
            episode=core.episodes.number,
            has_sample=sample is not None,
            sample_age_ns=(
                0 if sample is None else core.now_ns - core.leaders.arrived_ns
            ),
        )
        self._codec.write(record, *head)
        if sample is not None:
            self._sample[()] = sample.record
        record["driver"] = motion.driver
        rows = motion.fill_rows()
        record["raw"], record["target"] = rows.raw, rows.target
        record["given"] = rows.given
        target = motion.following.target
        record["is_far"] = 0.0 if target is None else target.is_far
        seen_ns = motion.gate_stamp_ns
        record["status_age_ns"] = record["stamp_ns"] - seen_ns if seen_ns else 0
        if self._has_axes:
            motion.following.fill_mappings(record["mapping"])
        record["q_des"], record["dq_des"] = motion.q_des, motion.dq_des
        record["err_pos"], record["err_rot"] = motion.err_pos, motion.err_rot
        return record
