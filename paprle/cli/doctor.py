"""Verb ``doctor``: diagnoses a leader."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator

from paprle.cli.verb import SETTINGS, Verb, add_settings, say
from paprle.config import Resolved, known_names, resolve
from paprle.contracts.errors import DeviceError
from paprle.contracts.plugins import Leader
from paprle.hosts.factories import make_leader
from paprle.hosts.plan import make_follower, make_robot
from paprle.ipc.loop import DeadlineLoop

_SOON = 3.0  # [s] chosen: a healthy device has said something by then
_ANY_LEADER = "autopilot"  # chosen: it has no device; what drives does not matter here
_LOOK_RATE = 50.0  # [Hz] chosen: how often that is looked for


def resolve_leader(settings: list[str]) -> Resolved:
    """Return a config of a leader with an arbitrary robot."""
    anything = [f"follower={known_names('follower')[0]}", "env=kinematic"]
    return resolve([*anything, *settings])


def resolve_follower(settings: list[str]) -> Resolved:
    """Return a config of a robot with an arbitrary leader."""
    return resolve([f"leader={_ANY_LEADER}", *settings])


def _doctor(args: argparse.Namespace) -> int:
    if any(word.startswith("env=") for word in args.settings):
        return _look_at_follower(args.settings)
    resolved = resolve_leader(args.settings)
    leader = make_leader(resolved)
    n_bad = 0
    for is_well, text in diagnose_leader(leader):
        n_bad += not is_well
        say(f"{'ok   ' if is_well else 'FAULT'} {text}")
    name = resolved.leader_name
    say(f"{name}: {n_bad} fault(s)" if n_bad else f"{name}: nothing wrong was found")
    return 1 if n_bad else 0


def _look_at_follower(settings: list[str]) -> int:
    resolved = resolve_follower(settings)
    follower = make_follower(resolved, make_robot(resolved))
    name, found = (
        f"{resolved.follower_name} in {resolved.env_name}",
        follower.diagnose(),
    )
    if found is None:
        say(f"{name}: nothing to look at before it is opened")
        return 0
    n_bad = 0
    for is_well, text in found:
        n_bad += not is_well
        say(f"{'ok   ' if is_well else 'FAULT'} {text}")
    say(f"{name}: {n_bad} fault(s)" if n_bad else f"{name}: nothing wrong was found")
    return 1 if n_bad else 0


def diagnose_leader(leader: Leader) -> Iterable[tuple[bool, str]]:
    """Return the leader's findings, or check that samples arrive."""
    found = leader.diagnose()
    return _listen(leader) if found is None else found


def _listen(leader: Leader) -> Iterator[tuple[bool, str]]:
    try:
        leader.open()
    except DeviceError as err:
        yield False, str(err)
        return
    try:
        yield True, "the leader opens"
        loop, end = DeadlineLoop(_LOOK_RATE), time.monotonic() + _SOON
        while (sample := leader.latest()) is None and time.monotonic() < end:
            loop.wait()
        if sample is None:
            yield False, f"expected a sample within {_SOON:g} [s], got none"
        elif not sample.valid:
            yield False, "expected a valid sample, got one without tracking"
        else:
            yield True, f"samples arrive for {', '.join(sample.limbs)}"
    finally:
        leader.close()


DOCTOR = Verb(
    name="doctor",
    summary="Find faults of a leader's rig, and name their remedies.",
    help=f"""\
The doctor moves nothing and writes nothing to the device. For puppeteers it checks
ports, USB latency, every servo (presence, duplicate ids, model, errors, heat, supply,
settings), the rate of the bus, and whether the joints are within the limits of their
URDF.

With ``env=`` it looks at the robot instead. Behind ROS: how often its states come and
how old they are, who takes its commands, and what its controllers would refuse. It
publishes nothing. A PiPER on CAN: firmware and what follows from it, faults, the kind
of motion that another program left it in, the gripper's stroke; it is only queried.
An SO-101: servos, supply, protections, and a calibration that contradicts the robot,
its file or the place where the joints stand. Arms of Dynamixel servos: models, pairs,
modes, limits, supply and errors.

{SETTINGS}

exit codes: 0 nothing wrong, 1 faults found, 2 refused, as in every verb

examples:
  paprle doctor leader=puppeteer_papras_7dof
  paprle doctor leader=puppeteer follower=piper leader.limbs.arm.port=/dev/ttyUSB1
  paprle doctor follower=ur5e env=ros2
  paprle doctor follower=piper env=can env.channel=can0
  paprle doctor follower=so101 env=feetech env.port=/dev/ttyACM0
  paprle doctor follower=viperx300s env=dynamixel env.port=/dev/ttyUSB0""",
    add_arguments=add_settings,
    run=_doctor,
)
