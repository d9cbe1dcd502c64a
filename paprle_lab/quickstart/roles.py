"""Second step: leader and follower, or stand-ins.

Nothing is written to an arm here, and no arm gets torque.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from paprle.contracts.errors import ConfigError, DeviceError
from paprle.contracts.searches.arm_search import ArmSearch
from paprle_lab.quickstart.dialogue import Dialogue
from paprle_lab.quickstart.motion_watch import PATIENCE, Moved, watch_ports
from paprle_lab.quickstart.rig import Arm, Rig

Watch = Callable[[ArmSearch, list[str]], Moved]

_AGAIN = "look at the ports again, after plugging an arm in"
_SIMULATION = "SIMULATION: a simulated SO-101 that I drag at the page"
_AUTOPILOT = "SIMULATION: a simulated SO-101 that draws a circle by itself"
_FOLLOWS = "it is the follower: I drag it at the page"
_LEADS = "it is the leader: it drives a SIMULATED SO-101"


def find_roles(
    search: ArmSearch,
    arms: Mapping[str, bool],
    known: Rig,
    dialogue: Dialogue,
    watch: Watch = watch_ports,
) -> Rig | None:
    """Return the rig of the found arms; None: look at the ports again.

    ``arms``: whether each port is emulated; ``known``: the last rig, or empty.

    Raises:
        Quit: If the person leaves.
        ConfigError: If nobody is there to move an arm.
    """
    roles = _Roles(arms)
    if len(arms) < 2:
        return roles.place_one(dialogue, known) if arms else roles.stand_in(dialogue)
    leader, follower = _port(known.leader), _port(known.follower)
    if leader != follower and {leader, follower} <= set(arms):
        question = f"As the last time: leader {leader}, follower {follower}?"
        if dialogue.agrees(question):
            return roles.pair(leader, follower)
    if dialogue.is_brief:
        raise ConfigError(
            "so101 --yes: expected the two arms of the last time, got "
            f"{', '.join(arms)}; a person has to move the leader: leave out --yes"
        )
    try:
        leader = _find_leader(search, roles.paths, dialogue, watch)
    except DeviceError as err:
        dialogue.say(f"{err}\na port is gone: plug it in again")
        return None
    others = [path for path in arms if path != leader]
    choice = dialogue.choose("Which one follows?", others) if len(others) > 1 else 0
    return roles.pair(leader, others[choice])


def _find_leader(
    search: ArmSearch, paths: list[str], dialogue: Dialogue, watch: Watch
) -> str:
    while True:
        dialogue.say(
            f"Move the LEADER arm now by a hand's width, within {PATIENCE:g} s, and "
            "leave the follower alone: it may hold torque."
        )
        moved = watch(search, paths)
        if moved.path:
            dialogue.say(f"It moved: the leader is at {moved.path}")
            return moved.path
        dialogue.say(moved.reason)
        options = ["watch again", *(f"the leader is at {path}" for path in paths)]
        choice = dialogue.choose("No leader was seen.", options)
        if choice:
            return paths[choice - 1]


class _Roles:
    def __init__(self, emulated: Mapping[str, bool]) -> None:
        self.paths = list(emulated)
        self._emulated = emulated

    def pair(self, leader: str, follower: str) -> Rig:
        return Rig(leader=self._make(leader), follower=self._make(follower))

    def stand_in(self, dialogue: Dialogue) -> Rig | None:
        choice = dialogue.choose("No arm was found.", [_AGAIN, _SIMULATION, _AUTOPILOT])
        return None if choice == 0 else Rig(is_autopilot=choice == 2)

    def place_one(self, dialogue: Dialogue, known: Rig) -> Rig | None:
        (path,) = self.paths
        is_leader = _port(known.leader) == path
        is_follower = _port(known.follower) == path
        default = 2 if is_leader else 1 if is_follower else 0
        choice = dialogue.choose(
            f"One arm was found, at {path}.", [_AGAIN, _FOLLOWS, _LEADS], default
        )
        if choice == 0:
            return None
        arm = self._make(path)
        return Rig(follower=arm) if choice == 1 else Rig(leader=arm)

    def _make(self, path: str) -> Arm:
        return Arm(port=path, is_emulated=self._emulated[path])


def _port(arm: Arm | None) -> str:
    return "" if arm is None else arm.port
