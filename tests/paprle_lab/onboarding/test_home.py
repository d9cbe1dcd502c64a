"""What is told to be reachable is so with the bodies that a gate keeps apart."""

from __future__ import annotations

from pathlib import Path

from paprle_lab.onboarding.new_robot import write_new_robot

WALL = '<collision><origin xyz="{} 0 0.8"/>{}</collision>'
PLATE = '<geometry><box size="0.02 2 2"/></geometry>'
BALL = '<collision><geometry><sphere radius="0.03"/></geometry></collision>'


def write_gantry(folder: Path, gap: float) -> Path:
    """Write a ball on three slides, 0.8 m above its base, between two plates."""
    walls = "".join(WALL.format(x, PLATE) for x in (-0.5 * gap, 0.5 * gap))
    links = f'<link name="base">{walls}</link><link name="x"/><link name="y"/>'
    joints = "".join(
        f'<joint name="{child}" type="prismatic"><parent link="{parent}"/>'
        f'<child link="{child}"/><origin xyz="0 0 {z}"/><axis xyz="{axis}"/>'
        '<limit lower="-0.3" upper="0.3" velocity="0.4"/></joint>'
        for parent, child, axis, z in (
            ("base", "x", "1 0 0", 0.8),
            ("x", "y", "0 1 0", 0.0),
            ("y", "z", "0 0 1", 0.0),
        )
    )
    path = folder / "gantry.urdf"
    hand = f'<link name="z">{BALL}</link>'
    path.write_text(f'<robot name="gantry">{links}{hand}{joints}</robot>')
    return path


def test_a_target_inside_the_robots_own_body_is_not_reachable(tmp_path: Path) -> None:
    """All six were told to be, by joints alone."""
    report = write_new_robot(write_gantry(tmp_path, 0.2), tmp_path / "out")

    (limb,) = report.limbs
    assert (limb.reach.n, limb.reach.in_way) == (4, ("base and z",))
    assert "4 of 6 targets" in "\n".join(report.lines())


def test_an_arm_with_room_reaches_all_targets(tmp_path: Path) -> None:
    report = write_new_robot(write_gantry(tmp_path, 0.4), tmp_path / "out")

    assert report.limbs[0].reach == (6, 0.1, ())
    assert not [doubt for doubt in report.doubts if ".home: only" in doubt]


def test_few_reachable_targets_are_a_doubt_that_names_what_is_in_the_way(
    tmp_path: Path,
) -> None:
    urdf = write_gantry(tmp_path, 0.2)
    box = '<geometry><box size="2 0.02 2"/></geometry>'
    lid = '<collision><origin xyz="0 {} 0.8"/>' + box + "</collision>"
    lids = lid.format(-0.1) + lid.format(0.1)
    text = urdf.read_text().replace('<link name="base">', f'<link name="base">{lids}')
    urdf.write_text(text)

    report = write_new_robot(urdf, tmp_path / "out")

    (said,) = [doubt for doubt in report.doubts if ".home: only" in doubt]
    assert "only 2 of 6" in said and said.endswith("on the way: base and z")
