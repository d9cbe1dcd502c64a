"""The legend of the page names all that the picture draws, in its colours."""

import re

import pytest

from paprle.contracts.kit.motion_cues import COLOURS
from paprle.ipc.process import WORKSPACE
from paprle.observers.view.drawing import palette

PAGE = WORKSPACE / "observers/view/page"
STYLE = (PAGE / "style.css").read_text()
(LEGEND,) = re.findall(
    r'<details id="legend">.*?</details>', (PAGE / "index.html").read_text(), re.DOTALL
)
DRAWN = {
    "ghost": palette.GHOST,
    "predicted": palette.PREDICTED,
    "trail": palette.TRAIL,
    "near": palette.NEAR,
    "kept": palette.KEPT,
    "force": palette.FORCE,
    "object": palette.OBJECT,
    "around": palette.AROUND,
    "gone": palette.GONE,
    "cue": tuple(round(255 * part) for part in COLOURS["active"]),
    "suggested": tuple(round(255 * part) for part in COLOURS["suggested"]),
}  # fmt: skip


def find_colour(name):
    (digits,) = re.findall(rf"--{name}: #([0-9a-f]{{6}});", STYLE)
    return tuple(bytes.fromhex(digits))


@pytest.mark.parametrize("name", DRAWN)
def test_each_swatch_has_the_colour_of_what_it_names(name):
    assert f'class="swatch {name}"' in LEGEND
    assert f".swatch.{name} {{ background: var(--{name}); }}" in STYLE
    assert find_colour(name) == DRAWN[name]


def test_the_legend_has_no_other_swatch():
    assert set(re.findall(r'class="swatch (\w+)"', LEGEND)) == set(DRAWN)


@pytest.mark.parametrize("thing", ["gripper", "axes", "mm", "camera", "rings", "table"])
def test_rows_without_a_colour_of_their_own_are_named(thing):
    assert thing in LEGEND
