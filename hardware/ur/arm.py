"""Arm behind its controller, by ur_rtde.

ur_rtde waits before each command. It reconnects and uploads its script by itself, so a
lost connection is closed until the next ``open``.
"""

from __future__ import annotations

import importlib
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Lock, Thread
from typing import Any

import numpy as np

from paprle.hardware.ur.conditions import (
    IDLE,
    POWER_OFF,
    judge,
    judge_safety,
    judge_version,
)
from paprle.hardware.ur.freedrive import Freedrive, Order
from paprle.hardware.ur.geometry import GEOMETRIES, Geometry, compute_torques
from paprle.hardware.ur.messages import Messages
from paprle.hardware.vendor_arm.arm import Clock, Reading, Vec, VendorArm
from paprle.hardware.vendor_arm.clock import DeviceClock
from paprle.hardware.vendor_arm.settings import VendorSettings
from paprle.hardware.vendor_arm.states import (
    ArmError,
    ArmState,
    Condition,
    describe,
)

PORTS: Mapping[int, str] = {
    29999: "dashboard",
    30003: "scripts",
    30004: "RTDE",
}  # spec: Universal Robots; all are fixed
RATE = 500.0  # [Hz] spec: control cycle of the e-series
_VARIABLES = (
    "timestamp",
    "actual_q",
    "actual_qd",
    "actual_TCP_force",
    "robot_mode",
    "safety_status_bits",
    "robot_status_bits",
    "runtime_state",
    "target_speed_fraction",
    "actual_digital_input_bits",
)
_REACH_TIME = 1.0  # [s] chosen: a controller on the same network answers in 1 ms
_DASHBOARD_MS = 2000  # [ms] spec: default of ur_rtde
_SILENT_NS = 100_000_000  # [ns] chosen: 50 cycles of the controller
_LEAVE_TIME = 1.5  # [s] chosen: three times what ur_rtde waits
_POWER_TIME = 20.0  # [s] chosen: booting joints and releasing brakes takes 10 s
_OPEN_TIME = 6.0  # [s] chosen: ur_rtde waits 5 s for a script, for a cut cable for ever
_START_TIME = 2.0  # [s] chosen: an uploaded script begins within 0.1 s
_LED_PLACE = 0.005  # [rad] chosen: a gate that has not begun anew holds its old goal
_STILL = 0.01  # [rad/s] chosen: above the noise of measured speeds
_NO_SPEED = 0.0  # servoJ's speed and acceleration are not used. spec: ur_rtde
_LEFT: list[Any] = []
"""Clients that were left: the end of each holds Python's lock for up to seconds."""

_LOST = Condition(ArmState.DISCONNECTED)
_LOCAL = Condition(ArmState.LOCAL)
_LED = Condition(ArmState.LED)


@dataclass(frozen=True, slots=True, kw_only=True)
class UrSettings(VendorSettings):
    """Settings of an arm.

    Attributes:
        rate: Of goals, [Hz].
        lookahead: Of ``servoj``, 0.03 … 0.2, [s].
        gain: Of ``servoj``, 100 … 2000.
        watchdog: Longest silence before its program ends, [s].
        freedrive_input: Digital input of a button to lead it by hand, if any.
    """

    rate: float = RATE
    lookahead: float = 0.03
    gain: float = 300.0
    watchdog: float = 0.2
    freedrive_input: int | None = None


@dataclass(frozen=True, slots=True)
class Identity:
    """Model, software and serial number."""

    model: str
    version: str
    serial: str


class UrArm(VendorArm):
    """A connected arm; ``open`` first."""

    def __init__(self, settings: UrSettings, clock: Clock) -> None:
        super().__init__(
            f"ur '{settings.host}'", clock, settings.rate, settings.watchdog
        )
        self._settings = settings
        self._time = DeviceClock()
        self._dashboard: Any = None
        self._receiver: Any = None
        self._control: Any = None
        self._geometry: Geometry | None = None
        self._last: Reading | None = None
        self._is_local = False
        self._freedrive = Freedrive()
        self._messages = Messages(clock)
        self._protected_ns: int | None = None
        self.identity = Identity("", "", "")

    def open(self) -> None:
        """Connect, power on, and start the program, without motion.

        Raises:
            ImportError: Missing ur_rtde.
            ArmError: Unreachable, stopped, faulty or in local control.
        """
        self.greet()
        self._check_remote()
        self._receiver = self._connect("rtde_receive", "RTDEReceiveInterface")
        self._switch_on()
        self._control = self._connect("rtde_control", "RTDEControlInterface")
        self._finish(self._set_up)
        self._messages.open(self._settings.host)
        self._freedrive.leave()
        self.start()

    def greet(self) -> Identity:
        """Return the identity after connecting.

        Raises:
            ImportError: Missing ur_rtde.
            ArmError: Unreachable, or too old.
        """
        client = importlib.import_module("dashboard_client").DashboardClient
        for port in PORTS:
            self._check_port(port)
        self._dashboard = client(self._settings.host)
        self._ask(lambda: self._dashboard.connect(_DASHBOARD_MS))
        version = str(self._ask(self._dashboard.polyscopeVersion))
        trouble = judge_version(version)
        if trouble:
            raise ArmError(f"{self.name}: {trouble}")
        model = str(self._ask(self._dashboard.getRobotModel)).upper().rstrip("E")
        serial = str(self._ask(self._dashboard.getSerialNumber))
        self.identity = Identity(model, version, serial)
        self._geometry = GEOMETRIES.get(model)
        if self._geometry is None:
            raise ArmError(
                f"{self.name}: expected one of {', '.join(GEOMETRIES)}, got {model}"
            )
        return self.identity

    def examine(self) -> tuple[Condition, float]:
        """Read power, safety, control and slider.

        Returns:
            The condition, and the slider's share.

        Raises:
            ArmError: Unreadable.
        """
        self._receiver = self._connect("rtde_receive", "RTDEReceiveInterface")
        receiver = self._receiver
        found = judge_safety(receiver.getRobotMode(), receiver.getSafetyStatusBits())
        if found.is_ready and not self._ask(self._dashboard.isInRemoteControl):
            found = _LOCAL
        return found, float(receiver.getTargetSpeedFraction())

    def _read(self) -> Reading:
        reading = self._read_arm()
        condition = reading.condition
        if condition.is_ready and self._freedrive.is_active:
            return replace(reading, condition=_LED)
        if condition.state is not ArmState.PROTECTIVE_STOP:
            self._protected_ns = None
            return reading
        if self._protected_ns is None:
            self._protected_ns = reading.stamp_ns
        code = self._messages.find_code(self._protected_ns)
        return replace(reading, condition=replace(condition, detail=code))

    def _read_arm(self) -> Reading:
        receiver = self._receiver
        if receiver is None or self._geometry is None:
            raise ArmError(f"{self.name}: expected an open arm, got a closed one")
        is_lost = not receiver.isConnected() or not self._is_controlled()
        if is_lost and self._last is not None:
            return replace(self._last, condition=_LOST)
        stamp = receiver.getTimestamp()
        now = self._clock()  # after it: an early clock makes all later readings old
        q = receiver.getActualQ()
        wrench = np.array(receiver.getActualTCPForce())
        condition = judge(
            receiver.getRobotMode(),
            receiver.getSafetyStatusBits(),
            receiver.getRobotStatus(),
            receiver.getRuntimeState(),
        )
        if not condition.is_ready and self._is_local:
            condition = _LOCAL
        self._last = Reading(
            self._time.to_ours(stamp, now),
            np.array(q),
            np.array(receiver.getActualQd()),
            compute_torques(self._geometry, q, wrench),
            condition,
            float(receiver.getTargetSpeedFraction()),
        )
        return self._last

    def _serve(self) -> None:
        self._messages.poll()
        if self._settings.freedrive_input is not None:
            self._guide(self._settings.freedrive_input)
        super()._serve()

    def _guide(self, number: int) -> None:
        """Begin and end teach mode by its button, and keep its watchdog."""
        reading, now = self._read_arm(), self._clock()
        guide, bits = self._freedrive, int(self._receiver.getActualDigitalInputBits())
        order = guide.step(
            now,
            is_high=bool(bits >> number & 1),
            is_ready=reading.condition.is_ready,
            is_still=bool(np.abs(reading.dq).max() < _STILL),
        )
        try:
            if order is Order.BEGIN:
                self._same_place = _LED_PLACE
                self._command(self._control.servoStop)
                self._command(self._control.teachMode)
            elif order is Order.END:
                self._command(self._control.endTeachMode)
            elif guide.is_active:
                self._keep_alive(now, reading)
        except ArmError:
            guide.leave()
            raise

    def _is_controlled(self) -> bool:
        return self._control is None or bool(self._control.isConnected())

    def _send(self, q: Vec) -> None:
        settings = self._settings
        self._command(
            self._control.servoJ,
            q.tolist(),
            _NO_SPEED,
            _NO_SPEED,
            1.0 / settings.rate,
            settings.lookahead,
            settings.gain,
        )

    def _keep(self) -> None:
        self._command(self._control.kickWatchdog)

    def _end_program(self) -> None:
        self._is_local = not self._ask(self._dashboard.isInRemoteControl)
        if not self._is_local:
            self._ask(self._dashboard.stop)

    def _start_program(self) -> None:
        self._is_local = not self._ask(self._dashboard.isInRemoteControl)
        if self._is_local:
            return
        self._clear_command()
        self._ask(self._control.reuploadScript)
        if self._wait_for(self._control.isProgramRunning, _START_TIME):
            self._set_up()

    def _leave(self, *, is_powerless: bool) -> None:
        # each client waits for half a second, of a silent controller for minutes,
        # which ends the program by its watchdog
        is_heard = self._is_heard()
        control, receiver, dashboard = self._control, self._receiver, self._dashboard
        self._control = self._receiver = self._dashboard = self._last = None
        self._messages.close()
        _LEFT.extend((control, receiver, dashboard))
        first, last = [], []
        if control is not None:
            first += [[control.stopScript] * is_heard + [control.disconnect]]
        if receiver is not None:
            first += [[receiver.disconnect]]
        if dashboard is not None:
            is_off = is_powerless and (is_heard or control is None)
            last += [[dashboard.powerOff] * is_off + [dashboard.disconnect]]
        self._do_at_once(first)
        self._do_at_once(last)

    def _do_at_once(self, tasks: Sequence[Sequence[Callable[[], object]]]) -> None:

        def do(steps: Sequence[Callable[[], object]]) -> None:
            for step in steps:
                self._try(step)

        threads = [Thread(target=do, args=(steps,), daemon=True) for steps in tasks]
        for thread in threads:
            thread.start()
        until = time.monotonic() + _LEAVE_TIME
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))

    def _try(self, step: Callable[[], object]) -> None:
        with suppress(ArmError):  # a controller that has gone is left as well
            self._ask(step)

    def _is_heard(self) -> bool:
        last = self._last
        if last is None or self._control is None or not self._control.isConnected():
            return False
        return self._clock() - last.stamp_ns < _SILENT_NS

    def _clear_command(self) -> None:
        """Clear the command register: a new program would obey the last one."""
        self._ask(self._control.kickWatchdog)

    def _set_up(self) -> None:
        settings = self._settings
        self._command(self._control.setWatchdog, 1.0 / settings.watchdog)
        if settings.payload:
            centre = list(settings.payload_centre)
            self._command(self._control.setPayload, settings.payload, centre)

    def _check_port(self, port: int) -> None:
        host = self._settings.host
        try:
            socket.create_connection((host, port), _REACH_TIME).close()
        except OSError as err:
            raise ArmError(
                f"{self.name}: expected its {PORTS[port]} at port {port}, got: {err}; "
                "look at its cable, power and address, and enable its services "
                "(Settings, Security)"
            ) from err

    def _check_remote(self) -> None:
        if not self._ask(self._dashboard.isInRemoteControl):
            raise ArmError(f"{self.name}: {describe(_LOCAL)}")

    def _switch_on(self) -> None:
        receiver = self._receiver

        def find() -> Condition:
            return judge_safety(receiver.getRobotMode(), receiver.getSafetyStatusBits())

        if receiver.getRobotMode() in (POWER_OFF, IDLE):
            safety = judge_safety(7, receiver.getSafetyStatusBits())
            if safety.is_ready:
                self._ask(self._dashboard.powerOn)
                self._ask(self._dashboard.brakeRelease)
                self._wait_for(lambda: find().is_ready, _POWER_TIME)
        if not find().is_ready:
            raise ArmError(f"{self.name}: {describe(find(), self.remedies)}")

    def _connect(self, module: str, name: str) -> Any:
        host = self._settings.host
        make = getattr(importlib.import_module(module), name)
        more: tuple[Sequence[str], ...] = ()
        more = (list(_VARIABLES),) if module == "rtde_receive" else ()
        return self._finish(lambda: self._ask(lambda: make(host, RATE, *more)))

    def _finish(self, step: Callable[[], Any]) -> Any:
        found: list[Any] = []
        errors: list[BaseException] = []
        lock, late = Lock(), False

        def do() -> None:
            result: list[Any] = []
            try:
                result.append(step())
            except BaseException as err:  # noqa: BLE001 - raised again below
                errors.append(err)
            with lock:
                if not late:
                    found.extend(result)
                    return
            self._abandon(result)

        thread = Thread(target=do, name=f"{self.name} opens", daemon=True)
        thread.start()
        thread.join(_OPEN_TIME)
        with lock:
            late = not found and not errors
        if errors:
            raise errors[0]
        if late:
            raise ArmError(
                f"{self.name}: expected it ready within {_OPEN_TIME:.0f} [s], got no "
                "answer; look at its cable, then start the session again"
            )
        return found[0]

    def _abandon(self, clients: Sequence[Any]) -> None:
        for client in clients:
            for name in ("stopScript", "disconnect"):
                if hasattr(client, name):
                    self._try(getattr(client, name))

    def _command(self, command: Callable[..., object], *values: object) -> None:
        if not self._ask(lambda: command(*values)):
            raise ArmError(f"{command.__name__} was not obeyed")

    def _ask(self, call: Callable[[], object]) -> Any:
        try:
            return call()
        except (RuntimeError, ValueError, TypeError) as err:
            raise ArmError(f"{self.name}: {err}") from err
