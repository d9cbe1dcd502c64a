"""Emulated puppeteers and arms: Dynamixel servos on pseudo-terminals, with physics.

    python -m paprle_emulators.dynamixel [leader=puppeteer_piper] [key=value …]

Keys:
    leader=NAME      a rig of this package, or the YAML of a leader  (puppeteer_piper)
    follower=NAME    in its place an arm that is driven: viperx300s, widowx250s or
                     open_manipulator_x, on its stand, for env=dynamixel
    motion=PROGRAM   what hands do from a client's first packet on: one of still, sines,
                     chirp, reach, grasp_all, end, or a CSV or NPZ file of joints;
                     several with their seconds: grasp_all:14,sines:60,end  (still)
    plant=FILE       each arm as a MuJoCo model (MJCF, or a URDF) that has its joints by
                     name, in place of the leader's URDF
    setup=NAME       leader: servos as opening their leader leaves them: 4 Mbaud,
                     current control, in a hand; factory: as delivered, 57600 baud,
                     position control, but with their ids, and no hand  (leader)
    watchdog=KIND    real: with firmware 51 it does not stop servos of the 330 size;
                     ideal: as the e-manual has it  (real)
    firmware=N       of the servos of the 330 size  (51)
    port=LINK        give the port a stable name, which survives unplug and replug; of
                     several buses each gets LINK_LIMB
    link_dir=DIR     the same in a folder, by limb
    log=FILE         write the true state at 500 Hz, a JSON object a line
    fault=JSON       a fault from the start, as '{"fault":"lost","p":0.01}'; may come
                     several times

It prints one JSON line: ports by limb, and the settings that make a leader use them.
Then it takes JSON lines on standard input and answers each with one:
    {"cmd": "state"}                              the true joints, torques, work
    {"cmd": "motion", "program": "sines"}         [limb]
    {"cmd": "pose", "joints": {"joint1": 0.3}}    [limb] the hand goes there, rad
    {"cmd": "let_go"}, {"cmd": "hold"}            [limb] the hand
    {"cmd": "push", "tau": {"joint1": 0.1}}       [limb] a torque from outside, N·m
    {"cmd": "hand", "stiffness": 10, "damping": 0.2}   [limb] N·m/rad, N·m·s/rad
    {"cmd": "unplug"}, {"cmd": "replug"}          [bus]
    {"fault": "<kind>", …}, {"cmd": "clear"}      faults: see README.md
It ends on SIGTERM and Ctrl-C.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

from paprle_emulators.command_line import read_one, say, take_settings
from paprle_emulators.dynamixel.config import (
    RigSpec,
    find_arm,
    list_arms,
    list_rigs,
    read_rig,
)
from paprle_emulators.dynamixel.faults import RigFaults
from paprle_emulators.dynamixel.rig import Rig
from paprle_emulators.dynamixel.server import Server
from paprle_emulators.servo_rig.orders import Log, Orders
from paprle_emulators.servo_rig.process import serve

WATCHDOGS: Mapping[str, Literal["real", "ideal"]] = {"real": "real", "ideal": "ideal"}
KEYS = (
    "leader",
    "follower",
    "motion",
    "plant",
    "setup",
    "watchdog",
    "firmware",
    "port",
    "link_dir",
    "log",
    "fault",
)
SETUPS = {"leader": False, "factory": True}
LEADER = "puppeteer_piper"  # chosen: one arm, one bus


def read_spec(settings: dict[str, list[str]]) -> RigSpec:
    """Return the rig to emulate.

    Raises:
        ValueError: If invalid.
    """
    arms = settings["follower"]
    if arms and settings["leader"]:
        raise ValueError("expected leader= or follower=, got both")
    name = find_arm(arms[0]) if arms else read_one(settings, "leader", LEADER)
    spec = read_rig(name)
    for file in settings["plant"]:
        limbs = [replace(limb, plant=Path(file)) for limb in spec.limbs]
        spec = replace(spec, limbs=tuple(limbs))
    for name in settings["setup"]:
        if name not in SETUPS:
            raise ValueError(f"expected setup=leader or factory, got '{name}'")
        spec = replace(spec, is_factory=SETUPS[name])
    for kind in settings["watchdog"]:
        if kind not in WATCHDOGS:
            raise ValueError(f"expected watchdog=real or ideal, got '{kind}'")
        spec = replace(spec, watchdog=WATCHDOGS[kind])
    for number in settings["firmware"]:
        spec = replace(spec, firmware=int(number))
    return spec


def build(settings: dict[str, list[str]]) -> tuple[Server, Log | None]:
    """Return rig server and log."""
    rig = Rig(read_spec(settings))
    for program in settings["motion"]:
        rig.play(program)
    log = Log(Path(settings["log"][0])) if settings["log"] else None
    orders = Orders(rig, RigFaults(rig), say, log)
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
        say(f"{__doc__}Rigs: {', '.join(list_rigs())}; arms: {', '.join(list_arms())}")
        return 0
    try:
        settings = take_settings(words, KEYS)
        server, log = build(settings)
    except (OSError, ValueError, KeyError, ModuleNotFoundError) as error:
        sys.stderr.write(f"dynamixel emulator: {error}\n")
        return 2
    if settings["follower"]:
        serve(server, log, "env", "dynamixel")
    else:
        serve(server, log, "leader", Path(read_one(settings, "leader", LEADER)).stem)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
