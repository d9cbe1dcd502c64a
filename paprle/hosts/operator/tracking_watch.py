"""Tracking judged from recorded numbers, outside the tick."""

from __future__ import annotations

from collections import deque

from paprle.contracts.types import SessionState
from paprle.hosts.plan import SessionPlan
from paprle.ipc.records import Record
from paprle.session.core import Core
from paprle.tracking.classify import Classifier
from paprle.tracking.findings import TrackingVerdict
from paprle.tracking.kept import make_namer
from paprle.tracking.looks import Look, LookHistory, is_due, make_look
from paprle.tracking.tally import Tally

_MOST_WAITING = 600  # chosen: a terminal that hung for a minute


def make_classifier(plan: SessionPlan) -> Classifier:
    """Return the classifier of a session's robot."""
    gate = plan.resolved.gate
    bodies = plan.robot.make_collision_model(gate.scene)
    name_kept = make_namer(bodies, gate.clearance_self, gate.clearance_scene)
    robot, config = plan.robot, plan.resolved.to_dict()
    return Classifier(robot.info, robot.limbs, gate, config, name_kept)


class TrackingWatch:
    """Causes of tracking errors with their durations.

    ``note`` runs in the tick's thread, the rest outside it.
    """

    def __init__(self, classifier: Classifier) -> None:
        self._classifier, self._history = classifier, LookHistory()
        self._before_ns = 0
        self._waiting: deque[tuple[Look, int | None]] = deque(maxlen=_MOST_WAITING)
        self._begin_ns: int | None = None
        self._episode = Tally()
        self.newest, self.session = TrackingVerdict(), Tally()

    def note(self, core: Core, tick: Record, status: Record) -> bool:
        """Keep a tick's numbers; return whether it is judged."""
        before_ns, self._before_ns = self._before_ns, core.now_ns
        if not is_due(core.now_ns, before_ns):
            return False
        self._waiting.append((make_look(tick, status), core.episodes.begin_ns))
        return True

    def update(self, core: Core) -> None:
        """Judge new ticks; note results in the episode."""
        while self._waiting:
            look, begin_ns = self._waiting.popleft()
            self._judge(core, look, begin_ns)

    def _judge(self, core: Core, look: Look, begin_ns: int | None) -> None:
        verdict = self._classifier.classify(look, self._history.add(look))
        self.newest = verdict
        if begin_ns != self._begin_ns:
            self._begin_ns, self._episode = begin_ns, Tally()
        self.session.add(verdict)
        self._episode.add(verdict)
        if look.state is SessionState.ENGAGED:
            short = [one._asdict() for one in self._episode.rank()]
            core.episodes.note_short(begin_ns, short)
