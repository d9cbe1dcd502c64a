"""First step: the ports and their arms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paprle.config.emulated import list_emulated
from paprle.contracts.searches.arm_search import ArmSearch, FoundArm
from paprle_lab.quickstart.dialogue import Dialogue
from paprle_lab.quickstart.rig import REAL, ROBOT

_SETUP = "paprle setup-servos leader=so101 leader.limbs.arm.port={}"


def list_emulated_ports() -> list[str]:
    """Return the ports of this user's emulated arms."""
    words = [*list_emulated("leader", ROBOT), *list_emulated("env", REAL)]
    pairs = [word.partition("=") for word in words]
    return [port for key, _, port in pairs if key.endswith(".port")]


def find_arms(search: ArmSearch, dialogue: Dialogue) -> dict[str, bool]:
    """Print all ports; return those of whole arms, with whether emulated."""
    emulated = list_emulated_ports()
    found = [search.look(path) for path in (*search.list_ports(), *emulated)]
    for line in describe_ports(found, emulated):
        dialogue.say(line)
    return {one.path: one.path in emulated for one in found if one.is_arm}


def describe_ports(found: Sequence[FoundArm], emulated: Sequence[str]) -> Iterator[str]:
    """Yield a line on each port, with a number for an arm."""
    number = 0
    for one in found:
        number += one.is_arm
        mark = " EMULATED" if one.path in emulated else ""
        place = f"{number}" if one.is_arm else "-"
        yield f"   {place}  {one.path}{mark}: {describe_arm(one)}"
    if not found:
        yield (
            "   no serial port on USB: plug in the arm's board by USB (a cable that "
            "carries data, not a charging cable), and its power supply"
        )


def describe_arm(one: FoundArm) -> str:
    """Describe the devices at a port, with remedies."""
    if one.problem:
        return one.problem
    if not one.models:
        return (
            "no servo answers: switch on the arm's power supply, and check the cable "
            f"from the board to the first servo; new servos need {_setup(one)}"
        )
    if one.missing:
        listed = ", ".join(map(str, one.missing))
        return (
            f"servos {', '.join(map(str, sorted(one.models)))} answer, none with id "
            f"{listed}: check the cable behind the last one; new servos need "
            f"{_setup(one)}"
        )
    ids = f"{min(one.models)} to {max(one.models)}"
    models = ", ".join(sorted(set(one.models.values())))
    state = "calibrated" if one.is_calibrated else "not calibrated"
    holds = ", it holds torque" if one.has_torque else ""
    return f"servos {ids} ({models}), {one.voltage:.1f} [V], {state}{holds}"


def _setup(one: FoundArm) -> str:
    return _SETUP.format(one.path)
