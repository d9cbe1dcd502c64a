from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paprle.contracts.errors import ConfigError
from paprle.robot.tree import flat_mimics
from paprle.robot.urdf import MAX_BYTES, MAX_LINKS, MAX_MOVABLE, read_urdf

TWO_LINKS = '<link name="a"/><link name="b"/>'
LIMIT = '<limit lower="-1" upper="1" velocity="2" effort="1"/>'


def joint(
    inside: str = LIMIT, *, name: str = "j", kind: str = "revolute", ends: str = "ab"
) -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{ends[0]}"/>'
        f'<child link="{ends[1]}"/>{inside}</joint>'
    )


def write(folder: Path, body: str) -> Path:
    path = folder / "robot.urdf"
    path.write_text(f'<robot name="r">{body}</robot>')
    return path


def test_reads_a_tree(tmp_path: Path) -> None:
    axis = '<axis xyz="0 0 2"/><origin xyz="1 2 3" rpy="0 0 1.5"/>'

    urdf = read_urdf(write(tmp_path, TWO_LINKS + joint(axis + LIMIT)))

    assert (urdf.name, urdf.root, urdf.links) == ("r", "a", ("a", "b"))
    np.testing.assert_allclose(urdf.joints[0].axis, [0, 0, 1])
    np.testing.assert_allclose(urdf.joints[0].T_parent_joint.translation, [1, 2, 3])


def test_keeps_the_parts_of_one_limb_together_whatever_the_order_in_the_file(
    tmp_path: Path,
) -> None:
    links = "".join(f'<link name="{name}"/>' for name in "dcba")
    first, second = joint(name="ab"), joint(name="bd", ends="bd")
    other = joint(name="ac", ends="ac")

    urdf = read_urdf(write(tmp_path, second + first + links + other))

    assert [j.name for j in urdf.joints] == ["ab", "bd", "ac"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        pytest.param(TWO_LINKS, "expected one root link, got a, b", id="two roots"),
        pytest.param(
            TWO_LINKS + '<link name="a"/>' + joint(), "link a: expected one", id="link"
        ),
        pytest.param(
            TWO_LINKS + joint() * 2, "joint j: expected one", id="joint twice"
        ),
        pytest.param(
            TWO_LINKS + joint(name="k") + joint(),
            "link b: expected one parent",
            id="two",
        ),
        pytest.param(TWO_LINKS + joint(ends="ax"), "got 'x'", id="unknown link"),
        pytest.param(TWO_LINKS + joint(""), "expected lower < upper", id="no limit"),
        pytest.param(
            TWO_LINKS + joint('<limit lower="1" upper="-1"/>'),
            "expected lower < upper, got 1 and -1",
            id="inverted limits",
        ),
        pytest.param(
            TWO_LINKS + joint('<limit lower="nan" upper="1"/>'),
            "lower: expected a number, finite, got 'nan'",
            id="limit is NaN",
        ),
        pytest.param(
            TWO_LINKS + joint('<limit lower="-1" upper="inf"/>'),
            "got 'inf'",
            id="infinite limit",
        ),
        pytest.param(
            TWO_LINKS + joint(LIMIT + '<axis xyz="0 0 0"/>'), "a direction", id="axis"
        ),
        pytest.param(
            TWO_LINKS + joint(LIMIT + '<origin xyz="1 2"/>'), "3 numbers", id="origin"
        ),
        pytest.param(TWO_LINKS + joint(kind="ball"), "got 'ball'", id="unknown type"),
        pytest.param(
            TWO_LINKS + joint(LIMIT + '<mimic joint="j"/>'),
            "circle",
            id="mimics itself",
        ),
        pytest.param(
            TWO_LINKS + joint(LIMIT + '<mimic joint="x"/>'), "got 'x'", id="mimics none"
        ),
        pytest.param('<link name=""/>', "expected a name", id="no name"),
        pytest.param("", "expected 1 to", id="empty"),
        pytest.param(
            "".join(f'<link name="{k}"/>' for k in range(MAX_LINKS + 1)),
            f"expected 1 to {MAX_LINKS} links",
            id="too many links",
        ),
        pytest.param(
            TWO_LINKS + "".join(joint(name=f"{k}") for k in range(MAX_MOVABLE + 1)),
            f"expected at most {MAX_MOVABLE} movable joints",
            id="too many joints",
        ),
        pytest.param(
            '<link name="a"><inertial><mass value="-1"/></inertial></link>',
            "mass: expected 0 to",
            id="negative mass",
        ),
        pytest.param(
            '<link name="a"><inertial><mass value="1e300"/></inertial></link>',
            "mass: expected 0 to",
            id="mass that overflows",
        ),
        pytest.param(
            '<link name="a"><inertial><inertia ixz="nan"/></inertial></link>',
            "ixz: expected a number, finite, got 'nan'",
            id="inertia that is none",
        ),
        pytest.param(
            TWO_LINKS + joint('<limit lower="0" upper="1" effort="nan" velocity="1"/>'),
            "effort: expected a number, finite, got 'nan'",
            id="effort that is none",
        ),
        pytest.param(
            '<link name="a"><collision><geometry><sphere radius="-1"/></geometry>'
            "</collision></link>",
            "sizes above 0",
            id="negative radius",
        ),
        pytest.param(
            '<link name="r"/>' + TWO_LINKS + joint() + joint(name="k", ends="ba"),
            "expected one tree, got a loop of ['a', 'b']",
            id="loop",
        ),
    ],
)
def test_refuses_what_is_wrong(tmp_path: Path, body: str, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        read_urdf(write(tmp_path, body))

    assert message in str(error.value)


def test_lists_all_problems_at_once(tmp_path: Path) -> None:
    body = TWO_LINKS + joint('<limit lower="1" upper="-1"/>' + '<axis xyz="x"/>')

    with pytest.raises(ConfigError) as error:
        read_urdf(write(tmp_path, body + joint(name="k", ends="ax")))

    assert len(error.value.problems) == 3


BOMB = (
    '<!DOCTYPE robot [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">'
    ']><robot name="&b;"/>'
)
EXTERNAL = (
    '<!doctype robot [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="&x;"/>'
)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        pytest.param(BOMB.encode(), "without a document type", id="entity bomb"),
        pytest.param(EXTERNAL.encode(), "without a document type", id="external"),
        pytest.param(BOMB.encode("utf-16"), "expected XML", id="bomb in UTF-16"),
        pytest.param(b"\x00\xff garbage", "expected XML", id="garbage"),
        pytest.param(b"", "expected XML", id="empty file"),
        pytest.param(b"<robot>", "expected XML", id="truncated"),
        pytest.param(b"<mujoco/>", "expected a <robot>, got <mujoco>", id="MJCF"),
        pytest.param(
            b'<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arm/></robot>',
            "got xacro",
            id="xacro",
        ),
    ],
)
def test_refuses_a_file_that_is_no_urdf(
    tmp_path: Path, raw: bytes, message: str
) -> None:
    path = tmp_path / "robot.urdf"
    path.write_bytes(raw)

    with pytest.raises(ConfigError) as error:
        read_urdf(path)

    assert message in str(error.value)


def test_refuses_a_huge_file_without_reading_it(tmp_path: Path) -> None:
    path = tmp_path / "robot.urdf"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)

    with pytest.raises(ConfigError, match="got more"):
        read_urdf(path)


def test_refuses_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="got nothing there"):
        read_urdf(tmp_path / "none.urdf")
    with pytest.raises(ConfigError, match="got a folder"):
        read_urdf(tmp_path)


@pytest.mark.parametrize("kind", ["floating", "planar"])
def test_holds_a_free_base_still_and_says_so(
    tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    urdf = read_urdf(write(tmp_path, TWO_LINKS + joint("", kind=kind)))

    assert urdf.joints[0].kind == "fixed"
    assert f"joint j is {kind}" in caplog.text


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_a_joint_with_a_range_of_zero_is_held_and_noted(
    tmp_path: Path, kind: str
) -> None:
    limit = '<limit lower="0" upper="-0.0" velocity="1"/>'

    urdf = read_urdf(write(tmp_path, TWO_LINKS + joint(limit, kind=kind)))

    assert urdf.joints[0].kind == "fixed"
    assert urdf.notes == ("joint j has a range of 0 to 0; it is held fixed",)


def test_a_body_without_a_size_is_none_and_noted(tmp_path: Path) -> None:
    box = '<collision><geometry><box size="0 0 0"/></geometry></collision>'

    urdf = read_urdf(write(tmp_path, f'<link name="a">{box}</link>'))

    assert urdf.primitives == ()
    assert urdf.notes == ("link a: its box has no size; it is left out",)


def test_resolves_mimics_of_mimics(tmp_path: Path) -> None:
    links = "".join(f'<link name="{name}"/>' for name in "abcd")
    body = (
        links
        + joint()
        + joint('<mimic joint="j" multiplier="2" offset="1"/>', name="k", ends="bc")
        + joint('<mimic joint="k" multiplier="3" offset="5"/>', name="l", ends="cd")
    )

    mimics = {m.joint: m for m in flat_mimics(read_urdf(write(tmp_path, body)))}

    assert mimics["l"].source == "j"
    assert (mimics["l"].multiplier, mimics["l"].offset) == (6.0, 8.0)


@given(st.text(alphabet='<>/"=& abrobotlinkjoint\x00é', max_size=200))
def test_garbage_is_a_config_error_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz.urdf"
    path.write_text(f'<robot name="r">{text}</robot>', encoding="utf-8")

    with pytest.raises(ConfigError):
        read_urdf(path)
