"""An emulated SO-100 or SO-101: Feetech servos on pseudo-terminals, with physics.

    python -m paprle_emulators.feetech rig=so101 [key=value …]

Keys:
    rig=NAME         so101, so101_leader, so101_2arm, so100 or so100_leader
    motion=PROGRAM   what a leader's hand does from a client's first packet on: one of
                     still, sines, chirp, reach, grasp_all, end, or a CSV or NPZ file
                     of joints; several with their seconds: reach:14,still  (still)
    setup=NAME       lerobot: servos as its calibration leaves them; factory: as
                     delivered, with IDs 1 to 6  (lerobot)
    plant=FILE       the arm as a MuJoCo model (MJCF, or a URDF) that has its joints by
                     name; it may stand at a table or in a scene
    ideal=BOOL       servos as the memory table has them, without their vices  (false)
    port=LINK        give the port a stable name, which survives unplug and replug; of
                     several arms each gets LINK_LIMB
    link_dir=DIR     the same in a folder, by limb
    log=FILE         write the true state at 500 Hz, one JSON object per line
    fault=JSON       a fault from the start, as '{"fault":"lost","p":0.01}'; may come
                     several times

It prints one JSON line: ports by limb, and the settings that make a session use them.
Then it takes JSON lines on standard input and answers each with one:
    {"cmd": "state"}                              the true joints, goals, torques
    {"cmd": "motion", "program": "sines"}         [limb]
    {"cmd": "pose", "joints": {"elbow_flex": 0.3}}   [limb] the hand goes there, rad
    {"cmd": "let_go"}, {"cmd": "hold"}            [limb] the hand
    {"cmd": "push", "tau": {"elbow_flex": 0.1}}   [limb] a torque from outside, N·m
    {"cmd": "hand", "stiffness": 10, "damping": 0.2}   [limb] N·m/rad, N·m·s/rad
    {"cmd": "block", "joint": "elbow_flex", "high": 0.5}   [limb, low] an obstacle, rad
    {"cmd": "chain", "joints": ["gripper"]}       [bus] the only servos on the cable
    {"cmd": "unplug"}, {"cmd": "replug"}          [bus]
    {"fault": "<kind>", …}, {"cmd": "clear"}      faults: see README.md
It ends on SIGTERM and Ctrl-C.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Literal

from paprle_emulators.command_line import say, take_settings
from paprle_emulators.feetech.config import find_rig
from paprle_emulators.feetech.faults import RigFaults
from paprle_emulators.feetech.orders import FeetechOrders
from paprle_emulators.feetech.rig import Rig
from paprle_emulators.feetech.server import Server
from paprle_emulators.servo_rig.orders import Log
from paprle_emulators.servo_rig.process import serve

KEYS = (
    "rig",
    "motion",
    "setup",
    "plant",
    "ideal",
    "port",
    "link_dir",
    "log",
    "fault",
)
BOOLEANS = {"true": True, "false": False}
PARTS: dict[bool, tuple[Literal["leader", "env"], str]] = {
    False: ("env", "feetech"),
    True: ("leader", "so101"),
}
"""A session's part and device, by whether the rig is a leader."""


def read_boolean(key: str, word: str) -> bool:
    """Return a boolean setting.

    Raises:
        ValueError: If invalid.
    """
    if word not in BOOLEANS:
        raise ValueError(f"{key}: expected true or false, got '{word}'")
    return BOOLEANS[word]


def build(settings: dict[str, list[str]]) -> tuple[Server, Log | None]:
    """Return rig server and log."""
    ideal = [read_boolean("ideal", word) for word in settings["ideal"]]
    setup = settings["setup"] or ["lerobot"]
    plant = Path(settings["plant"][0]) if settings["plant"] else None
    rig = Rig(find_rig(settings["rig"][0], setup[0], any(ideal), plant))
    for program in settings["motion"]:
        rig.play(program)
    log = Log(Path(settings["log"][0])) if settings["log"] else None
    orders = FeetechOrders(rig, RigFaults(rig), say, log)
    for fault in settings["fault"]:
        orders.cause(json.loads(fault))
    folder = [Path(name) for name in settings["link_dir"]]
    server = Server(rig, folder[0] if folder else None, orders)
    for link in settings["port"]:
        server.rename(Path(link))
    return server, log


def main(words: list[str]) -> int:
    """Serve a rig."""
    if {"-h", "--help", "help"} & set(words):
        say(__doc__ or "")
        return 0
    try:
        settings = take_settings(words, KEYS, needed="rig")
        server, log = build(settings)
    except (OSError, ValueError, KeyError) as error:
        sys.stderr.write(f"feetech emulator: {error}\n")
        return 2
    serve(server, log, *PARTS[settings["rig"][0].endswith("_leader")])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
