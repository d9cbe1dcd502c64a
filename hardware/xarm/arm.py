"""Arm behind its control box.

Targets leave without waiting for answers. A silent box is left for good: sent targets
are discarded.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import io
import logging
import queue
import socket
import struct
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from paprle.hardware.vendor_arm.arm import Clock, Reading, Vec, VendorArm
from paprle.hardware.vendor_arm.settings import VendorSettings
from paprle.hardware.vendor_arm.states import (
    READY,
    ArmError,
    ArmState,
    Condition,
    describe,
)
from paprle.hardware.xarm.conditions import (
    MOVING,
    PAUSED,
    SERVO,
    STOPPED,
    judge,
    judge_error,
)
from paprle.hardware.xarm.gripper import Gripper
from paprle.hardware.xarm.identity import Identity, read_identity
from paprle.hardware.xarm.reports import Details, Motion, Reports

CONTROL = 502  # spec: TCP port; the SDK knows no other
OLDEST = (1, 8, 0)  # spec: data-description-of-tcp-port, firmware of these reports
_SILENCE = 0.2  # [s] chosen: of the owner, after which nothing is tried; no watchdog
_REACH_TIME = 1.0  # [s] chosen: a box on the same network answers in 1 ms
_FIRST_TIME = (
    3.0  # [s] chosen: for the first reports; the slow ones come 5 times a second
)
_ANSWER_TIME = 0.5  # [s] chosen: a box answers in 1 ms; longer is a cable
_ENABLE_TIME = 5.0  # [s] chosen: brakes open in less than one
_LISTEN_TIME = 0.1  # [s] chosen: another master moves the arm meanwhile
_DETAILS_NS = (
    1_000_000_000  # [ns] chosen: five reports of the condition that are missing
)
_ASKING_NS = 50_000_000  # [ns] chosen: until the box has said why it stopped
_DISCARD = struct.pack("ii", 1, 0)  # spec: struct linger of socket(7)
_N_MOST = 7  # spec: joints in every target, whatever the arm has
_TARGET = struct.Struct(">HHHB")  # spec: header of the private protocol
_SERVO_JOINT, _TARGET_LENGTH = 29, 41  # spec: p09-basic-motion, register 29
_MOST_UNANSWERED = 10  # chosen: 50 ms of targets, as old as readings may be
_GENERATION = 1305  # spec: SDK; serial numbers from there on have tighter limits
_PLANNED = 0  # spec: mode of planned motion, in which a start moves nothing
_LITE = 9  # spec: SDK, type of a Lite 6
_TOOL_SPEED, _TOOL_SPEED_LITE = 1.2, 0.6  # [m/s] spec: user manual, C60
_OF_850 = 8500  # spec: SDK; the 850's serial numbers begin there


@dataclass(frozen=True, slots=True, kw_only=True)
class XArmSettings(VendorSettings):
    """Settings of an arm.

    Attributes:
        rate: Of goals, [Hz].
        sensitivity: 0 … 5; None: box's.
    """

    n: int
    rate: float = 200.0
    gripper: str = "none"
    sensitivity: int | None = None


class XArm(VendorArm):
    """A connected arm; ``open`` first."""

    def __init__(self, settings: XArmSettings, clock: Clock) -> None:
        super().__init__(f"xarm '{settings.host}'", clock, settings.rate, _SILENCE)
        self._settings = settings
        self._api: Any = None
        self._reports: Reports | None = None
        self._lost = ""
        self._stopped_ns = self._asked_ns = self._error = self._number = 0
        self._has_ended_pause = False
        self._unanswered: deque[tuple[int, int]] = deque()
        self.identity = Identity(0, 0, "", (0, 0, 0))
        self.gripper: Gripper | None = None

    def open(self) -> None:
        """Greet and power on in servo mode, without motion.

        Raises:
            ImportError: Missing SDK.
            ArmError: Unreachable, erroneous or moving.
        """
        if self._api is None:
            self.greet()
        condition, _ = self.examine()
        if not condition.is_ready:
            raise ArmError(f"{self.name}: {describe(condition, self.remedies)}")
        self._check_rest()
        self._switch_on()
        if self._settings.gripper != "none":
            # a connection of its own: a call of the SDK drops answers that wait
            self.gripper = Gripper(self._connect(), self._settings.gripper)
            self.gripper.open()
        self.start()

    def greet(self) -> Identity:
        """Return the identity after connecting.

        Raises:
            ImportError: Missing SDK.
            ArmError: Unreachable, too old, or another arm.
        """
        settings = self._settings
        self._lost, self._error = "", 0
        self._unanswered.clear()
        try:
            socket.create_connection((settings.host, CONTROL), _REACH_TIME).close()
        except OSError as err:
            raise ArmError(
                f"{self.name}: expected a control box at port {CONTROL}, got: {err}; "
                "look at its cable, power and address"
            ) from err
        self._api = api = self._connect()
        self.identity = who = read_identity(api)
        if who.firmware < OLDEST or who.axis != settings.n:
            raise ArmError(
                f"{self.name}: expected an arm of {settings.n} joints and firmware "
                f"{'.'.join(map(str, OLDEST))} or newer, got {who.axis} joints and "
                f"{'.'.join(map(str, who.firmware))}"
            )
        return self.identity

    def examine(self) -> tuple[Condition, Details]:
        """Return the condition, power aside, and the newest report.

        Raises:
            ArmError: No reports.
        """
        self._reports = Reports(self._settings.host, self._settings.n, self._clock)
        reports = self._reports
        try:
            reports.open()
        except OSError as err:
            raise ArmError(f"{self.name}: expected its reports, got: {err}") from err
        self._wait_for(lambda: reports.motion and reports.details, _FIRST_TIME)
        if reports.motion is None or reports.details is None:
            got = reports.failure or "none"
            raise ArmError(f"{self.name}: expected its reports, got {got}")
        details = reports.details
        if not details.error:
            return READY, details
        condition, remedy = judge_error(details.error, details)
        self.remedies = {condition.state: remedy}
        return condition, details

    def find_limits(self) -> Vec:
        """Return lower and upper limits, shape (n, 2), [rad].

        Shape (0, 2) if the SDK has none.
        """
        table = importlib.import_module("xarm.core.config.x_config").XCONF.Robot
        who = self.identity
        digits = who.serial[2:6]
        generation = int(digits) if digits.isdigit() else 0
        kind = who.kind
        if _GENERATION <= generation < _OF_850:
            kind = int(f"{who.axis}{_GENERATION}")
        rows = table.JOINT_LIMITS.get(who.axis, {}).get(kind, [])
        return np.array(rows, dtype=np.float64).reshape(-1, 2)

    def write_gripper(self, opening: float) -> None:
        """Set the gripper's opening, [m], unless stopped."""
        if self.gripper is not None and not self._is_muted:
            self.gripper.write(opening)

    @property
    def details(self) -> Details | None:
        """Newest condition."""
        return None if self._reports is None else self._reports.details

    @property
    def tool_speed(self) -> float:
        """Tool speed limit of the box (C60), [m/s]."""
        return _TOOL_SPEED_LITE if self.identity.kind == _LITE else _TOOL_SPEED

    @property
    def state_rate(self) -> float:
        """Rate of readings, [Hz]."""
        return 0.0 if self._reports is None else self._reports.rate

    def _read(self) -> Reading:
        reports = self._reports
        if reports is None or reports.motion is None or reports.details is None:
            raise ArmError(f"{self.name}: expected an open arm, got a closed one")
        motion = reports.motion
        condition = self._judge(motion, reports.details, reports.failure)
        return Reading(motion.stamp_ns, motion.q, motion.dq, motion.tau, condition)

    def _judge(self, motion: Motion, details: Details, failure: str) -> Condition:
        now = self._clock()
        if self._lost or failure:
            return Condition(ArmState.DISCONNECTED, self._lost or failure)
        if motion.state < STOPPED:
            self._stopped_ns = 0
            self._has_ended_pause &= motion.state == PAUSED
        elif not self._stopped_ns:
            self._stopped_ns = now
        is_newer = self._asked_ns > details.stamp_ns
        error = self._error if is_newer else details.error
        is_asking = self._asked_ns < self._stopped_ns
        if is_asking and not error and now - self._stopped_ns < _ASKING_NS:
            return READY
        is_ours = self._has_ended_pause and details.has_power and motion.mode == SERVO
        if is_ours and motion.state == STOPPED:
            motion = dataclasses.replace(motion, state=PAUSED)
        condition, remedy = judge(motion, details, error, now)
        self.remedies = {condition.state: remedy} if remedy else {}
        return condition

    def _serve(self) -> None:
        self._note_answers()
        if self._stopped_ns > self._asked_ns and not self._lost:
            code, found = self._api.get_err_warn_code()
            self._unanswered.clear()  # the call dropped their answers
            if code == 0:
                self._error, self._asked_ns = int(found[0]), self._clock()
        super()._serve()

    def _note_answers(self) -> None:
        answers = self._api.core.arm_port.rx_que
        with contextlib.suppress(queue.Empty):
            while True:
                (number,) = struct.unpack_from(">H", answers.get_nowait())
                while self._unanswered and self._unanswered[0][0] <= number:
                    self._unanswered.popleft()
        oldest_ns = self._unanswered[0][1] if self._unanswered else self._clock()
        if not self._lost and self._clock() - oldest_ns > 1e9 * _ANSWER_TIME:
            self._discard("a target was not answered")

    def _send(self, q: Vec) -> None:
        # set_servo_angle_j's frame; it would wait for each answer, and warn each time
        if len(self._unanswered) >= _MOST_UNANSWERED:
            raise ArmError(f"{_MOST_UNANSWERED} targets were not answered")
        core = self._api.core
        self._number = self._number % 0x7FFF + 1
        if self._number == 1:
            self._unanswered.clear()
        number = self._number | 0x8000  # beside those of the SDK
        floats = [*q.tolist(), *[0.0] * (_N_MOST - len(q) + 3)]
        kind = core.get_protocol_identifier()
        head = _TARGET.pack(number, kind, _TARGET_LENGTH, _SERVO_JOINT)
        frame = head + struct.pack(f"<{len(floats)}f", *floats)
        self._unanswered.append((number, self._clock()))
        if core.arm_port.write(frame) != 0:
            self._discard("a target could not be sent")

    def _discard(self, reason: str) -> None:
        self._lost = reason
        with contextlib.suppress(OSError):
            node = self._api.core.arm_port.com
            node.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _DISCARD)
            node.close()

    def _keep(self) -> None:
        """Do nothing: the box has no watchdog."""

    def _end_program(self) -> None:
        reports = self._reports
        if reports and reports.motion and reports.motion.state == PAUSED:
            self._has_ended_pause = True  # still the reason once the box reports a stop
            self._api.set_state(STOPPED)
            self._unanswered.clear()  # the call dropped their answers

    def _start_program(self) -> None:
        """Do nothing: power and mode come by ``open`` alone."""

    def _leave(self, *, is_powerless: bool) -> None:
        api, reports, gripper = self._api, self._reports, self.gripper
        self._api = self._reports = self.gripper = None
        with _quiet():
            if gripper is not None:
                gripper.close()
            if api is not None:
                if not self._lost and api.connected:
                    if is_powerless:
                        api.motion_enable(False)
                    api.set_state(STOPPED)
                api.disconnect()
        if reports is not None:
            reports.close()

    def _connect(self) -> Any:
        try:
            with _quiet():
                wrapper = importlib.import_module("xarm.wrapper")
                log = importlib.import_module("xarm.core.utils.log")
                log.logger.setLevel(logging.CRITICAL)
                log.origin_logger.setLevel(logging.CRITICAL)
                api = wrapper.XArmAPI(
                    self._settings.host,
                    is_radian=True,
                    enable_report=False,
                    timed_comm=False,
                    forbid_uds=True,
                )
                api.set_timeout(_ANSWER_TIME)
                node = api.core.arm_port.com
                node.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return api
        except ImportError:
            raise
        except Exception as err:
            raise ArmError(f"{self.name}: expected to connect, got: {err}") from err
        finally:
            socket.setdefaulttimeout(None)  # the SDK changes that of every socket

    def _check_rest(self) -> None:
        time.sleep(_LISTEN_TIME)
        motion = None if self._reports is None else self._reports.motion
        if motion is not None and motion.state == MOVING:
            raise ArmError(
                f"{self.name}: expected an arm at rest, got one that another program "
                "moves; end that one"
            )

    def _switch_on(self) -> None:
        api = self._api
        api.clean_warn()
        codes = [api.motion_enable(True), *self._set_load()]
        codes += [api.set_mode(SERVO), api.set_state(0)]
        self._stopped_ns = 0
        self._has_ended_pause = False

        def is_on() -> bool:
            reports = self._reports
            if reports is None or reports.motion is None or reports.details is None:
                return False
            motion = reports.motion
            is_right = motion.mode == SERVO and motion.state < PAUSED
            return is_right and reports.details.has_power

        if any(codes) or not self._wait_for(is_on, _ENABLE_TIME):
            raise ArmError(
                f"{self.name}: expected power on all joints in servo mode, and payload "
                f"and sensitivity taken, got codes {', '.join(map(str, codes))}; look "
                "at the arm in UFACTORY Studio"
            )

    def _set_load(self) -> list[int]:
        """Set sensitivity and payload, without motion; return the SDK's codes."""
        api, settings = self._api, self._settings
        if settings.sensitivity is None and settings.payload is None:
            return []
        # a box that is not started drops a payload; a changed sensitivity stops it,
        # and in manual mode a start would let the arm go
        codes = [api.set_mode(_PLANNED), api.set_state(0)]
        if settings.sensitivity is not None:
            codes.append(api.set_collision_sensitivity(settings.sensitivity))
            codes.append(api.set_state(0))
        if settings.payload is not None:
            centre = [1e3 * x for x in settings.payload_centre]
            codes.append(api.set_tcp_load(settings.payload, centre))
        return codes


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with contextlib.redirect_stdout(io.StringIO()):
        yield
