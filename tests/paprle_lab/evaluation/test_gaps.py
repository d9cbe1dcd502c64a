"""Nothing is compared where a recording lacks ticks of its session or its gate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from paprle_lab.evaluation.episode import measure_source
from paprle_lab.evaluation.tracks import find_engaged, find_origin_ns


@pytest.mark.parametrize("name", ["ticks", "gate"])
def test_no_error_is_measured_in_a_gap(make_episode, name):
    episode = make_episode()
    rows = getattr(episode, name)
    stamps = rows["stamp_ns"]
    is_lost = (stamps > stamps[300]) & (stamps < stamps[300] + 400_000_000)
    manifest = {
        **(episode.manifest or {"end_reason": "recovered"}),
        "gaps": [{"at": 1.5, "seconds": 0.4}],
    }
    lacking = replace(episode, **{name: rows[~is_lost], "manifest": manifest})

    whole, part = measure_source(episode), measure_source(lacking)

    begin, end = (
        (stamps[is_lost][k] - find_origin_ns(lacking)) * 1e-9 for k in (0, -1)
    )
    for limb in part.limbs:
        assert not ((limb.target.t > begin) & (limb.target.t < end)).any()
    worst = [max(limb.errors.max() for limb in one.limbs) for one in (whole, part)]
    assert worst[1] <= 1.01 * worst[0]
    assert "not recorded: 0.400 s at 1.500 s" in part.entry["notes"]


def test_stretch_of_engaged_ends_at_a_gap(make_episode):
    episode = make_episode()
    gate = np.delete(episode.gate, slice(300, 400))
    origin_ns = find_origin_ns(episode)
    n_before = len(find_engaged(episode, origin_ns))

    spans = find_engaged(replace(episode, gate=gate), origin_ns)

    assert len(spans) == n_before + 1
