"""A sixth maker's arm is small: the base has what all makers share."""

from pathlib import Path

import pytest

OUTSIDE = Path(__file__).parent / "outside"


@pytest.mark.parametrize(
    ("part", "most"), [("paprle_sextant", 400), ("sextant_emulator", 500)]
)
def test_driver_and_emulator_are_short(part, most):
    files = sorted((OUTSIDE / part).rglob("*.py"))

    assert len(files) > 1
    assert sum(path.read_text().count("\n") for path in files) <= most


def test_the_stand_in_for_the_sdk_is_no_place_to_hide():
    assert (OUTSIDE / "sextant.py").read_text().count("\n") <= 60
