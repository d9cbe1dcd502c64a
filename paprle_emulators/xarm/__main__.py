"""An emulated UFACTORY arm behind its control box, for xarm-python-sdk.

    python -m paprle_emulators.xarm [key=value …]

Keys:
    model=NAME       xarm5, xarm6, xarm7, xarm850 or lite6  (xarm7)
    address=A        of its ports 502, 503 and 30000 … 30003, on the loopback; own: one
                     that no other process of this host has  (127.0.0.1)
    port=A           the same
    gripper=NAME     xarm, bio or none  (xarm)
    q=Q1,…           joints at the start, rad  (zeros)
    lag=S            behind a ramp  (0.02)
    firmware=V       as it says it  (v2.5.0)
    log=FILE         every request, servo target and state, with the emulator's clock
    fault=JSON       a fault from the start, as '{"fault":"lost","share":0.01}'; may
                     come several times

A client opens XArmAPI(ADDRESS). Port 502 is for root, or for everybody after
sysctl net.ipv4.ip_unprivileged_port_start=502. It prints one JSON line with its
endpoint, then takes JSON lines on standard input and answers each with one:
    {"fault": "cable", "time": 0.3}        also silence, lost, late, stuck, garbage,
                                           slow: for a time
    {"fault": "estop"}, {"fault": "none"}  also release, estop_input, collision,
                                           self_collision, limit, speed, boundary,
                                           error, servo, over_temperature, warm,
                                           warning, disable, pause, teach, push, lean,
                                           gripper, block, refuse, power_off, power_on
It ends on SIGTERM and Ctrl-C.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import sys
import time
from pathlib import Path
from types import FrameType

import numpy as np

from paprle_emulators.command_line import read_number, read_one, say, take_settings
from paprle_emulators.notice import announce
from paprle_emulators.punctual import request_punctuality
from paprle_emulators.xarm.arm import LAG, PERIOD, Arm
from paprle_emulators.xarm.box import VERSION, Box
from paprle_emulators.xarm.faults import Faults
from paprle_emulators.xarm.gripper import KINDS
from paprle_emulators.xarm.journal import Journal
from paprle_emulators.xarm.models import MODELS
from paprle_emulators.xarm.protocol import CONTROL, Register, pack_finish
from paprle_emulators.xarm.reports import PERIODS, pack_report
from paprle_emulators.xarm.server import Server

_KEYS = ("model", "address", "port", "gripper", "q", "lag", "firmware", "log", "fault")
_PERIOD_NS = round(PERIOD * 1e9)
_MOST_LATE = 10  # chosen: after a longer pause of the machine, time is dropped
_QUIET = frozenset(
    (
        Register.SERVO_JOINT,
        Register.SERVO_POSE,
        Register.SERVO_POSE_AXIS,
        Register.STATE,
        Register.ERROR,
        Register.JOINTS,
        Register.POSE,
    )
)  # chosen: asked for often; servo targets have lines of their own


class Emulator:
    """Loop of arm, box, ports, faults and journal."""

    def __init__(self, faults: Faults, box: Box, server: Server, log: Journal) -> None:
        self._arm, self._box, self._server, self._log = faults.arm, box, server, log
        self._faults = faults
        self._must_end, self._rest, self._n_boots = False, b"", 0
        self._was_cut = False
        self._due = dict.fromkeys(PERIODS, 0)
        self._stdin = selectors.DefaultSelector()

    def run(self) -> None:
        """Run until a signal."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)
        # a file, or /dev/null, cannot be waited for, and has nothing to say
        with contextlib.suppress(PermissionError, ValueError):
            self._stdin.register(sys.stdin, selectors.EVENT_READ)
        due = time.monotonic_ns()
        while not self._must_end:
            self._listen(due)
            self._take_stdin()
            now = time.monotonic_ns()
            if now >= due:
                self._step(now)
                due = max(due + _PERIOD_NS, now - _MOST_LATE * _PERIOD_NS)

    def _listen(self, due: int) -> None:
        timeout = max(0.0, (due - time.monotonic_ns()) * 1e-9)
        if self._faults.is_cut or self._faults.is_off:
            self._was_cut = True
            time.sleep(timeout)
            return
        if self._was_cut:  # what a client has taken back never comes
            self._was_cut = False
            self._server.drop_reset()
        for node, request in self._server.receive(timeout):
            stamp = time.monotonic_ns()
            answer = self._box.answer(request)
            if request.register not in _QUIET:
                self._log.write_request(stamp, request.register, request.data)
            for counts, target in self._box.planning.targets:
                self._log.write_target(stamp, target, counts=counts)
            self._box.planning.targets.clear()
            for name, values in self._box.settings:
                self._log.write_setting(stamp, name, values)
            self._box.settings.clear()
            self._server.answer(node, answer, stamp + self._faults.answer_delay_ns)
            self._server.flush(stamp)

    def _step(self, now_ns: int) -> None:
        self._faults.pass_time(now_ns)
        is_off = self._faults.is_off
        if self._faults.n_boots != self._n_boots and not is_off:
            self._n_boots = self._faults.n_boots
            self._server.leave()  # whoever was connected has to come again
            self._server.listen()
        if not is_off:
            self._arm.step()
        self._log.write_arm(now_ns, self._arm)
        if not is_off and not self._faults.is_cut:
            self._server.flush(now_ns)
            self._report(now_ns)

    def _report(self, now_ns: int) -> None:
        for token in self._arm.done:
            self._server.announce(pack_finish(*token))
        self._arm.done.clear()
        for port, period in PERIODS.items():
            if now_ns < self._due[port]:
                continue
            next_ns = self._due[port] + round(period * 1e9)
            self._due[port] = max(next_ns, now_ns - _PERIOD_NS)
            if self._server.has_readers(port):
                report = pack_report(self._arm, port, self._box.version, now_ns)
                reports = self._faults.change(port, report, now_ns)
                self._server.report(port, reports)

    def _take_stdin(self) -> None:
        if not self._stdin.get_map() or not self._stdin.select(0):
            return
        data = os.read(sys.stdin.fileno(), 65536)
        if not data:
            self._stdin.unregister(sys.stdin)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in filter(None, lines):
            self._take_order(line.decode(errors="replace"))

    def _take_order(self, line: str) -> None:
        now = time.monotonic_ns()
        try:
            order = json.loads(line)
            if not isinstance(order, dict):
                raise ValueError(f"expected a JSON object, got {line!r}")
            self._faults.apply(now, order)
        except ValueError as err:
            say(json.dumps({"ok": False, "error": str(err)}))
            return
        self._log.write_fault(now, line)
        say(json.dumps({"ok": True, "done": order["fault"], "stamp_ns": now}))

    def _end(self, _signal: int, _frame: FrameType | None) -> None:
        self._must_end = True


def choose_address(word: str) -> str:
    """Return a loopback address."""
    if word != "own":
        return word
    pid = os.getpid()
    return f"127.{1 + (pid >> 16) % 254}.{pid >> 8 & 0xFF}.{pid & 0xFF or 1}"


def make_faults(words: list[str]) -> tuple[Faults, str, str, str]:
    """Return arm, address, firmware and log.

    Raises:
        ValueError: If a setting is invalid.
    """
    settings = take_settings(words, _KEYS)
    model, gripper = (
        read_one(settings, "model", "xarm7"),
        read_one(settings, "gripper", "xarm"),
    )
    if gripper not in (*KINDS, "none"):
        known = ", ".join((*KINDS, "none"))
        raise ValueError(f"gripper: expected one of {known}, got {gripper}")
    n = MODELS[model].axis if model in MODELS else 0
    q = read_one(settings, "q", ",".join(["0"] * n))
    lag = read_number(settings, "lag", LAG)
    arm = Arm(model, np.array([float(word) for word in q.split(",")]), gripper, lag)
    faults = Faults(arm)
    for text in settings["fault"]:
        faults.apply(time.monotonic_ns(), json.loads(text))
    place = read_one(settings, "port", read_one(settings, "address", "127.0.0.1"))
    firmware = read_one(settings, "firmware", VERSION)
    return faults, choose_address(place), firmware, read_one(settings, "log", "")


def main(words: list[str]) -> int:
    """Run the arm."""
    if {"-h", "--help"} & set(words):
        sys.stdout.write(f"{__doc__}\n")
        return 0
    request_punctuality()
    try:
        faults, address, firmware, log = make_faults(words)
    except ValueError as err:
        sys.stderr.write(f"xarm emulator: {err}\n")
        return 2
    with contextlib.ExitStack() as stack:
        server = Server(address)
        stack.callback(server.close)
        try:
            file = None
            if log:
                file = stack.enter_context(Path(log).open("w", encoding="ascii"))
            server.listen()
        except OSError as err:
            sys.stderr.write(
                f"xarm emulator: {address}: {err}; port {CONTROL} is for root, or: "
                f"sysctl net.ipv4.ip_unprivileged_port_start={CONTROL}\n"
            )
            return 2
        model = next(name for name, m in MODELS.items() if m is faults.arm.model)
        overrides = [f"env.host={address}", "gate.accept_unattended=true"]
        stack.enter_context(announce("env", "xarm", overrides, model))
        endpoint = {"ports": {"xarm": address}, "host": address, "log": log}
        say(json.dumps({"ready": True, **endpoint, "overrides": overrides}))
        Emulator(faults, Box(faults.arm, firmware), server, Journal(file)).run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
