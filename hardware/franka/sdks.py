"""SDKs behind one interface, with the states of libfranka.

Their calls hold the GIL while they wait.
"""

from __future__ import annotations

import importlib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from paprle.hardware.franka.messages import Mode
from paprle.hardware.franka.models import Model

Step = Callable[[Any, int], tuple[list[float], bool]]
"""From a state and the cycles since the last one to joints, (7,), [rad], and the end.

It is 0 cycles for the first state.
"""

_NO_FILTER = 1000.0  # [Hz] spec: lowpass_filter.h, kMaxCutoffFrequency
_SERVER = re.compile(r"server version: (\d+)")  # spec: libfranka, exception.h
_REJECTED = "command rejected"  # spec: robot_impl.h, of a Move that did not begin
_MODES = {
    "Other": Mode.OTHER,
    "Idle": Mode.IDLE,
    "Move": Mode.MOVE,
    "Guiding": Mode.GUIDING,
    "Reflex": Mode.REFLEX,
    "UserStopped": Mode.USER_STOPPED,
    "AutomaticErrorRecovery": Mode.RECOVERY,
}  # spec: robot_state.h, RobotMode


class Refused(Exception):
    """An order that the unit refused."""


class Ended(Exception):
    """A motion that the unit ended."""


class OtherVersion(Exception):
    """A unit of another version of the protocol.

    Attributes:
        version: The unit's.
    """

    def __init__(self, version: int) -> None:
        super().__init__(f"version {version}")
        self.version = version


class Connection(ABC):
    """A connected arm.

    Attributes:
        modes: Ours, by the SDK's.
        needs_new_image: A failed motion is left, whose end would end the process.
    """

    modes: Mapping[Any, Mode]
    needs_new_image = False
    _refusals: tuple[type[Exception], ...]

    def __init__(self, model: Model, address: str, prefix: str) -> None:
        """Connect.

        Args:
            model: With the SDK's package.
            address: Of the control unit.
            prefix: Of the SDK's names of modes.

        Raises:
            OtherVersion: If the unit speaks another version than the SDK.
            Exception: Of the SDK, if there is none.
        """
        self._sdk = sdk = load_sdk(model)
        self.modes = {getattr(sdk.RobotMode, prefix + k): v for k, v in _MODES.items()}
        try:
            self._robot = sdk.Robot(address, sdk.RealtimeConfig.kIgnore)
        except Exception as err:
            found = _SERVER.search(str(err))
            version = int(found[1]) if found else getattr(err, "server_version", 0)
            if not version:
                raise
            raise OtherVersion(version) from err

    def read(self) -> Any:
        """Wait for the next state and return it."""
        return self._robot.read_once()

    def recover(self) -> None:
        """Recover from errors; raise Refused if it needs a person."""
        self._ask(self._robot.automatic_error_recovery)

    def set_thresholds(self, torque: float, force: float) -> None:
        """Set collision thresholds of all joints, [N·m], and axes, [N]."""
        torques, forces = [torque] * 7, [force] * 6
        self._ask(self._robot.set_collision_behavior, torques, torques, forces, forces)

    @abstractmethod
    def stream(self, step: Step, note: Callable[[], None]) -> None:
        """Command each cycle until the end.

        Args:
            step: Of each state.
            note: Called after it, once the command has left if the SDK allows it.

        Raises:
            Refused: If the unit refuses the motion.
            Ended: If it ends the motion.
        """

    def _ask(self, call: Callable[..., None], *args: Any) -> None:
        try:
            call(*args)
        except self._refusals as err:
            raise Refused(shorten(err)) from err


class Fr3Connection(Connection):
    """A Franka Research 3, through ``pylibfranka``."""

    def __init__(self, model: Model, address: str) -> None:
        """Connect; see the base."""
        super().__init__(model, address, "")
        self._refusals = (self._sdk.CommandException, self._sdk.ControlException)
        self._dead_motion: Any = None

    def stream(self, step: Step, note: Callable[[], None]) -> None:
        """Command each cycle; see the base."""
        sdk = self._sdk
        mode = sdk.ControllerMode.JointImpedance
        try:
            motion = self._robot.start_joint_position_control(mode)
        except self._refusals as err:
            raise Refused(shorten(err)) from err
        try:
            self._run(motion, step, note)
        except sdk.ControlException as err:
            self._dead_motion, self.needs_new_image = motion, True
            raise Ended(shorten(err)) from err
        except BaseException:
            self._dead_motion = motion
            raise

    def _run(self, motion: Any, step: Step, note: Callable[[], None]) -> None:
        state, _ = motion.readOnce()
        n, command = 0, self._sdk.JointPositions([0.0] * 7)
        while True:
            command.q, command.motion_finished = step(state, n)
            motion.writeOnce(command)
            if command.motion_finished:
                return
            note()
            state, elapsed = motion.readOnce()
            n = round(1e3 * elapsed.to_sec())


class PandaConnection(Connection):
    """A Panda, through libfranka 0.9.2 in ``panda_py``.

    Any error of this SDK is a RuntimeError. A lost connection is Ended or Refused, too;
    the next reading raises it.
    """

    def __init__(self, model: Model, address: str) -> None:
        """Connect; see the base."""
        super().__init__(model, address, "k")
        self._refusals = (RuntimeError,)
        version = self._robot.server_version()
        if version != model.version:  # a build of the SDK for another arm
            raise OtherVersion(version)

    def stream(self, step: Step, note: Callable[[], None]) -> None:
        """Command each cycle; see the base."""
        sdk = self._sdk

        def choose(state: Any, elapsed: Any) -> Any:
            q, is_last = step(state, elapsed.to_msec())
            command = sdk.JointPositions(q)
            command.motion_finished = is_last
            note()
            return command

        mode = sdk.ControllerMode.kJointImpedance
        try:
            self._robot.control_joint_position(choose, mode, False, _NO_FILTER)
        except RuntimeError as err:
            text = shorten(err)
            raise (Refused if _REJECTED in text else Ended)(text) from err


_MODULES = {"pylibfranka": "pylibfranka", "panda_py": "panda_py.libfranka"}
_CONNECTIONS: Mapping[str, Callable[[Model, str], Connection]] = {
    "pylibfranka": Fr3Connection,
    "panda_py": PandaConnection,
}


def load_sdk(model: Model) -> Any:
    """Return the module of a model's SDK."""
    return importlib.import_module(_MODULES[model.package])


def connect(model: Model, address: str) -> Connection:
    """Return a connection to a model's control unit.

    Raises:
        OtherVersion: If it is another model's.
    """
    return _CONNECTIONS[model.package](model, address)


def shorten(err: Exception) -> str:
    """Return an error's text in a line, without libfranka's name."""
    return " ".join(str(err).replace("libfranka:", "").split())
