"""The decisions of a tick: one method per state returns an event."""

from __future__ import annotations

import math
from collections.abc import Callable

from paprle.contracts.operator.actions import KEY_CAPS
from paprle.contracts.settings.core import SessionSettings
from paprle.contracts.types import Actions, GateState, LeaderInfo, SessionState
from paprle.gate.reason_text import describe_reasons, name_reasons
from paprle.ipc.records import SampleView
from paprle.session.episode import EpisodeLog, name_end
from paprle.session.motion import DesiredMotion
from paprle.session.postures import WHOLE, Offer, Start
from paprle.session.press_words import tell_again, tell_press, tell_wait
from paprle.session.situation import Situation
from paprle.session.states import EPISODE_STATES, SessionEvent

_STALL_NS = 30_000_000_000  # chosen: longer than any start and any gap in a recording
# Python 3.11 takes 0.1 µs to find a member of an enum, and a tick needs ten
_ENGAGED, _STOPPED = SessionState.ENGAGED, SessionState.STOPPED
_CLOSING = SessionState.CLOSING
_GATE_HOLDS, _GATE_STOPPED = GateState.HOLD, GateState.STOPPED
_MOVING_STATES = frozenset({_ENGAGED, _CLOSING})
_PATIENCE_NS = 1_000_000_000  # chosen: a limit that is touched is soon left again
_HALF_TURN = math.pi  # [rad] spec: what the session realigns by itself
_CLEARING = 0.3  # [s] chosen: several periods of the slowest gate


class Decisions:
    """Finds each tick's event, with texts for the operator."""

    def __init__(
        self,
        settings: SessionSettings,
        leader: LeaderInfo,
        motion: DesiredMotion,
        episodes: EpisodeLog,
        *,
        is_interactive: bool,
    ) -> None:
        self.note = ""
        self.end_reason = ""
        self.missed = ""
        self.n_resets = 0
        self._offer: Offer | None = None
        self._offered_ns = 0
        self._start: Start | None = None
        self.motion, self.leaders, self.episodes = motion, motion.leaders, episodes
        self._settings = settings
        self._leader = leader
        self._is_interactive = is_interactive
        self._longest_wait_ns = _STALL_NS + round(settings.reset_time * 1e9)
        self._needs_press = self._is_asked = False
        self._n_presses = 0
        self._cleared_ns: int | None = None
        self._has_seen_stop = False
        self._is_park_over = False
        self._home_note = ""
        self._now = Situation(
            0, SessionState.INIT, 0, GateState.DISARMED, False, 0, Actions(), 0
        )
        self._deciders: dict[SessionState, Callable[[], SessionEvent | None]] = {
            SessionState.INIT: self._decide_init,
            SessionState.HOMING: self._decide_slow_move,
            SessionState.WAITING: self._decide_waiting,
            SessionState.ALIGNING: self._decide_aligning,
            SessionState.ENGAGED: self._decide_engaged,
            SessionState.CLUTCHED: self._decide_clutched,
            SessionState.RESETTING: self._decide_slow_move,
            SessionState.STOPPED: self._decide_stopped,
        }

    def enter(self, state: SessionState, event: SessionEvent) -> None:
        """Note the transition to a state."""
        if state is _STOPPED:
            self._has_seen_stop, self._cleared_ns = False, None
            self.note = self._describe_stop()
        self._n_presses = self.leaders.n_presses  # a deliberate press comes after this
        if state is _ENGAGED or event is SessionEvent.RESET:
            self.note = self.missed if state is _ENGAGED else ""
            self._offer = None
        elif self.note == self.missed:
            self.note = ""
        if event is SessionEvent.REPOSTURE:
            self.note = "taking another posture; the leader waits"

    def decide(self, situation: Situation) -> SessionEvent | None:
        """Return the event of this tick, or None."""
        self._now = now = situation
        if now.asked.quit and now.state is not _CLOSING:
            self.end_reason = self.end_reason or "quit"
            return SessionEvent.QUIT
        if now.state is _CLOSING and now.asked.stop:
            self._is_park_over = True
        if now.state not in EPISODE_STATES and any(now.asked):
            self.episodes.judge(now.asked, now.now_ns)
        if now.state in EPISODE_STATES:
            self.episodes.take_marks(now.asked, now.now_ns)
        has_stopped = now.gate is _GATE_STOPPED or bool(now.asked.stop)
        if has_stopped and now.state is not _STOPPED:
            return SessionEvent.STOP
        decide = self._deciders.get(now.state)
        event = None if decide is None else decide()
        return self._find_stall() if event is None else event

    def _find_stall(self) -> SessionEvent | None:
        if (
            self._now.state in _MOVING_STATES
            or self._now.now_ns - self._now.entered_ns < self._longest_wait_ns
        ):
            return None
        if self._is_interactive or self._leader.is_human or self.motion.has_plan:
            return None
        self.end_reason = "stalled"
        self.note = self.note or "the gate did not get ready"
        return SessionEvent.QUIT

    def _decide_init(self) -> SessionEvent | None:
        return SessionEvent.READY if self._now.gate is GateState.READY else None

    def _decide_slow_move(self) -> SessionEvent | None:
        if self._leader.is_human and self._now.was_away(self.motion.latched):
            self._home_note = "not at home: session or gate stood still"
            return SessionEvent.ABORT
        blocked = self.motion.plan_home(self._settings.speed)
        if blocked:
            self._home_note = f"not at home: {blocked}"
            return SessionEvent.ABORT
        return SessionEvent.ARRIVED if self.motion.has_arrived else None

    def _decide_waiting(self) -> SessionEvent | None:
        if self.episodes.is_ending:
            return None  # the gate has not seen its end, or the arm does not stand
        limit = self._settings.episodes
        sample = self.leaders.sample
        is_done = limit is not None and self.episodes.n_kept >= limit
        if is_done or self.leaders.is_exhausted:
            self.end_reason = "done"
            return SessionEvent.QUIT
        if self._now.asked.next_episode:
            return SessionEvent.HOME
        self.leaders.accept_jumps(self._now.now_ns)  # each play begins anew
        obstacle = self._find_obstacle(sample)
        self.note = "; ".join(filter(None, (self._home_note, obstacle)))
        if obstacle or sample is None:
            return None
        self._home_note = ""
        self.episodes.begin(self._now.now_ns)
        self.motion.most_turn = math.inf  # the operator has asked for this motion
        return SessionEvent.START

    def _find_obstacle(self, sample: SampleView | None) -> str:
        if sample is None or not self.leaders.is_usable:
            return tell_wait(self._leader, is_spent=self.leaders.is_spent)
        if self._now.gate is not GateState.READY or not self.motion.is_standing:
            return "waiting for the follower"
        if not self._leader.is_human:
            return self._find_obstacle_of_machine()
        if not (self.leaders.asks_to_start or self._now.asked.engage):
            return f"{tell_press(self._leader)} to start"
        return self.motion.find_start_refusal(sample, self._settings.start_bound)

    def _find_obstacle_of_machine(self) -> str:
        if self._is_reset_time and not self._now.asked.engage:
            more = f", or press {KEY_CAPS['engage']}" if self._is_interactive else ""
            return f"reset the scene{more}"
        is_asked = self.leaders.asks_to_start
        return "" if is_asked else "waiting for the leader's start signal"

    @property
    def _is_reset_time(self) -> bool:
        closed_ns = self.episodes.closed_ns
        if closed_ns is None:
            return False
        return self._now.now_ns - closed_ns < self._settings.reset_time * 1e9

    def _decide_aligning(self) -> SessionEvent | None:
        if self._has_ended():
            return SessionEvent.END
        if self._is_disengaged():
            return SessionEvent.DISENGAGE
        blocked = self.motion.plan_alignment(
            self.leaders.get_sample(), self._settings.speed, self._settings.start_bound
        )
        if far := self.motion.find_far_joint():
            return self._hold_apart(far)
        if self.motion.start is not self._start:
            self._tell_start(self.motion.start)
        if not blocked:
            return SessionEvent.ALIGNED if self.motion.has_arrived else None
        return self._give_up_aligning(blocked)

    def _hold_apart(self, far: str) -> SessionEvent:
        if not self._is_interactive:
            return self._give_up_aligning(f"{far}, more than half a turn")
        self.note = (
            f"{far}, more than half a turn; press {KEY_CAPS['engage']} to go there"
        )
        self._needs_press = True
        return SessionEvent.DISENGAGE

    def _tell_start(self, start: Start | None) -> None:
        self._start, missed = start, []
        choices = {} if start is None else start.choices
        reaching = {k: one for k, one in choices.items() if one.n_branches}
        for limb, choice in reaching.items():
            known = {} if math.isnan(choice.share) else {"reached": choice.share}
            self.episodes.add(
                "posture", self._now.now_ns, limb=limb, of=choice.n_branches, **known
            )
            if choice.share < WHOLE:
                missed.append(
                    f"'{limb}' did not reach {1.0 - choice.share:.1%} of the path "
                    f"ahead from {choice.n_branches} starting posture(s), as tried"
                )
        self.missed = "; ".join(missed) if reaching else self.missed

    def _give_up_aligning(self, blocked: str) -> SessionEvent:
        self.note = f"cannot align: {blocked}"
        self.episodes.end("cannot align", self._now.now_ns)
        if self._leader.is_human:
            return SessionEvent.ABORT
        self.end_reason = "cannot align"
        return SessionEvent.QUIT

    def _decide_engaged(self) -> SessionEvent | None:
        if self._has_ended():
            return SessionEvent.END
        if self._now.asked.engage:
            self.note = f"paused; {tell_press(self._leader)} to go on"
            self._needs_press = True
            return SessionEvent.DISENGAGE
        if self._is_disengaged():
            return SessionEvent.DISENGAGE
        offer = self.motion.offer
        if offer is not self._offer:
            self._tell_offer(offer)
        is_taken = offer is not None and self._takes(offer)
        return SessionEvent.REPOSTURE if is_taken else None

    def _tell_offer(self, offer: Offer | None) -> None:
        before, self._offer = self._offer, offer
        if offer is None:
            self.note = self.missed
            return
        what = f"'{offer.limb}' is stuck ({offer.cause}), another posture reaches"
        take = f"the way there is not free: {offer.obstacle}"
        if not offer.obstacle:
            is_auto = self._is_automatic(offer.limb)
            press = f"press {KEY_CAPS['reposture']} to change over"
            take = "it changes over" if is_auto else press
        self.note = f"{what}; {take}"
        if before is None or (before.limb, before.obstacle) != (
            offer.limb,
            offer.obstacle,
        ):
            self._offered_ns = self._now.now_ns
            self.episodes.add(
                "stuck_in_reach",
                self._now.now_ns,
                limb=offer.limb,
                cause=offer.cause,
                obstacle=offer.obstacle,
            )

    def _takes(self, offer: Offer) -> bool:
        if offer.obstacle:
            return False
        if self._now.asked.reposture:
            return True
        waited_ns = self._now.now_ns - self._offered_ns
        return self._is_automatic(offer.limb) and waited_ns > _PATIENCE_NS

    def _is_automatic(self, limb: str) -> bool:
        row = int(self.motion.driver[self.motion.limb_names.index(limb)])
        if row < 0:
            return False
        leader = self.leaders.infos[self.leaders.owners[row]]
        return leader.reposture == "auto"

    def _decide_clutched(self) -> SessionEvent | None:
        if self._has_ended():
            return SessionEvent.END
        n_presses = self.leaders.n_presses
        has_pressed = bool(self._now.asked.engage) or n_presses != self._n_presses
        self._n_presses = n_presses
        if self._now.asked.engage:
            self.leaders.accept_jumps(self._now.now_ns)
        is_usable = self.leaders.is_usable
        self._is_asked = is_usable and (has_pressed or self._is_asked)
        if not is_usable:
            self._needs_press = self._leader.is_human
        elif has_pressed:  # a press during silence is not one after it (S3)
            self._needs_press = False
        is_free = self._now.gate is GateState.READY and self.motion.is_standing
        may_go = is_usable if self._leader.is_human else self.leaders.is_steady
        if self._needs_press or not is_free or not may_go:
            return None
        if self._is_too_far():
            self._needs_press = True
            return None
        self.motion.most_turn = math.inf if self._is_asked else _HALF_TURN
        return (
            SessionEvent.REALIGN
            if self.motion.needs_alignment
            else SessionEvent.REENGAGE
        )

    def _is_too_far(self) -> bool:
        if not self._leader.is_human:
            return False
        bound = self._settings.start_bound
        refusal = self.motion.find_start_refusal(self.leaders.get_sample(), bound)
        self.note = refusal or self.note
        return bool(refusal)

    def _has_ended(self) -> bool:
        asked = name_end(self._now.asked) if any(self._now.asked) else ""
        if asked:
            self.episodes.end(asked, self._now.now_ns)
        elif self.leaders.asks_to_end(self._now.now_ns):
            self.episodes.end("end signal", self._now.now_ns)
        elif self.episodes.lasts_longer(self._settings.duration, self._now.now_ns):
            self.episodes.end("time is up", self._now.now_ns)
        return self.episodes.is_ending

    def _is_disengaged(self) -> bool:
        is_lost = not self._has_leader() or self._now.is_gate_silent
        if not is_lost and self._now.gate is not _GATE_HOLDS:
            return False
        is_hiccup = not is_lost and self._now.is_hiccup(self.motion.latched)
        self._needs_press = self._leader.is_human and not is_hiccup
        holds = f"the gate holds: {describe_reasons(self.motion.latched)}"
        self.note = self.leaders.describe_loss(self._now.now_ns) if is_lost else holds
        if self._now.is_gate_silent:
            self.note = "the gate was silent"
        if self._needs_press:
            has_let_go = is_lost and self.note == "let go"
            self.note += f"; {tell_again(self._leader, has_let_go=has_let_go)}"
        return True

    def _has_leader(self) -> bool:
        drivers = self.motion.following.drivers
        if self._now.state is not _ENGAGED:
            return self.leaders.is_usable
        drivers.update()
        return drivers.is_any_driving

    def _decide_stopped(self) -> SessionEvent | None:
        why = self._describe_stop()
        if not self._is_interactive:
            self.end_reason, self.note = "stopped", why
            return SessionEvent.QUIT
        is_held = self.leaders.is_held
        first = "let go of the leader, then " if is_held else ""
        if self._cleared_ns is None or self._now.gate is _GATE_STOPPED:
            self.note = f"stopped: {why}; {first}press {KEY_CAPS['clear']} to clear"
        if self._now.asked.clear and not is_held:
            self.n_resets += 1
            self._cleared_ns = self._now.now_ns
        if self._now.asked.stop:
            self._cleared_ns = None  # stop while clearing: the last word counts
        self._has_seen_stop |= self._now.gate is _GATE_STOPPED
        is_ready = self._now.gate is GateState.READY
        # READY may also be the gate's state from before it was told to stop
        is_reset = is_ready and self._has_seen_stop and self._cleared_ns is not None
        return SessionEvent.RESET if is_reset else None

    def name_end(self, event: SessionEvent) -> str:
        """Return an event's reason to end an episode."""
        if event is SessionEvent.STOP:
            return self._name_stop()
        return self.end_reason or event.name.lower()

    def _name_stop(self) -> str:
        return f"stopped: {self._tell_stop(name_reasons)}"

    def _describe_stop(self) -> str:
        return self._tell_stop(describe_reasons)

    def _tell_stop(self, tell: Callable[[int, str], str]) -> str:
        if self._now.gate is not _GATE_STOPPED:
            return "operator_stop"
        return tell(self.motion.latched, self.motion.stop_reason)

    def drive_closing(self) -> bool:
        """Brake and park if possible; return True when done."""
        if self.episodes.is_ending:
            return False
        self._is_park_over |= self._now.was_away(self.motion.latched)
        can_park = (
            self._settings.close_policy == "park"
            and self._now.gate in {GateState.READY, GateState.ENGAGED}
            and self._now.n_quits < 2
            and not self._is_park_over
        )
        if not can_park:
            self.motion.drop_plan()
            return self.motion.is_standing or self._now.gate is GateState.DISARMED
        return bool(self.motion.plan_home(self._settings.speed)) or (
            self.motion.has_arrived
        )

    def is_clearing(self, now_ns: int) -> bool:
        """Whether the gate may not know of a cleared stop yet."""
        return (
            self._cleared_ns is not None
            and now_ns - self._cleared_ns <= _CLEARING * 1e9
        )
