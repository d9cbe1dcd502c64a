"""The legend of the page has the colours of the picture."""

import re

from paprle.ipc.process import WORKSPACE
from paprle.observers.view import scene
from paprle.observers.view.drawing import forces, proximity_colours

STYLE = (WORKSPACE / "observers/view/page/style.css").read_text()


def find_colour(name):
    (digits,) = re.findall(rf"--{name}: #([0-9a-f]{{6}});", STYLE)
    return tuple(bytes.fromhex(digits))


def test_each_swatch_has_the_colour_of_what_it_names():
    assert find_colour("ghost") == scene._GHOST
    assert find_colour("trail") == scene._TRAIL
    assert find_colour("near") == proximity_colours.mix(0.0)
    assert find_colour("kept") == proximity_colours.mix(1.0)
    assert find_colour("force") == forces._COLOUR
