"""Whatever stands in a file: a clear error, or finite motion with unit rotations."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paprle.contracts.errors import PaprleError
from paprle.contracts.types import SessionState
from paprle.leaders.offline.checks import clean
from paprle.leaders.offline.config import OfflineConfig
from paprle.leaders.offline.leader import Offline
from paprle.leaders.offline.timeline import Timeline
from paprle.leaders.offline.track import Rows, RowTrack
from paprle.testing import ManualClock, check_sample, make_feedback

QUICK = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
word = st.one_of(
    st.floats(width=32).map(repr),
    st.floats().map(repr),
    st.sampled_from(["", "nan", "-inf", "1e", "x", "1e400", "-", '"', "0", "1"]),
)
line = st.one_of(
    st.lists(word, min_size=0, max_size=10).map(",".join),
    st.lists(word, min_size=8, max_size=8).map(",".join),
    st.lists(word, min_size=8, max_size=8).map(" ".join),
    st.text(max_size=20),
)
header = st.sampled_from(
    ["t,x,y,z,qx,qy,qz,qw", "t,a,b,c,d,e,f,opening", "t,a", "# c", "", "time"]
)


def check_plays(path):
    clock = ManualClock()
    leader = Offline(OfflineConfig(path=str(path)), clock)
    try:
        leader.open()
    except PaprleError:
        return
    leader.apply(make_feedback(SessionState.ENGAGED))
    for dt in (0, 0.001, 0.01, 0.1, 1, 10, 100, 1e4):
        clock.advance(dt)
        check_sample(leader.info, leader.latest())


@QUICK
@given(header, st.lists(line, max_size=12), st.sampled_from(["", "\n"]))
def test_any_lines(tmp_path, head, lines, end):
    path = tmp_path / "a.csv"
    path.write_text("\n".join([head, *lines]) + end, errors="replace")

    check_plays(path)


@QUICK
@given(st.binary(max_size=300), st.sampled_from(["a.csv", "a.npz", "a.txt"]))
def test_any_bytes(tmp_path, content, name):
    path = tmp_path / name
    path.write_bytes(content)

    check_plays(path)


@pytest.fixture(scope="module")
def npz(tmp_path_factory):
    path = tmp_path_factory.mktemp("npz") / "whole.npz"
    t = np.arange(20) * 0.1
    np.savez(path, t=t, q=np.column_stack([t, t]), joint_names=["a", "b"])
    return path.read_bytes()


@QUICK
@given(st.data())
def test_npz_with_a_damaged_byte(tmp_path, npz, data):
    at = data.draw(st.integers(0, len(npz) - 1))
    damaged = bytearray(npz)
    damaged[at] = data.draw(st.integers(0, 255))
    path = Path(tmp_path / "a.npz")
    path.write_bytes(damaged[: data.draw(st.integers(0, len(npz)))] or damaged)

    check_plays(path)


number = st.one_of(st.floats(-2, 2), st.floats(), st.just(0.0))
row = st.lists(number, min_size=8, max_size=8)


@QUICK
@given(st.lists(row, min_size=1, max_size=30), st.floats(0.1, 20))
def test_any_poses(rows, speed):
    table = np.array(rows)
    raw = Rows(t=table[:, 0], p=table[:, 1:4], quat_xyzw=table[:, 4:])

    good, breaks, counts = clean(raw, 0.25)

    n_dropped = sum(n for kind, n in counts.items() if kind.endswith("dropped"))
    assert len(good.t) + n_dropped == len(rows)
    assert (np.diff(good.t) > 0).all()
    if len(good.t) < 2:
        return
    assert np.abs(np.linalg.norm(good.quat_xyzw, axis=1) - 1).max() < 1e-12
    track = RowTrack(
        Rows(t=good.t - good.t[0], p=good.p, quat_xyzw=good.quat_xyzw), breaks
    )
    timeline = Timeline([track], speed)
    for share in np.linspace(0, 1, 20):
        moment = timeline.at(round(share * timeline.duration * 1e9))
        T = track.at(moment.source).T_leader_base_leader_eef
        assert np.isfinite(T.homogeneous).all()
        assert np.abs(T.rotation.T @ T.rotation - np.eye(3)).max() < 1e-9
