"""Recordings and LeRobot sets of anybody become series."""

import shutil

import numpy as np
import pytest
from filmed import make_robot, write_episode
from foreign_sets import STILL, write_foreign
from scored_sets import KINDS, make_set, write_lerobot

from paprle.contracts.errors import ConfigError, RecordingError
from paprle.contracts.kit.work import UNSEEN
from paprle.contracts.types import GateState, LeaderInfo, SessionState
from paprle.gate.reasons import Reason, to_bits
from paprle.ipc.records import make_layout
from paprle_lab.dataset.create import create
from paprle_lab.scoring.columns import are_named, is_gripper, pair_sides
from paprle_lab.scoring.glimpses import Watch, choose_times, shrink
from paprle_lab.scoring.read_lerobot import read_lerobot
from paprle_lab.scoring.read_recordings import (
    TickCounts,
    measure_gate,
    read_recordings,
)
from paprle_lab.scoring.scoring import score_places
from paprle_lab.scoring.spool import Spool

ENGAGED, CLUTCHED = SessionState.ENGAGED, SessionState.CLUTCHED
ALIGNING = SessionState.ALIGNING


def score(*places, **options):
    with Spool() as spool:
        return score_places(places, spool, **options)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A good recording, one of a stuck camera, a failed one, one that was clutched."""
    folder = tmp_path_factory.mktemp("recorded")
    write_episode(folder, 3.0, wave=True)
    write_episode(folder, 3.2, wave=True, freeze=20, scale=0.8)
    write_episode(folder, 3.0, outcome="failure", skip=range(20, 50))
    write_episode(folder, 4.0, driven=(1.0, 3.0), outcome="")
    return folder


def test_recordings_give_the_measures_that_they_alone_know(recorded):
    scored = score(recorded)
    one = {episode.name: episode for episode in scored.episodes}
    good = one["episode_000000"].measures
    assert (good.clutches, good.gate_held, good.success) == (0.0, 0.0, True)
    assert good.losses is None, "the toy's leader never tracked"
    assert one["episode_000003"].measures.clutches == pytest.approx(15.0)
    assert one["episode_000003"].measures.success is None
    assert one["episode_000002"].measures.missing > 0.2
    assert one["episode_000002"].measures.success is False
    assert [fault.kind for fault in one["episode_000001"].faults] == ["camera"]
    assert one["episode_000001"].measures.frozen > 0.5
    assert not one["episode_000000"].faults


def test_the_set_made_of_recordings_has_the_same_stuck_camera(recorded, tmp_path):
    create([recorded], tmp_path / "set", "lerobot")
    scored = score(tmp_path / "set")
    faults = [(one.name, f.kind) for one in scored.episodes for f in one.faults]
    assert faults == [("episode 1", "camera")]
    first = next(one for one in scored.episodes if one.name == "episode 0")
    assert first.measures.success is True
    assert first.measures.clutches is None
    assert first.measures.frozen == 0.0


def test_cameras_of_a_set_are_unknown_without_its_images(recorded, tmp_path):
    create([recorded], tmp_path / "set", "lerobot")
    scored = score(tmp_path / "set", has_images=False)
    assert all(one.measures.frozen is None for one in scored.episodes)
    assert scored.n_faults == 0


def test_a_video_that_is_gone_is_missing(recorded, tmp_path):
    create([recorded], tmp_path / "set", "lerobot")
    shutil.rmtree(tmp_path / "set" / "videos")
    scored = score(tmp_path / "set")
    assert all(one.measures.missing == 1.0 for one in scored.episodes)


def test_clutches_and_lost_tracking_are_counted_at_their_edges(tmp_path):
    leader = LeaderInfo(limbs=("hand",), is_human=True)
    ticks = np.zeros(8, make_layout(make_robot(tmp_path), leader).tick)
    states = [ENGAGED, CLUTCHED, CLUTCHED, ENGAGED, CLUTCHED, ENGAGED, ALIGNING]
    ticks["state"], ticks["has_sample"] = [*states, CLUTCHED], [1, 1, 1, 0, 1, 1, 1, 1]
    ticks["sample"]["valid"] = [1, 1, 0, 1, 0, 1, 1, 0]
    counts = TickCounts()
    counts.add(ticks[:4])
    counts.add(ticks[4:])
    assert counts.find() == {"clutches": 2, "losses": 2}
    assert TickCounts().find() == {"clutches": None, "losses": None}


def test_the_gate_held_back_while_a_clause_acted_on_commands():
    rows = np.zeros(5, [("reasons", "u8"), ("state", "i4")])
    rows["state"] = [GateState.READY, *[GateState.ENGAGED] * 4]
    rows["reasons"] = [
        to_bits([Reason.LAG]), 0, to_bits([Reason.VELOCITY]),
        to_bits([Reason.VELOCITY, Reason.LATE]), to_bits([Reason.LATE]),
    ]  # fmt: skip
    found = measure_gate([rows[:3], rows[3:]])
    assert found["gate_held"] == 0.5
    assert found["interventions"] == {"LAG": 1, "VELOCITY": 1, "LATE": 1}
    assert measure_gate([]) == {}


def test_a_discarded_recording_is_left_out(tmp_path):
    write_episode(tmp_path, 2.0)
    path = write_episode(tmp_path, 2.0, discard=True)
    scored = score(tmp_path)
    assert len(scored.episodes) == 1
    assert scored.left_out[0][0] == path.resolve()
    with pytest.raises(ConfigError, match="discarded"):
        score(path)


def test_rows_of_a_set_are_read_by_episode(tmp_path):
    episodes = make_set(KINDS[2], 1, n=3)
    root = write_lerobot(tmp_path / "set", episodes)
    for wanted, got in zip(episodes, read_lerobot(root, [], UNSEEN), strict=True):
        assert got.action.names == wanted.action.names
        np.testing.assert_allclose(got.state.values, wanted.state.values, atol=1e-5)
        np.testing.assert_allclose(got.t, wanted.t, atol=1e-5)
        assert got.rate == pytest.approx(wanted.fps, rel=1e-3)
        assert (got.outcome, got.task) == ("", "pick and place")


def test_both_kinds_of_images_are_seen(tmp_path):
    root = write_foreign(tmp_path / "set", (40, 50), gop=250)
    first = next(read_lerobot(root, [], UNSEEN))
    assert set(first.cameras) == {"top", "side"}
    for glimpses in first.cameras.values():
        assert glimpses.missing == 0.0
        assert (glimpses.changes[1:] > 1.5).all()
    assert STILL.endswith("side")


def test_an_episode_of_nan_is_left_out_with_its_reason(tmp_path):
    episodes = make_set(KINDS[0], 1, n=3)
    episodes[1].action.values[4, 2] = np.nan
    scored = score(write_lerobot(tmp_path / "set", episodes))
    assert len(scored.episodes) == 2
    assert scored.left_out[0][0].name == "episode 1"
    assert "NaN" in scored.left_out[0][1]


def test_a_set_of_another_version_is_refused(tmp_path):
    root = write_lerobot(tmp_path / "set", make_set(KINDS[0], 1, n=1))
    path = root / "meta" / "info.json"
    path.write_text(path.read_text().replace("v3.0", "v2.1"))
    with pytest.raises(RecordingError, match="v2.1"):
        score(root)


def test_a_recording_is_read_by_its_own_columns(recorded):
    one = next(read_recordings([recorded], [], UNSEEN))
    assert one.state.names == ("turn", "lift", "finger")
    assert one.action.values.shape == one.state.values.shape == (len(one.t), 3)
    assert one.cameras["front"].missing == 0.0


@pytest.mark.parametrize(
    ("names", "pairs"),
    [
        (("left_a", "left_b", "right_a", "right_b"), [(0, 2), (1, 3)]),
        (("right_a.pos", "left_a.pos"), [(1, 0)]),
        (("l_elbow", "r_elbow", "torso"), [(0, 1)]),
        (("elbow", "gripper"), []),
        (tuple(map(str, range(14))), [(k, k + 7) for k in range(7)]),
        (tuple(f"motor_{k}" for k in range(7)), []),
    ],
)
def test_columns_of_two_arms_are_paired(names, pairs):
    assert pair_sides(names) == pairs


def test_numbers_are_no_names():
    assert not are_named(("motor_0", "motor_1"))
    assert are_named(("elbow", "wrist_1"))
    assert is_gripper("left_gripper.pos")
    assert not is_gripper("wrist_1")


def test_images_are_sampled_and_shrunk():
    assert len(choose_times(1000.0)) == 40
    assert len(choose_times(1.0)) == 4
    assert choose_times(0.0).tolist() == [0.0]
    assert shrink(np.full((480, 640, 3), 7, np.uint8)).shape == (32, 42)
    assert shrink(np.full((5, 3), 7, np.uint8)).tolist() == [[7.0] * 3] * 5


def test_a_watch_counts_missing_images_and_largest_changes():
    watch, image = Watch(), np.zeros((64, 64, 3), np.uint8)
    watch.add(0.0, image)
    watch.add(0.5, None)
    other = image.copy()
    other[:2, :2] = 90
    watch.add(1.0, other)
    seen = watch.finish()
    assert seen.missing == pytest.approx(1 / 3)
    assert seen.changes.tolist() == [np.inf, 90.0]
