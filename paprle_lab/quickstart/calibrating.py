"""Third step: calibration of each arm."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from paprle.cli.calibrate import talk
from paprle.cli.doctor import diagnose_leader, resolve_leader
from paprle.config import resolve
from paprle.contracts.errors import PaprleError
from paprle.contracts.plugins import Follower, Leader
from paprle.contracts.searches.arm_search import ArmSearch
from paprle.hosts.factories import make_leader
from paprle.hosts.plan import make_follower, make_robot
from paprle_lab.quickstart.dialogue import Dialogue
from paprle_lab.quickstart.rig import LEADER_PORT, ROBOT, Arm, Rig

_MAKE = "calibrate it now: two postures, and a sweep of each joint (3 minutes)"
_SET_UP = (
    "set new servos up first, each alone on the cable (as paprle setup-servos does)"
)
_AT_SERVOS = "as its servos keep it"


def calibrate_arms(search: ArmSearch, rig: Rig, known: Rig, dialogue: Dialogue) -> Rig:
    """Return the rig with calibrated arms.

    Raises:
        Quit: If the person leaves.
    """
    if rig.follower is not None:
        follower = _calibrate(search, rig.follower, known.follower, dialogue, False)
        rig = replace(rig, follower=follower)
    if rig.leader is not None:
        leader = _calibrate(search, rig.leader, known.leader, dialogue, True)
        rig = replace(rig, leader=leader)
    return rig


def _calibrate(
    search: ArmSearch, arm: Arm, known: Arm | None, dialogue: Dialogue, is_leader: bool
) -> Arm:
    role = "leader" if is_leader else "follower"
    has_own = search.look(arm.port).is_calibrated
    if has_own and (known is None or known.port != arm.port or not known.calibration):
        dialogue.say(f"{role}: calibrated, {_AT_SERVOS}")
        arm = replace(arm, calibration="")
    else:
        arm = _choose(search, arm, known, dialogue, is_leader)
    while not _is_well(arm, dialogue, is_leader):
        options = ["look again, after the remedy", _SET_UP, _MAKE, "go on all the same"]
        choice = options[dialogue.choose(f"The {role} has a fault.", options)]
        if choice == options[-1]:
            break
        if choice == _SET_UP:
            _set_up(arm, dialogue)
        if choice == _MAKE:
            arm = _make(arm, dialogue, is_leader)
    return arm


def list_candidates(
    search: ArmSearch, arm: Arm, known: Arm | None, *, is_leader: bool
) -> list[str]:
    """Return an arm's calibrations, the likeliest first; empty: its servos'."""
    files = [str(path) for path in search.list_calibrations(is_leader=is_leader)]
    own = [""] if search.look(arm.port).is_calibrated else []
    last = [known.calibration] if known and known.port == arm.port else []
    there = [path for path in last if path in own or Path(path).is_file()]
    return list(dict.fromkeys([*there, *own, *files]))


def _choose(
    search: ArmSearch, arm: Arm, known: Arm | None, dialogue: Dialogue, is_leader: bool
) -> Arm:
    role = "leader" if is_leader else "follower"
    candidates = list_candidates(search, arm, known, is_leader=is_leader)
    named = [path or _AT_SERVOS for path in candidates]
    choice = dialogue.choose(
        f"The calibration of the {role} at {arm.port}:", [*named, _MAKE]
    )
    if choice < len(candidates):
        return replace(arm, calibration=candidates[choice])
    return _make(arm, dialogue, is_leader)


def _make(arm: Arm, dialogue: Dialogue, is_leader: bool) -> Arm:
    dialogue.say(
        "The arm goes limp now: hold it. The result is kept at its servos, and in a "
        "file that LeRobot reads."
    )
    arm = replace(arm, calibration="")  # a chosen file stays as it is
    device = _make_device(arm, is_leader)
    questions = device.calibrate(())
    if questions is None:
        return arm
    try:
        device.open()
        found = talk(questions)
    except PaprleError as err:
        dialogue.say(str(err))
        return arm
    finally:
        device.close()
    if found is None:
        dialogue.say("nothing was written")
        return arm
    path = (
        found["leader"]["limbs"]["arm"]["calibration"]
        if is_leader
        else found["files"][0]
    )
    dialogue.say(f"written: {path}")
    return replace(arm, calibration=path)


def _set_up(arm: Arm, dialogue: Dialogue) -> None:
    words = [f"leader={ROBOT}", f"{LEADER_PORT}={arm.port}"]
    questions = make_leader(resolve_leader(words)).set_up(())
    try:
        found = None if questions is None else talk(questions)
    except PaprleError as err:
        dialogue.say(str(err))
        return
    for line in (found or {}).get("servos", ()):
        dialogue.say(f"   {line}")


def _is_well(arm: Arm, dialogue: Dialogue, is_leader: bool) -> bool:
    try:
        found = list(_diagnose(arm, is_leader))
    except PaprleError as err:
        found = [(False, str(err))]
    faults = [text for is_well, text in found if not is_well]
    for text in faults:
        dialogue.say(f"   FAULT {text}")
    if not faults:
        dialogue.say(f"   {arm.port}: {len(found)} checks of the doctor are well")
    return not faults


def _diagnose(arm: Arm, is_leader: bool) -> Iterable[tuple[bool, str]]:
    device = _make_device(arm, is_leader)
    if isinstance(device, Leader):
        return diagnose_leader(device)
    return device.diagnose() or ()


def _make_device(arm: Arm, is_leader: bool) -> Leader | Follower:
    if is_leader:
        return make_leader(resolve_leader(Rig(leader=arm).leader_words))
    words = Rig(follower=arm).follower_words
    resolved = resolve(["leader=autopilot", *words])
    return make_follower(resolved, make_robot(resolved))
