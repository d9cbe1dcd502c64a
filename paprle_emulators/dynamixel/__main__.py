"""An emulated rig of puppeteers: Dynamixel servos on pseudo-terminals, with physics.

    python -m paprle_emulators.dynamixel leader=NAME [key=value …]

Keys:
    leader=NAME      configs/leader/NAME.yaml, or a path: which arms and servos
    motion=PROGRAM   what hands do from a client's first packet on: one of still, sines,
                     chirp, reach, grasp_all, end, or a CSV or NPZ file of joints;
                     several with their seconds: grasp_all:14,sines:60,end  (still)
    watchdog=KIND    real: with firmware 51 it does not stop servos of the 330 size;
                     ideal: as the e-manual has it  (real)
    firmware=N       of the servos of the 330 size  (51)
    link_dir=DIR     give the ports stable names there, which survive unplug and replug
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
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

from paprle_emulators.dynamixel.config import RigSpec, read_rig
from paprle_emulators.dynamixel.orders import Log, Orders
from paprle_emulators.dynamixel.rig import Rig
from paprle_emulators.dynamixel.server import Server
from paprle_emulators.notice import announce
from paprle_emulators.punctual import request_punctuality

WATCHDOGS: Mapping[str, Literal["real", "ideal"]] = {"real": "real", "ideal": "ideal"}
KEYS = ("leader", "motion", "watchdog", "firmware", "link_dir", "log", "fault")


def take_settings(words: list[str]) -> dict[str, list[str]]:
    """Return the values of ``key=value`` words by key.

    Raises:
        ValueError: If a word or key is invalid, or the leader is missing.
    """
    settings: dict[str, list[str]] = {key: [] for key in KEYS}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or key not in settings:
            raise ValueError(f"expected {', '.join(KEYS)} with '=', got '{word}'")
        settings[key].append(value)
    for key, values in settings.items():
        if len(values) > 1 and key != "fault":
            raise ValueError(f"expected {key} once, got {', '.join(values)}")
    if not settings["leader"]:
        raise ValueError("expected leader=<name or YAML>, got none")
    return settings


def say(line: str) -> None:
    """Print a line; ignore a closed pipe."""
    try:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def read_spec(settings: dict[str, list[str]]) -> RigSpec:
    """Return the rig to emulate.

    Raises:
        ValueError: If watchdog or firmware is unknown.
    """
    spec = read_rig(settings["leader"][0])
    for kind in settings["watchdog"]:
        if kind not in WATCHDOGS:
            raise ValueError(f"expected watchdog=real or ideal, got '{kind}'")
        spec = replace(spec, watchdog=WATCHDOGS[kind])
    for number in settings["firmware"]:
        spec = replace(spec, firmware=int(number))
    return spec


def build(settings: dict[str, list[str]]) -> tuple[Server, Log | None]:
    """Return a rig's server and log."""
    rig = Rig(read_spec(settings))
    for program in settings["motion"]:
        rig.play(program)
    log = Log(Path(settings["log"][0])) if settings["log"] else None
    orders = Orders(rig, say, log)
    for fault in settings["fault"]:
        orders.cause(json.loads(fault))
    folder = [Path(name) for name in settings["link_dir"]]
    return Server(rig, folder[0] if folder else None, orders), log


def main(words: list[str]) -> int:
    """Serve until SIGTERM or Ctrl-C; return the exit code."""
    if {"-h", "--help", "help"} & set(words):
        say(__doc__ or "")
        return 0
    try:
        settings = take_settings(words)
        server, log = build(settings)
    except (OSError, ValueError, KeyError, ModuleNotFoundError) as error:
        sys.stderr.write(f"dynamixel emulator: {error}\n")
        return 2
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: server.stop())
    name = Path(settings["leader"][0]).stem
    try:
        with announce("leader", name, server.list_overrides()):
            say(json.dumps(server.describe()))
            if sys.stdin is not None:
                server.listen(sys.stdin.fileno())
            request_punctuality()
            server.run()
    finally:
        server.close()
        if log is not None:
            log.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
