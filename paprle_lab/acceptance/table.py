"""The table of checks, slow and safe first."""

from __future__ import annotations

from paprle.cli.doctor import diagnose_leader
from paprle.hosts.plan import make_follower
from paprle_lab.acceptance.check import Check, Kit, Outcome
from paprle_lab.acceptance.led import check_leader_out, check_robot_out, check_silence
from paprle_lab.acceptance.moves import check_limits, check_start, check_stop
from paprle_lab.acceptance.recorded import check_end, check_latency, check_recording
from paprle_lab.acceptance.touch import check_contact, check_gripper

HOOKS = ("lead", "leader-out", "leader-in", "robot-out", "robot-in", "press")
"""Moments at which a command may stand in for a person's hands (``--hook``)."""


def check_doctor(kit: Kit) -> Outcome:
    """Examine leaders and robot without motion."""
    found = [
        (is_well, f"{name or kit.resolved.leader_name}: {text}")
        for name, leader in kit.leaders.items()
        for is_well, text in diagnose_leader(leader)
    ]
    follower = make_follower(kit.resolved, kit.robot)
    own = kit.resolved.follower_name
    found += [(well, f"{own}: {text}") for well, text in follower.diagnose() or ()]
    n_bad = sum(not is_well for is_well, _ in found)
    return Outcome(
        figures=[f"{len(found)} findings, {n_bad} faults"],
        problems=[text for is_well, text in found if not is_well],
    )


TABLE = (
    Check(
        name="doctor",
        title="Doctor of leader and robot",
        asks="Have both powered and connected. Nothing moves.",
        measures="their ports, versions, settings and faults",
        criterion="no fault",
        remedy="do what each fault says, then `paprle doctor` until none is left",
        run=check_doctor,
    ),
    Check(
        name="start",
        title="Start without motion",
        asks="Keep the hardware stop in reach. The robot gets power, and stands.",
        measures="how far each joint moves in 3 s before and 3 s after the first "
        "command, which holds it where it is",
        criterion="no joint moves by more than 0.005 rad or 1 mm",
        remedy="end other programs that command the robot; see that its brakes and "
        "drives hold it; compare its units with the URDF's",
        run=check_start,
        is_needed=True,
    ),
    Check(
        name="limits",
        title="Limits at a tenth of speed",
        asks="Clear the space around the robot. It moves home slowly, then each joint "
        "by at most 6° or 1 cm and back; say whether each moves as told.",
        measures="each joint's step, sign, speed and lag, and all commands",
        criterion="steps within 20 %, the right way, the others still; speed at most "
        "1.2 times the limit; no command beyond a limit; not later than declared",
        remedy="correct sign, unit or order of the joint in the driver's settings; "
        "measure the lag with `paprle identify --only follower`",
        run=check_limits,
        is_needed=True,
    ),
    Check(
        name="stop",
        title="Stop at a tenth of speed",
        asks="The first joint of each limb moves by at most 17° or 5 cm; Stop is "
        "pressed by the program on the way.",
        measures="time and distance to rest, as the joints measure it",
        criterion="rest within V/A, the periods on the way, three lags and 0.1 s; "
        "no farther than that speed and braking allow",
        remedy="do not go on; look at the robot's own buffering of commands, and at "
        "gate and lag in docs/SAFETY.md",
        run=check_stop,
        is_needed=True,
    ),
    Check(
        name="silence",
        title="Silence of the leader",
        asks="Lead the robot to and fro at reduced speed; the leader's process is "
        "paused on the way for 2 s.",
        measures="when the command is at rest, and motion after the leader is back",
        criterion="rest within the silence of docs/SAFETY.md and V/A; no motion of a "
        "robot led by a person before a new engagement",
        remedy="lead while it is paused; else do not go on, and report it",
        run=check_silence,
        is_needed=True,
    ),
    Check(
        name="unplug-leader",
        title="Leader unplugged",
        asks="Lead the robot at reduced speed, pull the leader's cable, plug it in "
        "again when asked.",
        measures="rest, the message, and motion after it is back",
        criterion="as for silence, and a message that names the loss",
        remedy="do not go on; report it with the message",
        run=check_leader_out,
    ),
    Check(
        name="unplug-robot",
        title="Robot unplugged",
        asks="Lead the robot at reduced speed, pull its data cable, not its power; "
        "plug it in again when asked.",
        measures="rest, the message, and motion after it is back",
        criterion="the command rests within gate.state_latch_after and V/A, a message "
        "names the loss, the arm stays at rest",
        remedy="do not go on; a robot that continues its last command needs its own "
        "watchdog",
        run=check_robot_out,
    ),
    Check(
        name="latency",
        title="Latency",
        asks="Lead the robot to and fro, every joint of it, at your own speed.",
        measures="sample to command, and command to motion",
        criterion="samples younger than 100 ms; motion within 20 ms of the lag that "
        "the gate counts on",
        remedy="measure the lag with `paprle identify`, and set it",
        run=check_latency,
    ),
    Check(
        name="contact",
        title="Contact",
        asks="Press the arm lightly near its tip when asked, while it holds.",
        measures="the efforts of all joints",
        criterion="one joint's effort leaves its noise five times",
        remedy="look at the driver's efforts: sign, unit, and whether it sends any",
        run=check_contact,
    ),
    Check(
        name="gripper",
        title="Gripper",
        asks="Keep the fingers free. Each closes and opens slowly.",
        measures="its opening",
        criterion="within a fifth of the stroke",
        remedy="set closed and open of the gripper; set its stroke in the device",
        run=check_gripper,
    ),
    Check(
        name="recording",
        title="Recording",
        asks="Lead the robot, unless the check of latency has recorded it already.",
        measures="the episode, as `paprle evaluate` does",
        criterion="complete, nothing lost, no limit broken",
        remedy="look at disk and load of this machine; report broken limits",
        run=check_recording,
    ),
    Check(
        name="end",
        title="Clean end",
        asks="Look at the robot after the session that was recorded.",
        measures="rate, late ticks, exit code, and how the robot is left",
        criterion="exit code 0, 99 % of ticks on time, power as declared",
        remedy="free this machine of other work; read docs/operating.md on real time",
        run=check_end,
    ),
)
