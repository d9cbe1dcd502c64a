"""The tick: from the newest sample and the gate's status to the next set-point.

Everything a tick needs is an argument; it neither sleeps nor reads a clock, so the live
host and the virtual clock drive the same object.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from paprle.contracts.settings import SessionSettings
from paprle.contracts.types import Actions, GateState, LeaderInfo, SessionState, Vec
from paprle.gate.reason_text import describe_reasons, name_reasons
from paprle.gate.reasons import Reason
from paprle.ipc.records import (
    HeadCodec,
    Layout,
    Record,
    Request,
    SampleView,
    SetpointHead,
)
from paprle.retargeting.rules.base import Advice
from paprle.session.episode import EpisodeLog
from paprle.session.frozen_input import StuckWatch
from paprle.session.motion import Motion
from paprle.session.output import Output, TickRows
from paprle.session.states import EPISODE_STATES, REQUESTS, Event, step_state

_STALL_NS = 30_000_000_000  # chosen: longer than any start and any gap in a recording
# Python 3.11 takes 0.1 µs to find a member of an enum, and a tick needs ten
_ENGAGED, _STOPPED = SessionState.ENGAGED, SessionState.STOPPED
_CLOSING = SessionState.CLOSING
_GATE_HOLDS, _GATE_STOPPED = GateState.HOLD, GateState.STOPPED
_MOVING_STATES = frozenset({_ENGAGED, _CLOSING})
_GATE_SILENCE_NS = 250_000_000  # spec: safety.md K2
_STANDSTILL_NS = 25_000_000  # chosen: five ticks of 200 Hz; nothing of ours takes that
_VALID_FOR_NS = 100_000_000  # spec: safety.md A1, T_stale
_NOTHING_ASKED = Actions()
_CLEARING = 0.3  # [s] chosen: several periods of the slowest gate


class Core:
    """The session's state and its tick.

    Attributes:
        state: State of the session.
        episodes: Counts episodes, and the events of the recorder.
        leaders: All leaders' samples.
        motion: What is commanded.
        stuck: Notices a leader that no longer measures.
        note: What the operator should know or do next.
        end_reason: Why the session ends, once it does.
        now_ns: Time of the last tick, [ns].
        n_ticks: Number of the last tick, and of its set-point.
    """

    def __init__(
        self,
        settings: SessionSettings,
        leader: LeaderInfo,
        layout: Layout,
        motion: Motion,
        *,
        session_id: int,
        is_interactive: bool,
    ) -> None:
        self.state = SessionState.INIT
        self.episodes = EpisodeLog()
        self.motion, self.leaders = motion, motion.leaders
        self.stuck = StuckWatch(leader)
        self.note = ""
        self.end_reason = ""
        self._settings = settings
        self._leader = leader
        self._is_interactive = is_interactive
        self._session_id = session_id
        self._setpoint: Record = np.zeros((), dtype=layout.setpoint)
        self._codec = HeadCodec(SetpointHead, layout.setpoint)
        self._q_des: Vec = self._setpoint["q_des"]
        self._dq_des: Vec = self._setpoint["dq_des"]
        self._rows = TickRows(layout)
        self._n_resets = 0
        self.n_ticks = 0
        self._actions = Actions()
        self._asked = Actions()
        self._needs_press = False
        self._is_gate_silent = False
        self._was_engaged = False
        self._cleared_ns: int | None = None
        self._has_seen_stop = False
        self._is_park_over = False
        self._home_note = ""
        self._gate_state = GateState.DISARMED
        self.now_ns, self._entered_ns, self._stood_ns = 0, 0, -_GATE_SILENCE_NS
        self._deciders: dict[SessionState, Callable[[], Event | None]] = {
            SessionState.INIT: self._decide_init,
            SessionState.HOMING: self._decide_slow_move,
            SessionState.WAITING: self._decide_waiting,
            SessionState.ALIGNING: self._decide_aligning,
            SessionState.ENGAGED: self._decide_engaged,
            SessionState.CLUTCHED: self._decide_clutched,
            SessionState.RESETTING: self._decide_slow_move,
            SessionState.STOPPED: self._decide_stopped,
        }

    def step(
        self,
        now_ns: int,
        samples: Sequence[Record | None],
        status: Record,
        actions: Actions,
        advice: Mapping[str, Advice] | None = None,
    ) -> Output:
        """Run one tick.

        Args:
            now_ns: Monotonic time, [ns].
            samples: Newest record of each leader's mailbox.
            status: Newest status of the gate.
            actions: The operator's counters.
            advice: What advisors said last.

        Returns:
            Set-point, recorder's tick, feedback, events; to be used before the next
            call, which writes over them.
        """
        self._note_standstill(now_ns)
        self.now_ns = now_ns
        self._entered_ns = self._entered_ns or now_ns
        self.n_ticks += 1
        self.episodes.events = []
        is_asked = actions != self._actions
        self._asked = actions.since(self._actions) if is_asked else _NOTHING_ASKED
        self._actions = actions
        self.leaders.update(samples, now_ns)
        self.motion.take_status(status, now_ns)
        self._gate_state = self.motion.gate_view[0]
        self._is_gate_silent = now_ns - self.motion.gate_stamp_ns > _GATE_SILENCE_NS
        if self._gate_state is _GATE_HOLDS:
            self.motion.drop_plan()
        if self.stuck.is_needed:
            self._watch_stuck()
        self._move_state(self._decide())
        is_over = self.state is _CLOSING and self._drive_closing()
        if self.episodes.is_ending:
            self.episodes.close(now_ns, is_standing=self.motion.is_standing)
        self.motion.step(self.state, now_ns, advice)
        if self.state is _ENGAGED and self.motion.following.changed:
            self._tell_drivers()
        self._fill_setpoint(now_ns)
        return Output(self, self._rows, self._setpoint, is_over=is_over)

    def _note_standstill(self, now_ns: int) -> None:
        """Tell a machine that stood still from an operator who fell silent."""
        gap_ns = now_ns - self.now_ns
        if self.now_ns and _STANDSTILL_NS < gap_ns < _GATE_SILENCE_NS:
            self._stood_ns = now_ns
            self.leaders.excuse(gap_ns)

    def make_farewell(self, request: Request, now_ns: int) -> Record:
        """Return a last set-point: STOP when the tick itself failed, or DISARM."""
        self.n_ticks += 1
        self._fill_setpoint(now_ns)
        self._setpoint["request"] = request
        return self._setpoint

    def _watch_stuck(self) -> None:
        """Tell of a leader that is held and whose numbers stand still (row 2)."""
        is_held = self.state in EPISODE_STATES and self.leaders.is_usable
        sample = self.leaders.sample
        record = None if sample is None else sample.record
        for limb in self.stuck.take(record, self.now_ns, is_held=is_held):
            self.episodes.add("stuck", self.now_ns, limb=limb)

    # --- decisions: one method a state, each returns the event it found -------------

    def _decide(self) -> Event | None:
        if self._asked.quit and self.state is not _CLOSING:
            self.end_reason = self.end_reason or "quit"
            return Event.QUIT
        if self.state is _CLOSING and self._asked.stop:
            self._is_park_over = True
        if self._asked.discard and self.state not in EPISODE_STATES:
            self.episodes.discard(self.now_ns)
        has_stopped = self._gate_state is _GATE_STOPPED or bool(self._asked.stop)
        if has_stopped and self.state is not _STOPPED:
            return Event.STOP
        decide = self._deciders.get(self.state)
        event = None if decide is None else decide()
        return self._find_stall() if event is None else event

    def _find_stall(self) -> Event | None:
        """End a session that waits for what nobody is there to do."""
        if self.now_ns - self._entered_ns < _STALL_NS or self.state in _MOVING_STATES:
            return None
        if self._is_interactive or self._leader.is_human or self.motion.has_plan:
            return None
        self.end_reason = "stalled"
        self.note = self.note or "the gate did not get ready"
        return Event.QUIT

    def _decide_init(self) -> Event | None:
        return Event.READY if self._gate_state is GateState.READY else None

    def _decide_slow_move(self) -> Event | None:
        blocked = self.motion.plan_home(self._settings.speed)
        if blocked:
            self._home_note = f"not at home: {blocked}"
            return Event.ABORT
        return Event.ARRIVED if self.motion.has_arrived else None

    def _decide_waiting(self) -> Event | None:
        limit = self._settings.episodes
        sample = self.leaders.sample
        is_done = limit is not None and self.episodes.number >= limit
        if is_done or self.leaders.is_exhausted:
            self.end_reason = "done"
            return Event.QUIT
        obstacle = self._find_obstacle(sample)
        self.note = "; ".join(filter(None, (self._home_note, obstacle)))
        if obstacle or sample is None:
            return None
        self._home_note = ""
        self.episodes.begin(self.now_ns)
        return Event.START

    def _find_obstacle(self, sample: SampleView | None) -> str:
        """What keeps an episode from starting (S1); empty when nothing does."""
        if sample is None or not self.leaders.is_usable:
            return "waiting for the leader"
        if self._gate_state is not GateState.READY or not self.motion.is_standing:
            return "waiting for the follower"
        if not self._leader.is_human:
            is_asked = self.leaders.asks_to_start
            return "" if is_asked else "waiting for the leader's start signal"
        if not (self.leaders.asks_to_start or self._asked.engage):
            return f"{self._press} to start"
        return self.motion.find_start_refusal(sample, self._settings.start_bound)

    @property
    def _press(self) -> str:
        """What a person does to engage."""
        ways = (self._leader.engage_hint, "press Enter")
        return ", or ".join(filter(None, ways))

    def _decide_aligning(self) -> Event | None:
        if self._has_ended():
            return Event.END
        if self._is_disengaged():
            return Event.DISENGAGE
        blocked = self.motion.plan_alignment(
            self.leaders.get_sample(), self._settings.speed
        )
        if not blocked:
            return Event.ALIGNED if self.motion.has_arrived else None
        return self._give_up_aligning(blocked)

    def _give_up_aligning(self, blocked: str) -> Event:
        """A person may move clear; without one, waiting would last for ever."""
        self.note = f"cannot align: {blocked}"
        self.episodes.end("cannot align", self.now_ns)
        if self._leader.is_human:
            return Event.ABORT
        self.end_reason = "cannot align"
        return Event.QUIT

    def _decide_engaged(self) -> Event | None:
        if self._has_ended():
            return Event.END
        if self._asked.engage:
            self.note = f"paused; {self._press} to go on"
            self._needs_press = True
            return Event.DISENGAGE
        return Event.DISENGAGE if self._is_disengaged() else None

    def _decide_clutched(self) -> Event | None:
        if self._has_ended():
            return Event.END
        sample = self.leaders.sample
        has_pressed = bool(self._asked.engage)
        if sample is not None and sample.valid:  # tracking come back is no press (A5)
            has_pressed |= sample.engaged and not self._was_engaged
            self._was_engaged = sample.engaged
        is_usable = self.leaders.is_usable
        if not is_usable:
            self._needs_press = self._leader.is_human
        elif has_pressed:  # a press during silence is not one after it (S3)
            self._needs_press = False
        is_free = self._gate_state is GateState.READY and self.motion.is_standing
        may_go = is_usable if self._leader.is_human else self.leaders.is_steady
        if self._needs_press or not is_free or not may_go:
            return None
        if self._is_too_far():
            self._needs_press = True
            return None
        return Event.REALIGN if self.motion.needs_alignment else Event.REENGAGE

    def _is_too_far(self) -> bool:
        """Whether a person would re-engage from too far away (S1); says so."""
        if not self._leader.is_human:
            return False
        bound = self._settings.start_bound
        refusal = self.motion.find_start_refusal(self.leaders.get_sample(), bound)
        self.note = refusal or self.note
        return bool(refusal)

    def _has_ended(self) -> bool:
        """Whether operator, leader or time end the episode; notes why."""
        is_asked = bool(self._asked.next_episode or self._asked.discard)
        if is_asked:
            self.episodes.end(
                "next", self.now_ns, is_discarded=bool(self._asked.discard)
            )
        elif self.leaders.asks_to_end(self.now_ns):
            self.episodes.end("end signal", self.now_ns)
        elif self.episodes.lasts_longer(self._settings.duration, self.now_ns):
            self.episodes.end("time is up", self.now_ns)
        return self.episodes.is_ending

    def _is_disengaged(self) -> bool:
        """Whether the gate holds or the leader is lost; then a person must press."""
        is_lost = not self._has_leader() or self._is_gate_silent
        if not is_lost and self._gate_state is not _GATE_HOLDS:
            return False
        # a standstill of ours or the gate's is no silence of the operator's (S3)
        stood = 1 << Reason.STALLED
        if self.now_ns - self._stood_ns < _GATE_SILENCE_NS:
            stood |= 1 << Reason.COMMAND_STALE | 1 << Reason.STATE_STALE
        is_hiccup = not is_lost and not self.motion.latched & ~stood
        self._needs_press = self._leader.is_human and not is_hiccup
        holds = f"the gate holds: {describe_reasons(self.motion.latched)}"
        self.note = "leader lost" if is_lost else holds
        if self._is_gate_silent:
            self.note = "the gate was silent"
        if self._needs_press:
            again = (
                self._leader.engage_hint or "let go and engage again, or press Enter"
            )
            self.note += f"; {again}"
        return True

    def _has_leader(self) -> bool:
        """Whether anybody drives, or while aligning may drive."""
        drivers = self.motion.following.drivers
        if self.state is not _ENGAGED:
            return self.leaders.is_usable
        drivers.update()
        return drivers.is_any_driving

    def _decide_stopped(self) -> Event | None:
        why = self._describe_stop()
        if not self._is_interactive:
            self.end_reason, self.note = "stopped", why
            return Event.QUIT
        is_held = self._leader.is_human and self.leaders.is_usable
        first = "let go of the leader, then " if is_held else ""
        if self._cleared_ns is None or self._gate_state is _GATE_STOPPED:
            self.note = f"stopped: {why}; {first}press c to clear"
        if self._asked.clear and not is_held:
            self._n_resets += 1
            self._cleared_ns = self.now_ns
        if self._asked.stop:
            self._cleared_ns = None  # stop while clearing: the last word counts
        self._has_seen_stop |= self._gate_state is _GATE_STOPPED
        is_ready = self._gate_state is GateState.READY
        # READY may also be the gate's state from before it was told to stop
        is_reset = is_ready and self._has_seen_stop and self._cleared_ns is not None
        return Event.RESET if is_reset else None

    # --- transitions -----------------------------------------------------------------

    def _move_state(self, event: Event | None) -> None:
        before = self.state
        if event is None:
            return
        self.state = step_state(before, event)
        if self.state is before:
            return
        self._entered_ns = self.now_ns
        if self.state is _STOPPED:
            self._has_seen_stop, self._cleared_ns = False, None
            self.note = self._describe_stop()
        self.motion.drop_plan()
        self._was_engaged = True  # a deliberate press is an edge after this
        if self.state is _ENGAGED or event is Event.RESET:
            self.note = ""
        if before in EPISODE_STATES and self.state not in EPISODE_STATES:
            self.episodes.end(self._name_end(event), self.now_ns)
        self.episodes.add(
            "state",
            self.now_ns,
            before=before.name,
            after=self.state.name,
            why=event.name,
        )

    def _name_end(self, event: Event) -> str:
        if event is Event.STOP:
            return self._name_stop()
        return self.end_reason or event.name.lower()

    def _name_stop(self) -> str:
        if self._gate_state is not _GATE_STOPPED:
            return "stopped: operator_stop"
        named = name_reasons(self.motion.latched, self.motion.stop_reason)
        return f"stopped: {named}"

    def _describe_stop(self) -> str:
        if self._gate_state is not _GATE_STOPPED:
            return "operator_stop"
        return describe_reasons(self.motion.latched, self.motion.stop_reason)

    def _drive_closing(self) -> bool:
        """Brake to rest, park if asked and possible; True when that is done."""
        if self.episodes.is_ending:
            return False
        can_park = (
            self._settings.close_policy == "park"
            and self._gate_state in {GateState.READY, GateState.ENGAGED}
            and self._actions.quit < 2
            and not self._is_park_over
        )
        if not can_park:
            self.motion.drop_plan()
            return self.motion.is_standing or self._gate_state is GateState.DISARMED
        return bool(self.motion.plan_home(self._settings.speed)) or (
            self.motion.has_arrived
        )

    def _tell_drivers(self) -> None:
        """Tell operator and recorder which limbs changed their driver, and why."""
        limbs, names = self.motion.limb_names, self._leader.limbs
        driver = self.motion.driver.tolist()
        for i in self.motion.following.changed:
            who = "" if driver[i] < 0 else names[driver[i]]
            self.episodes.add("driver", self.now_ns, limb=limbs[i], leader=who)
        held = [limbs[i] for i in self.motion.following.list_held()]
        again = self._leader.engage_hint or "let go and engage again"
        self.note = f"{', '.join(held)} held: leader lost; {again}" if held else ""

    # --- records ---------------------------------------------------------------------

    def _fill_setpoint(self, now_ns: int) -> None:
        is_engaged = self.state is _ENGAGED
        head = SetpointHead(
            session_id=self._session_id,
            seq=self.n_ticks,
            stamp_ns=now_ns,
            at_ns=self.motion.at_ns,
            source_ns=self.leaders.arrived_ns if is_engaged else now_ns,
            valid_for_ns=_VALID_FOR_NS,
            request=self._choose_request(now_ns),
            reduced=not is_engaged,
            n_resets=self._n_resets,
        )
        self._codec.write(self._setpoint, head)
        self.motion.fill_setpoint(self._q_des, self._dq_des)

    def _choose_request(self, now_ns: int) -> Request:
        """What to ask of the gate: as the state says, unless there is nothing to do."""
        motion, state = self.motion, self.state
        if state is _STOPPED:
            return Request.READY if self._is_clearing(now_ns) else Request.STOP
        request = REQUESTS[state]
        if state is _CLOSING and motion.has_plan:
            request = Request.MOVE
        is_waiting = state is not _ENGAGED and not motion.has_plan
        if self._gate_state is _GATE_HOLDS or is_waiting:
            return min(request, Request.READY)
        return request

    def _is_clearing(self, now_ns: int) -> bool:
        """Whether the operator has just cleared the stop: time for the gate to see."""
        return (
            self._cleared_ns is not None
            and now_ns - self._cleared_ns <= _CLEARING * 1e9
        )
