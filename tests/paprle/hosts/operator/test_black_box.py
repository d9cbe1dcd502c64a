"""What is kept of a failure, and where it is not written."""

from __future__ import annotations

import numpy as np
import pytest

from paprle.hosts.operator.black_box import BlackBox


@pytest.fixture
def filled(tmp_path):
    box = BlackBox(str(tmp_path))
    row = np.zeros((), dtype=[("k", "i8")])
    for k in range(3):
        row["k"] = k
        box.add(row, row)
    return box


def test_the_last_states_and_why_are_kept(filled):
    path = filled.write("it broke")

    with np.load(path) as box:
        assert str(box["why"]) == "it broke"
        assert box["ticks"]["k"].tolist() == [0, 1, 2]


def test_a_second_one_within_a_second_has_a_file_of_its_own(filled):
    first, second = filled.write("one"), filled.write("two")

    assert first != second
    assert str(np.load(first)["why"]) == "one"


def test_a_link_in_its_place_is_not_followed(filled, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    first = filled.write("one")
    first.unlink()
    first.symlink_to(victim)

    filled.write("two")

    assert victim.read_text() == "mine"
