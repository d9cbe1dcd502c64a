"""An emulated AgileX PiPER on a CAN bus of its own, for python-can and piper_sdk.

    python -m paprle_emulators.piper [key=value …]

Keys:
    port=PATH        socket of the bus; socket=PATH is the same  (a new one in /tmp)
    log=FILE         every command and the arm's state, with the emulator's clock
    firmware=NAME    S-V1.5-2: reports of joints 1 to 3 are a quarter of the torque, MIT
                     and JS last until a reset; from S-V1.8-6 on neither  (S-V1.5-2)
    q=Q1,…,Q6        joints at the start, rad  (0,0,0,0,0,0)
    stroke=MM        of the gripper; 0: not set, as delivered  (70)
    lag=S            behind a ramp  (0.02)
    fault=JSON       a fault from the start, as '{"fault":"lost","share":0.01}'; may
                     come several times

A client opens can.Bus(interface="emucan", channel=PATH). It prints one JSON line with
its endpoint, sends what the arm sends about 2900 times a second, then takes JSON lines
on standard input and answers each with one:
    {"fault": "silence", "time": 0.3}      also lost, late, garbage, stuck, rogue,
                                           error_frames, bus_off: for a time
    {"fault": "estop"}, {"fault": "none"}  also resume, collision, limit, communication,
                                           teach, mit, disable, push, over_temperature,
                                           warm, low_voltage; "joint": 1 … 6
It ends on SIGTERM and Ctrl-C. What it cannot show: arbitration, bus load, real error
counters.
"""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
import time
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from paprle_emulators.can_server import Server
from paprle_emulators.cycles import CycleLoop
from paprle_emulators.notice import announce
from paprle_emulators.pace import Pace
from paprle_emulators.piper.arm import LAG, EmulatedArm
from paprle_emulators.piper.faults import ArmFaults
from paprle_emulators.piper.journal import Journal
from paprle_emulators.piper.reports import SLOW_PERIOD_NS, make_reports
from paprle_emulators.punctual import request_punctuality

PERIOD_NS = 5_000_000  # [ns] spec: the arm reports its joints at 200 Hz
_N_STEPS = 5  # chosen: 1 ms a step of a servo of 100 rad/s
_MOST_LATE = 10  # chosen: after a longer pause of the machine, time is dropped


@dataclass(frozen=True, kw_only=True)
class Options:
    """Command-line options; ``faults`` are JSON."""

    socket: str = ""
    log: str = ""
    firmware: str = "S-V1.5-2"
    q: str = "0,0,0,0,0,0"
    stroke: str = "70"
    lag: str = str(LAG)
    faults: tuple[str, ...] = ()

    @classmethod
    def parse(cls, args: list[str]) -> Options:
        """Return the options of ``key=value`` words.

        Raises:
            ValueError: If one is invalid.
        """
        known = [field.name for field in fields(cls) if field.name != "faults"]
        words = [arg.partition("=") for arg in args]
        words = [("socket" if k == "port" else k, e, value) for k, e, value in words]
        faults = tuple(word[2] for word in words if word[0] == "fault")
        words = [word for word in words if word[0] != "fault"]
        unknown = [word[0] for word in words if word[0] not in known or not word[1]]
        if unknown:
            got, keys = ", ".join(unknown), ", ".join(("port", *known, "fault"))
            raise ValueError(f"expected key=value, got {got}; keys: {keys}")
        return cls(**{key: value for key, _, value in words}, faults=faults)


class Emulator(CycleLoop):
    """Loop of arm, bus, faults and journal."""

    def __init__(self, faults: ArmFaults, server: Server, journal: Journal) -> None:
        pace = Pace(PERIOD_NS * 1e-9, most_late=_MOST_LATE)
        super().__init__(pace, server.selector, faults, journal)
        self._arm, self._server, self._journal = faults.arm, server, journal
        self._faults = faults
        self._slow_due = 0

    def _listen(self, timeout: float) -> None:
        for key, _ in self._selector.select(timeout):
            stamp = time.monotonic_ns()
            for frame in key.data() or ():
                self._journal.write_command(stamp, frame)
                self._server.send(self._faults.change(self._arm.take(frame), stamp))

    def _cycle(self, now_ns: int, n_skipped: int) -> None:  # noqa: ARG002 - dropped
        for _ in range(_N_STEPS):
            self._arm.step(PERIOD_NS * 1e-9 / _N_STEPS)
        has_slow = now_ns >= self._slow_due
        if has_slow:
            self._slow_due = max(self._slow_due, now_ns - PERIOD_NS) + SLOW_PERIOD_NS
        reports = make_reports(self._arm, self._faults, has_slow=has_slow)
        self._server.send(self._faults.change(reports, now_ns))
        self._journal.write_arm(now_ns, self._arm)


def print_line(values: dict[str, object]) -> None:
    """Print one JSON line at once."""
    sys.stdout.write(json.dumps(values) + "\n")
    sys.stdout.flush()


def main(args: list[str]) -> int:
    """Run the arm."""
    if {"-h", "--help"} & set(args):
        sys.stdout.write(f"{__doc__}\n")
        return 0
    request_punctuality()
    try:
        options = Options.parse(args)
        q = np.array([float(word) for word in options.q.split(",")])
        lag = float(options.lag)
        arm = EmulatedArm(q, options.firmware, int(options.stroke), lag)
        faults = ArmFaults(arm)
        for fault in options.faults:
            faults.apply(time.monotonic_ns(), json.loads(fault))
    except ValueError as err:
        sys.stderr.write(f"piper emulator: {err}\n")
        return 2
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="piper-"))
        path = options.socket or str(Path(folder) / "can")
        log = None
        try:
            if options.log:
                log = stack.enter_context(Path(options.log).open("w", encoding="ascii"))
            server = Server(path)
        except OSError as err:  # no such folder, a path too long, one that is served
            sys.stderr.write(f"piper emulator: {path}: {err}\n")
            return 2
        stack.callback(server.close)
        emulator = Emulator(faults, server, Journal(log))
        overrides = [
            "env.interface=emucan",
            f"env.channel={path}",
            "gate.accept_unattended=true",
        ]
        stack.enter_context(announce("env", "can", overrides, "piper"))
        print_line(
            {
                "ready": True,
                "ports": {"can": path},
                "interface": "emucan",
                "channel": path,
                "log": options.log,
                "overrides": overrides,
            }
        )
        emulator.run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
