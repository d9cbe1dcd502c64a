"""The steps in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from paprle.contracts.errors import MissingDependency
from paprle.contracts.plugins import Follower
from paprle.contracts.searches.arm_search import ArmSearch
from paprle.plugins import find_plugin, load_factory
from paprle_lab.quickstart import site
from paprle_lab.quickstart.calibrating import calibrate_arms
from paprle_lab.quickstart.cameras import choose_cameras, find_cameras
from paprle_lab.quickstart.dialogue import Dialogue
from paprle_lab.quickstart.ports import find_arms
from paprle_lab.quickstart.recording import (
    RECORDINGS,
    describe_command,
    make_lerobot,
    record,
    write_data_set,
)
from paprle_lab.quickstart.rig import REAL, Rig
from paprle_lab.quickstart.roles import find_roles
from paprle_lab.quickstart.warm_up import compiling_beside

_EXTRAS = "so101,sim,page,data"
_NEEDED = ("scservo_sdk", "serial", "mujoco", "viser", "segno", "pyarrow", "av")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Options of the command line; ``settings`` win."""

    out: Path
    n_episodes: int
    task: str = ""
    settings: tuple[str, ...] = ()


def check_packages() -> None:
    """Raise MissingDependency with the command to install all packages."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise MissingDependency(
            f"so101: expected the packages {', '.join(_NEEDED)}, got none of "
            f"{', '.join(missing)}; run: uvx --from 'paprle[{_EXTRAS}]' paprle so101, "
            f"or: pip install 'paprle[{_EXTRAS}]'"
        )


def find_search() -> ArmSearch:
    """Return the search for arms of the real env."""
    factory: type[Follower] = load_factory(find_plugin("follower", REAL))
    search = factory.search()
    if search is None:
        raise MissingDependency(f"env '{REAL}': expected a search for arms, got none")
    return search


def go(plan: Plan, dialogue: Dialogue) -> int:
    """Return the exit code of all steps.

    Raises:
        Quit: If the person leaves.
    """
    with compiling_beside(dialogue.say) as wait:
        rig = _set_up(dialogue)
        return _record(plan, rig, dialogue, wait)


def _set_up(dialogue: Dialogue) -> Rig:
    known, search = site.read_last(), find_search()
    rig = None
    while rig is None:
        dialogue.title(1, "Ports", "Asks every serial port for servos; moves nothing.")
        arms = find_arms(search, dialogue)
        dialogue.title(2, "Which arm is which", "Reads positions; no arm gets torque.")
        rig = find_roles(search, arms, known, dialogue)
    dialogue.title(3, "Calibration", "From the servos, from LeRobot's files, or made.")
    rig = calibrate_arms(search, rig, known, dialogue)
    for path in site.store(rig):
        dialogue.say(f"stored for the next time: {path}")
    dialogue.title(4, "Cameras and page", "Their pictures are recorded, and shown.")
    cameras = choose_cameras(list(find_cameras()), dialogue)
    is_on_network = dialogue.agrees(
        "Show the page on a phone in this network, too, by a QR code?", default=False
    )
    return replace(rig, cameras=cameras, is_on_network=is_on_network)


def _record(plan: Plan, rig: Rig, dialogue: Dialogue, wait: Callable[[], None]) -> int:
    dialogue.title(5, f"{plan.n_episodes} episodes", describe_start(rig))
    task = plan.task or dialogue.ask(
        "The task, a sentence that goes into the data set", "move the arm"
    )
    words = [
        *rig.list_words(plan.out / RECORDINGS, plan.n_episodes, task),
        *plan.settings,
    ]
    dialogue.say(f"This session is:\n  {describe_command(words)}")
    if rig.follower is not None:
        dialogue.ask(
            "The follower gets torque now and holds where it is; it goes on holding "
            "when this program dies: keep its plug at hand. Enter starts"
        )
    wait()
    code = record(words)
    dialogue.title(6, "Data set", "LeRobot v3.0, of all episodes that were kept.")
    return write_data_set(plan.out, code, dialogue, make_lerobot)


def describe_start(rig: Rig) -> str:
    """Describe begin and end of an episode."""
    simulated = "" if rig.follower else "SIMULATION: no arm follows, a model does. "
    return f"{simulated}{_describe_signals(rig)}"


def _describe_signals(rig: Rig) -> str:
    if rig.leader is not None:
        return (
            "Each begins when the leader's gripper is opened, then held closed for 3 s "
            "with the arm still;\n   it ends by the same at the rest pose. Ctrl-C ends "
            "all; what was recorded stays."
        )
    if rig.is_autopilot:
        return "The program begins and ends each. Ctrl-C ends all."
    return (
        "Open the address that is printed, hold the button (m) and drag the hand; "
        "Success ends an episode.\n   Ctrl-C ends all; what was recorded stays."
    )
