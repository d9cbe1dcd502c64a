"""A file most of which is rubbish is refused, whatever is left of it."""

import numpy as np
import pytest
from played import POSE, T_GOOD, make_leader, make_pose_rows, write_csv

from paprle.contracts.errors import ConfigError


def write(tmp_path, rows):
    return write_csv(tmp_path / "a.csv", POSE, rows)


@pytest.mark.parametrize(("n_bad", "is_refused"), [(20, False), (21, True)])
def test_a_file_that_loses_more_than_a_fifth_of_its_rows_is_refused(
    tmp_path, n_bad, is_refused
):
    rows = make_pose_rows(T_GOOD)
    rows[1 : 1 + 4 * n_bad : 4, 4:] = 0.0  # none of them side by side: no gap
    path = write(tmp_path, rows)

    if not is_refused:
        assert f"{n_bad} rows whose quaternion is far" in make_leader(path).notes[0]
        return
    with pytest.raises(ConfigError, match=r"at most 20% of the rows .* got 21% and 0%"):
        make_leader(path)


@pytest.mark.parametrize(("missing", "is_refused"), [(0.2, False), (0.26, True)])
def test_a_file_that_loses_more_than_a_tenth_of_its_time_is_refused(
    tmp_path, missing, is_refused
):
    rows = make_pose_rows(T_GOOD[:101])
    rows[50:, 0] += missing

    if not is_refused:
        make_leader(write(tmp_path, rows))
        return
    with pytest.raises(ConfigError, match=r"leader\.allow_loss=true"):
        make_leader(write(tmp_path, rows))


def test_a_file_may_be_played_for_all_that(tmp_path):
    rows = make_pose_rows(T_GOOD)
    rows[::2, 1] = np.nan

    leader = make_leader(write(tmp_path, rows), allow_loss=True)

    assert "50 rows with NaN" in leader.notes[0]


def test_rows_that_come_twice_are_no_loss(tmp_path):
    rows = np.repeat(make_pose_rows(T_GOOD), 3, axis=0)

    assert "200 duplicate stamps dropped" in make_leader(write(tmp_path, rows)).notes[0]


def test_lines_that_are_not_numbers_are_lost_rows(tmp_path):
    path = write(tmp_path, make_pose_rows(T_GOOD))
    lines = path.read_text().splitlines()
    lines[10:10] = ["x"] * 40
    path.write_text("\n".join(lines) + "\n")

    with pytest.raises(ConfigError, match="got 29% and 0%"):
        make_leader(path)


def test_lengths_in_another_unit_are_suspected_aloud(tmp_path):
    rows = make_pose_rows(T_GOOD)
    rows[:, 1:4] *= 1000.0

    with pytest.raises(Exception, match=r"positions in \[m\] \(leader\.units\)"):
        make_leader(write(tmp_path, rows))
