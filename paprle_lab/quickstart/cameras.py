"""Fourth step: the cameras."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from paprle.contracts.errors import PaprleError
from paprle.contracts.plugins import Camera
from paprle.plugins import list_plugins, load_factory
from paprle_lab.quickstart.dialogue import Dialogue

NAMES = ("front", "wrist")
"""Names of the cameras, in the order of the choice, as LeRobot's examples have them."""

_STREAM = "opencv"


class ConnectedCamera(NamedTuple):
    """A connected camera, and its settings."""

    title: str
    settings: Mapping[str, str]


def find_cameras() -> Iterator[ConnectedCamera]:
    """Yield the connected cameras."""
    for kind, spec in list_plugins("camera").items():
        try:
            factory: type[Camera] = load_factory(spec)
            found = list(factory.find())
        except PaprleError:
            continue  # its package is not installed
        for one in found:
            yield ConnectedCamera(f"{kind}: {one.name}", {"type": kind, **one.settings})


def choose_cameras(
    found: list[ConnectedCamera], dialogue: Dialogue
) -> dict[str, Mapping[str, str]]:
    """Return up to two cameras by name.

    Raises:
        Quit: If the person leaves.
    """
    for number, one in enumerate(found, 1):
        values = " ".join(f"{key}={value}" for key, value in one.settings.items())
        dialogue.say(f"   {number}  {one.title} ({values})")
    if not found:
        dialogue.say("   no camera was found on USB")
    while True:
        answer = dialogue.ask(
            f"Up to {len(NAMES)}: numbers, or the address of a camera on the network "
            "(http://…, rtsp://…), separated by blanks; Enter for none"
        )
        chosen, problem = _read(answer, found)
        if not problem:
            return dict(zip(NAMES, chosen, strict=False))
        dialogue.say(problem)


def _read(
    answer: str, found: list[ConnectedCamera]
) -> tuple[list[Mapping[str, str]], str]:
    words = answer.split()
    if len(words) > len(NAMES):
        return [], f"expected at most {len(NAMES)} cameras, got {len(words)}"
    if len(set(words)) < len(words):
        return [], "expected two different cameras, got one twice"
    chosen: list[Mapping[str, str]] = []
    for word in words:
        if word.isdecimal() and 1 <= int(word) <= len(found):
            chosen.append(found[int(word) - 1].settings)
        elif "://" in word:
            try:
                chosen.append(_look_at(word))
            except PaprleError as err:
                return [], str(err)
        else:
            return [], (
                f"expected a number from 1 to {len(found)} or an address, got '{word}'"
            )
    return chosen, ""


def _look_at(address: str) -> Mapping[str, str]:
    factory: type[Camera] = load_factory(list_plugins("camera")[_STREAM])
    return {"type": _STREAM, **factory.look_at(address).settings}
