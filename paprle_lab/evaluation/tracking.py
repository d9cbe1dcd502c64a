"""Tracking judgement repeated from a recording."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from paprle.contracts.settings.core import GateSettings
from paprle.recording.robot import make_limbs
from paprle.recording.scene import make_collision_model
from paprle.tracking.classify import Classifier
from paprle.tracking.kept import make_namer
from paprle.tracking.looks import LOOK_NS, Look, LookHistory, make_look
from paprle.tracking.tally import Tally
from paprle_lab.evaluation.store import cut
from paprle_lab.evaluation.tracks import EpisodeData

Json = dict[str, Any]
_KEPT = ("position_margin", "clearance_self", "clearance_scene")


def judge_tracking(episode: EpisodeData) -> Tally:
    """Return the tracking counts of an episode.

    Raises:
        ConfigError: If the URDF is invalid.
    """
    tally, history, classifier = Tally(), LookHistory(), _make_classifier(episode)
    for look in list_looks(episode):
        tally.add(classifier.classify(look, history.add(look)))
    return tally


def describe_tracking(tally: Tally) -> Json:
    """Return the tracking figures of a report entry."""
    return {
        "summary": tally.summarise(),
        "did_not_follow": tally.is_most,
        "pauses": tally.describe_pauses(),
        "short": [one._asdict() for one in tally.rank()],
    }


def list_looks(episode: EpisodeData) -> Iterator[Look]:
    """Yield the looks of an episode."""
    stamps = [episode.gate[where]["stamp_ns"] for where in cut(len(episode.gate))]
    if not stamps:
        return
    gate_ns, before_ns = np.concatenate(stamps), None
    for where in cut(len(episode.ticks)):
        ticks = episode.ticks[where]
        own = ticks["stamp_ns"] // LOOK_NS
        first = own[:1] if before_ns is None else before_ns // LOOK_NS
        before_ns = ticks["stamp_ns"][-1:]
        seen_ns = ticks["stamp_ns"] - ticks["status_age_ns"]
        for k in np.flatnonzero(np.diff(own, prepend=first)):
            row = int(np.searchsorted(gate_ns, seen_ns[k], side="right")) - 1
            if row >= 0:
                yield make_look(ticks[k], episode.gate[row : row + 1][0])


def _make_classifier(episode: EpisodeData) -> Classifier:
    recorded = episode.config.get("gate") or {}
    given = {key: float(recorded[key]) for key in _KEPT if key in recorded}
    gate = GateSettings(**given)  # type: ignore[arg-type]
    bodies = make_collision_model(episode)
    robot = episode.robot_info
    return Classifier(
        robot,
        make_limbs(robot, episode.urdf),
        gate,
        episode.config,
        make_namer(bodies, gate.clearance_self, gate.clearance_scene),
    )
