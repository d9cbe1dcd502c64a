import numpy as np
import pytest
from played import (
    POSE,
    T_GOOD,
    make_joint_rows,
    make_leader,
    make_pose_rows,
    play,
    positions,
    write_csv,
)

from paprle.contracts.types import SessionState
from paprle.testing import make_feedback


class TestGaps:
    @pytest.fixture
    def gap(self, tmp_path):
        """Motion with one second missing after t = 0.48 s."""
        rows = make_pose_rows(T_GOOD)
        rows[25:, 0] += 1.0
        return write_csv(tmp_path / "a.csv", POSE, rows)

    def test_gap_ends_validity_from_its_last_row_to_its_first(self, gap):
        t, samples = play(make_leader(gap, allow_loss=True), is_following=False)

        lost = t[[not s.valid for s in samples]]
        assert lost.min() == pytest.approx(0.485)
        assert lost.max() == pytest.approx(1.495)

    def test_gap_is_counted(self, gap):
        leader = make_leader(gap, allow_loss=True)

        assert leader.notes[0] == "a.csv: 100 rows, 1 gaps above 0.25 s"

    def test_short_gap_is_bridged(self, gap):
        _, samples = play(make_leader(gap, max_gap=1.1))

        assert all(s.valid for s in samples)

    def test_gap_is_measured_in_the_time_of_the_file(self, tmp_path):
        rows = make_pose_rows(np.arange(20) * 0.2)
        path = write_csv(tmp_path / "a.csv", POSE, rows)

        _, slow = play(make_leader(path, speed=0.25))

        assert all(s.valid for s in slow)

    def test_waits_after_a_gap_until_the_session_follows_again(self, gap):
        leader = make_leader(gap, allow_loss=True)
        while True:
            leader.apply(make_feedback(SessionState.ENGAGED))
            leader.clock.advance(0.005)
            if not leader.latest().valid:
                break
        leader.apply(make_feedback(SessionState.CLUTCHED))
        leader.clock.advance(5.0)
        waiting = leader.latest()
        leader.clock.advance(5.0)
        still = leader.latest()
        leader.apply(make_feedback(SessionState.ENGAGED))
        leader.clock.advance(0.02)
        going = leader.latest()

        assert waiting.valid
        assert positions([waiting, still])[:, 0] == pytest.approx(0.05, abs=1e-9)
        assert positions([going])[0, 0] == pytest.approx(0.052, abs=1e-9)

    @pytest.mark.parametrize("speed", [1, 100])
    def test_every_loss_lasts_long_enough_to_be_noticed(self, gap, speed):
        t, samples = play(
            make_leader(gap, speed=speed, allow_loss=True), is_following=False
        )

        lost = [not s.valid for s in samples]
        assert np.ptp(t[lost]) > 0.1

    def test_jump_ends_validity_and_is_counted(self, tmp_path):
        rows = make_pose_rows(T_GOOD)
        rows[50:, 2] += 0.5
        path = write_csv(tmp_path / "a.csv", POSE, rows)

        leader = make_leader(path)
        _, samples = play(leader)

        y = positions([s for s in samples if s.valid])[:, 1]
        assert set(np.round(y, 12)) == {0.0, 0.5}
        assert any(not s.valid for s in samples)
        assert leader.notes[0] == "a.csv: 100 rows, 1 jumps above 3 m/s"

    def test_single_outlier_is_dropped(self, tmp_path):
        rows = make_pose_rows(T_GOOD)
        rows[50, 2] += 0.5
        path = write_csv(tmp_path / "a.csv", POSE, rows)

        leader = make_leader(path)
        _, samples = play(leader)

        assert all(s.valid for s in samples)
        assert not positions(samples)[:, 1].any()
        assert "1 rows far from all others dropped" in leader.notes[0]

    def test_absurdly_long_gap_is_shortened(self, tmp_path):
        rows = make_pose_rows(T_GOOD)
        rows[50:, 0] += 1e6
        path = write_csv(tmp_path / "a.csv", POSE, rows)

        t, _ = play(make_leader(path, allow_loss=True), is_following=False)

        assert t[-1] < 13


def corrupt(rows, kind):
    rows = rows.copy()
    i = 50
    if kind == "duplicate":
        rows[i] = rows[i - 1]
        rows[i, 1] += 1e-3
    elif kind == "backwards":
        rows[i, 0] = rows[10, 0] + 1e-3
    elif kind == "wild stamp":
        rows[i, 0] += 1e5
    elif kind == "nan":
        rows[i, 1] = np.nan
    elif kind == "inf":
        rows[i, 0] = np.inf
    elif kind == "absurd":
        rows[i, 1] = 1e300
    elif kind == "zero quaternion":
        rows[i, 4:] = 0
    elif kind == "far quaternion":
        rows[i, 4:] *= 1.2
    elif kind == "near quaternion":
        rows[i, 4:] *= 1.05
    return rows


class TestBadRows:
    @pytest.mark.parametrize(
        ("kind", "note"),
        [
            ("duplicate", "1 duplicate stamps dropped"),
            ("backwards", "1 rows with stamps out of order dropped"),
            ("wild stamp", "1 rows with stamps out of order dropped"),
            ("nan", "1 rows with NaN or absurd numbers dropped"),
            ("inf", "1 rows with NaN or absurd numbers dropped"),
            ("absurd", "1 rows with NaN or absurd numbers dropped"),
            ("zero quaternion", "1 rows whose quaternion is far from unit dropped"),
            ("far quaternion", "1 rows whose quaternion is far from unit dropped"),
            ("near quaternion", "1 quaternions normalised"),
        ],
    )
    def test_bad_row_is_treated_counted_and_not_felt(self, tmp_path, kind, note):
        good = make_pose_rows(T_GOOD)
        path = write_csv(tmp_path / "a.csv", POSE, corrupt(good, kind))

        leader = make_leader(path)
        t, samples = play(leader)

        assert leader.notes[0] == f"a.csv: 100 rows, {note}"
        assert all(s.valid for s in samples)
        expected = 0.1 * np.minimum(t, T_GOOD[-1])
        assert positions(samples)[:, 0] == pytest.approx(expected, abs=1e-9)

    def test_garbage_lines_cost_themselves_only(self, tmp_path):
        path = write_csv(tmp_path / "a.csv", POSE, make_pose_rows(T_GOOD))
        lines = path.read_text().splitlines()
        lines[10:10] = ['"', "a,b,c", "\x00\x00", ",,,,,,,", "1,2,3,4,5,6,7,8,9"]
        path.write_text("\n".join(lines) + "\n")

        leader = make_leader(path)
        t, samples = play(leader)

        assert "5 lines that are not numbers dropped" in leader.notes[0]
        expected = 0.1 * np.minimum(t, T_GOOD[-1])
        assert positions(samples)[:, 0] == pytest.approx(expected, abs=1e-9)

    @pytest.mark.parametrize("end", ["", "\n"], ids=["cut", "ended"])
    def test_last_line_with_too_few_numbers_is_dropped(self, tmp_path, end):
        path = write_csv(tmp_path / "a.csv", POSE, make_pose_rows(T_GOOD))
        path.write_text(path.read_text()[:-60] + end)

        leader = make_leader(path)
        _, samples = play(leader)

        assert leader.notes[0].startswith("a.csv: 100 rows, 1 ")
        assert positions(samples)[-1, 0] == pytest.approx(0.1 * T_GOOD[-2])

    @pytest.mark.parametrize("last", ["1.5,0", "1.5,-", "1.5", "1."])
    def test_number_cut_in_its_middle_is_not_believed(self, tmp_path, last):
        rows = [f"{t:.2f},{np.sin(t):.5f}" for t in np.arange(1, 1.5, 0.02)]
        path = tmp_path / "a.csv"
        path.write_text("\n".join(["t,j1", *rows, last]))

        leader = make_leader(path)

        assert "1 truncated last lines dropped" in leader.notes[0]

    def test_whole_last_line_without_line_end_is_kept(self, tmp_path):
        rows = make_joint_rows(T_GOOD)
        path = write_csv(tmp_path / "a.csv", "t,j1,j2", rows, end="")

        assert make_leader(path).notes[0] == "a.csv: 100 rows"

    def test_opening_is_clipped(self, tmp_path):
        rows = np.column_stack([make_joint_rows(T_GOOD), np.linspace(-0.5, 1, 100)])
        path = write_csv(tmp_path / "a.csv", "t,j1,j2,gripper", rows)

        leader = make_leader(path)

        assert leader.info.has_gripper
        assert leader.info.joint_names == {"hand": ("j1", "j2")}
        assert leader.latest().limbs["hand"].opening == 0
        assert "gripper openings clipped" in leader.notes[0]
