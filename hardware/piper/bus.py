"""PiPER through the vendor's SDK, with our own reader.

The SDK's reading threads spin on a failed bus, and cannot be ended.
"""

from __future__ import annotations

import importlib
import itertools
import re
import socket
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from paprle.hardware.can_channel.channels import (
    BIT_RATE,
    BusError,
    check_socketcan,
    lock_channel,
)
from paprle.hardware.piper.chunks import ChunkedPort
from paprle.hardware.piper.protocol import (
    ASKS_GRIPPER,
    BUS_OFF,
    FIRMWARE,
    GRIPPER_SETTINGS,
    GRIPPER_STATE,
    JOINT_STATES,
    LIMITS,
    MOTION_IDS,
    MOTORS_FAST,
    MOTORS_SLOW,
    STATUS,
)
from paprle.hardware.piper.readings import (
    ArmReading,
    Condition,
    Motor,
    make_condition,
    make_limits,
    make_motion,
    make_motors,
)

Clock = Callable[[], int]

_RECEIVE_TIME = 0.05  # [s] chosen: how long the reader takes to notice its end
_POLL = 0.005  # [s] chosen: one period of the arm's reports
_CAN_MODE, _MOVE_J, _POSITION = 0x01, 0x01, 0x00  # spec: protocol V2, 0x151
_FULL_SPEED = 100  # [%] spec: protocol V2; the gate's limits are the slower ones
_GRIPPER_ON = 0x01  # spec: protocol V2, 0x159
_ALL_MOTORS = 7  # spec: protocol V2, 0x471
_LEADER_ANGLES = {0x3A5, 0x2B5, 0x2C5}  # spec: 0x2A5 with the offsets of 0x470
_VERSION = re.compile(rb"S-V[0-9.]+-[0-9]+")  # spec: answer to 0x4AF
_BUS_OFF = "CAN controller is bus-off"
_MANY_FRAMES = 1000  # chosen: a third of a second of an arm's reports, without an error
_RATE = 200.0  # [Hz] chosen: the default of the follower
_MOST_GARBLED = 20  # chosen: in a row; then the port speaks something else
_REPORTS = (STATUS, *JOINT_STATES, GRIPPER_STATE, *MOTORS_FAST, *MOTORS_SLOW)
_IN_MOTION = {*JOINT_STATES, GRIPPER_STATE, *MOTORS_FAST}
_WANTED = frozenset(
    (*_REPORTS, LIMITS, FIRMWARE, GRIPPER_SETTINGS)
)  # the others are not looked at

_numbers = itertools.count()


class PiperBus:
    """One arm on one channel; only its reader has a thread.

    Attributes:
        motors_ns: Slow reports' arrival, [ns].
        angle_limits: By joint from 1, [0.1°].
        stroke: Gripper's, [mm]; 0: unset.
        foreign: Id and arrival [ns] of the newest foreign command.
        failure: Reason for missing reports.
    """

    def __init__(
        self, interface: str, channel: str, clock: Clock, rate: float = _RATE
    ) -> None:
        self._interface, self._channel, self._clock = interface, channel, clock
        self._name = f"{interface} '{channel}'"
        self._sdk: Any = None
        self._rate = rate
        self._guard: Any = None
        self._parser: Any = None
        self._read_so_far: Any = None
        self._lock: socket.socket | None = None
        self._reader: threading.Thread | None = None
        self._must_end = threading.Event()
        self._arrivals: dict[int, int] = {}
        self.motion: ArmReading | None = None
        self.condition: Condition | None = None
        self.motors: tuple[Motor, ...] = ()
        self.motors_ns = 0
        self.angle_limits: dict[int, tuple[int, int]] = {}
        self.stroke: int | None = None
        self._n_garbled = self._n_good = 0
        self._firmware = b""
        self.foreign: tuple[int, int] | None = None
        self.failure = ""

    def open(self) -> None:
        """Join the bus and listen; send only requests.

        Raises:
            ImportError: Missing SDK or python-can.
            BusError: Unusable or occupied channel.
        """
        sdk = importlib.import_module("piper_sdk")
        if self._interface == "socketcan":
            check_socketcan(self._channel)
        self._lock = lock_channel(self._interface, self._channel)
        self._sdk = sdk.C_PiperInterface_V2(
            # the SDK keeps one object a name for ever, with its stale values
            can_name=f"{self._channel}#{next(_numbers)}",
            judge_flag=False,
            can_auto_init=False,
            logger_level=sdk.LogLevel.SILENT,
        )
        self._parser = sdk.protocol.protocol_v2.C_PiperParserV2()
        self._read_so_far = sdk.piper_msgs.msg_v2.PiperMessage()
        self._create_bus()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._sdk.ConnectPort(start_thread=False, piper_init=True)
        self._sdk.ArmParamEnquiryAndConfig(param_enquiry=ASKS_GRIPPER)

    def wait_for(self, is_met: Callable[[], object], timeout: float) -> bool:
        """Return whether a condition is met within ``timeout``, [s]."""
        end = time.monotonic() + timeout
        while not is_met():
            if self.failure or time.monotonic() > end:
                return False
            time.sleep(_POLL)
        return True

    def listen(self, duration: float) -> None:
        """Listen for ``duration``, [s]."""
        time.sleep(duration)

    def name_missing(self) -> str:
        """Return missing reports, or ""."""
        missing = [can_id for can_id in _REPORTS if can_id not in self._arrivals]
        if not self._arrivals:
            return "no frame at all"
        if _LEADER_ANGLES & self._arrivals.keys() and JOINT_STATES[0] in missing:
            return "only the reports of a teaching (leader) arm, 0x470 configures it"
        return f"none of {', '.join(map(hex, missing))}" if missing else ""

    def read_firmware(self) -> str:
        """Return the version, or ""."""
        match = _VERSION.search(self._firmware)
        return match[0].decode("ascii") if match else ""

    def ask(self) -> None:
        """Request version, limits and the gripper's stroke."""
        self._firmware = b""
        self._sdk.PiperInit()
        self._sdk.ArmParamEnquiryAndConfig(param_enquiry=ASKS_GRIPPER)

    def enable(self) -> None:
        """Request power for all joints."""
        self._sdk.EnableArm(_ALL_MOTORS)

    def disable(self) -> None:
        """Remove power from all joints: the arm falls."""
        self._sdk.DisableArm(_ALL_MOTORS)

    @property
    def n_dropped(self) -> int:
        """Dropped frames after stalls."""
        return 0 if self._guard is None else int(self._guard.n_dropped)

    def renew(self) -> None:
        """Begin a period; targets long after it are dropped."""
        if self._guard is not None:
            self._guard.renew()

    def send_mode(self) -> None:
        """Send the mode of joint targets."""
        self._sdk.MotionCtrl_2(_CAN_MODE, _MOVE_J, _FULL_SPEED, _POSITION)

    def send_joints(self, angles: Sequence[int]) -> None:
        """Send six joints' target, [0.001°]."""
        self._sdk.JointCtrl(*angles)

    def send_gripper(self, opening: int, torque: int) -> None:
        """Send opening [0.001 mm] and largest torque [0.001 N·m]."""
        self._sdk.GripperCtrl(opening, torque, _GRIPPER_ON, 0)

    def close(self) -> None:
        """Leave the bus; the arm keeps its state.

        Raises:
            BusError: The adapter stays open.
        """
        self._must_end.set()
        if self._reader is not None:
            self._reader.join(10 * _RECEIVE_TIME)
            self._reader = None
        sdk, self._sdk = self._sdk, None
        try:
            if sdk is not None:
                self._disconnect(sdk)
        finally:
            if self._lock is not None:
                self._lock.close()
                self._lock = None

    def _disconnect(self, sdk: Any) -> None:
        can = importlib.import_module("can")
        try:
            sdk.DisconnectPort()
        except (can.CanError, OSError) as err:
            raise BusError(
                f"{self._interface} '{self._channel}': expected to be let go, got "
                f"{err}; unplug the adapter"
            ) from err

    def _create_bus(self) -> None:
        can = importlib.import_module("can")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # the SDK's own
                self._sdk.CreateCanBus(
                    self._channel,
                    bustype=self._interface,
                    expected_bitrate=BIT_RATE,
                    judge_flag=False,
                )
        except ConnectionError:
            is_open = False
        else:
            is_open = self._sdk.GetCanBus().recv_bus is not None
        if not is_open:
            raise BusError(f"{self._name}: {self._find_cause(can)}")
        guard = importlib.import_module("paprle.hardware.piper.guard")
        port = self._sdk.GetCanBus()
        port.send_bus = self._guard = guard.StallGuard(port.send_bus, self._rate)
        if self._interface == "slcan":
            outbox = importlib.import_module("paprle.hardware.piper.outbox")
            port.send_bus = outbox.Outbox(port.send_bus)
            port.recv_bus.serialPortOrig = ChunkedPort(port.recv_bus.serialPortOrig)

    def _find_cause(self, can: Any) -> str:
        try:
            bus = can.Bus(
                channel=self._channel, interface=self._interface, bitrate=BIT_RATE
            )
        except Exception as err:  # noqa: BLE001 - back-ends raise anything
            return f"cannot be opened: {err}"
        bus.shutdown()
        return "cannot be opened twice, as the SDK needs it"

    def _read(self) -> None:
        bus, stamp = self._sdk.GetCanBus().recv_bus, self._clock()
        try:
            while not self._must_end.is_set():
                message = self._receive(bus, 0.0)
                if message is None:  # all was read: whatever comes next has just come
                    message = self._receive(bus, _RECEIVE_TIME)
                    stamp = self._clock()
                if message is not None:
                    self._take(message, stamp)
        except Exception as err:  # noqa: BLE001 - back-ends raise anything
            self.failure = f"bus lost, start the session again: {err}"

    def _receive(self, bus: Any, timeout: float) -> Any:
        try:
            message = bus.recv(timeout)
        except (ValueError, IndexError):  # as a port's first line, cut in the middle
            self._n_garbled += 1
            if self._n_garbled > _MOST_GARBLED:
                raise
            return None
        self._n_garbled = 0 if message is not None else self._n_garbled
        return message

    def _take(self, message: Any, stamp: int) -> None:
        can_id = message.arbitration_id
        if message.is_error_frame:
            if can_id & BUS_OFF:
                self.failure, self._n_good = _BUS_OFF, 0
            return
        if self.failure:  # the interface may restart it by itself (restart-ms)
            self._n_good += 1
            self.failure = "" if self._n_good > _MANY_FRAMES else self.failure
        if can_id in MOTION_IDS:
            self.foreign = (can_id, stamp)
            return
        if len(message.data) != 8 and can_id != FIRMWARE:
            return
        self._arrivals[can_id] = stamp
        if can_id in _WANTED:
            self._parser.DecodeMessage(message, self._read_so_far)
            self._note(can_id, stamp)

    def _note(self, can_id: int, stamp: int) -> None:
        said = self._read_so_far
        if can_id == JOINT_STATES[-1] and self._arrivals.keys() >= _IN_MOTION:
            self.motion = make_motion(said, self._arrivals)
        elif can_id == STATUS:
            self.condition = make_condition(said, stamp)
        elif can_id == MOTORS_SLOW[-1]:
            self.motors, self.motors_ns = make_motors(said), stamp
        elif can_id == LIMITS:
            self.angle_limits = self.angle_limits | make_limits(said)
        elif can_id == GRIPPER_SETTINGS:
            self.stroke = int(said.arm_gripper_teaching_param_feedback.max_range_config)
        elif can_id == FIRMWARE:
            self._firmware += bytes(said.firmware_data)
