"""Pairs of bodies kept apart by a gate."""

from __future__ import annotations

from collections import Counter

from paprle.gate.reasons import Reason, to_bits
from paprle.ipc.held import read_held
from paprle.recording.scene import make_collision_model
from paprle_lab.evaluation.store import cut
from paprle_lab.evaluation.tracks import EpisodeData

_KEEPING = to_bits({Reason.CLEARANCE, Reason.UNVERIFIED})
_LOOK_NS = 200_000_000  # [ns] chosen: as often as a session looks
_MOST = 2  # chosen: more pairs than this say less


def find_kept(episode: EpisodeData) -> list[str]:
    """Return pairs kept apart, the longest intervention first.

    Raises:
        ConfigError: If the URDF is invalid.
    """
    gate = episode.config.get("gate") or {}
    if not {"clearance_self", "clearance_scene"} <= set(gate):
        return []
    model = make_collision_model(episode)
    kept = model.find_kept(gate["clearance_self"], gate["clearance_scene"])
    counts: Counter[str] = Counter()
    last_ns = -_LOOK_NS
    for where in cut(len(episode.gate)):
        rows = episode.gate[where]
        for row in rows[rows["reasons"] & _KEEPING != 0]:
            if row["stamp_ns"] - last_ns >= _LOOK_NS:
                last_ns = int(row["stamp_ns"])
                causes = list(dict.fromkeys(read_held(row).values()))
                if not causes:
                    k = model.find_tightest(row["q_cmd"], row["q_des"], kept)
                    causes = [model.describe_pair(k)] if k >= 0 else []
                counts.update(causes)
    return [cause for cause, _ in counts.most_common(_MOST)]
