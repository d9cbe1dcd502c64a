"""Bodies that a maker drew too thick to keep apart do not hold the joints still."""

from __future__ import annotations

from pathlib import Path

import pytest

from paprle_lab.onboarding.new_robot import write_new_robot

BALL = (
    '<collision><origin xyz="0 0 {z}"/><geometry><sphere radius="{r}"/>'
    "</geometry></collision>"
)


def write_arm(folder: Path, radius: float) -> Path:
    """Write three bars of 0.2 m; balls 16 cm along the first and 4 along the third."""
    bodies = {"l1": BALL.format(z=0.16, r=radius), "l3": BALL.format(z=0.04, r=radius)}
    links = "".join(
        f'<link name="l{i}">{bodies.get(f"l{i}", "")}</link>' for i in range(5)
    )
    joints = "".join(
        f'<joint name="j{i}" type="revolute"><parent link="l{i}"/>'
        f'<child link="l{i + 1}"/><origin xyz="0 0 {0.0 if i == 2 else 0.2}"/>'
        f'<axis xyz="0 {i % 2} {1 - i % 2}"/>'
        '<limit lower="-2" upper="2" velocity="1"/></joint>'
        for i in range(4)
    )
    path = folder / "arm.urdf"
    path.write_text(f'<robot name="arm">{links}{joints}</robot>')
    return path


def test_links_that_always_overlap_are_ignored_and_reported(tmp_path: Path) -> None:
    """A Baxter's shoulder held its elbow still: its run was 46 mm off."""
    report = write_new_robot(write_arm(tmp_path, 0.0385), tmp_path / "out")

    (said,) = [doubt for doubt in report.doubts if "drawn so thick" in doubt]
    assert "l1 and l3" in said
    assert "- [l1, l3]" in report.path.read_text()
    assert report.limbs[0].reach.in_way == ()


@pytest.mark.parametrize("radius", [0.03, 0.02])
def test_links_that_come_clear_are_kept_apart(tmp_path: Path, radius: float) -> None:
    report = write_new_robot(write_arm(tmp_path, radius), tmp_path / "out")

    assert not [doubt for doubt in report.doubts if "drawn so thick" in doubt]
    assert report.collision_pairs == 1
