"""Software that is driven, and what a refused one is called."""

import pytest

from paprle.hardware.ur.conditions import judge_version


@pytest.mark.parametrize("version", ["5.6.0.90886", "5.22.1.1214321", "5.6"])
def test_polyscope_5_is_driven(version):
    assert judge_version(version) == ""


@pytest.mark.parametrize(
    ("version", "remedy"),
    [
        ("3.15.8.106339", "the CB-series is not driven"),
        ("5.5.1", "update the controller"),
        ("10.7.0", "PolyScope X is not driven"),
        ("", "update the controller"),
    ],
)
def test_others_are_refused_with_a_reason(version, remedy):
    assert judge_version(version).endswith(f"got {version}; {remedy}")
