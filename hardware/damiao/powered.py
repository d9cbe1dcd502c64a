"""Motors of one arm under torque.

The arm's thread sends rounds of MIT frames. An arm that is left sinks slowly.
"""

from __future__ import annotations

import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from paprle.hardware.damiao.bus import DamiaoBus
from paprle.hardware.damiao.models import ArmModel
from paprle.hardware.damiao.opening import (
    check_registers,
    clear,
    find_strangers,
    list_silent,
)
from paprle.hardware.damiao.packets import (
    DISABLE,
    ENABLE,
    KD_MAX,
    Feedback,
    Status,
    pack_mit,
    pack_special,
)
from paprle.hardware.damiao.remedies import AGAIN, describe
from paprle.hardware.vendor_arm.states import ArmError

Vec = npt.NDArray[np.float64]
Clock = Callable[[], int]

_LOG = logging.getLogger(__name__)
BLIND_NS = 50_000_000  # [ns] chosen: answers that old mean a cable, not a busy host
_SILENT_NS = 200_000_000  # [ns] chosen: the gate gives up a state at 250 ms
_FOREIGN_NS = 1_000_000_000  # [ns] chosen: how long another program is remembered
_STILL = 0.2  # [rad/s] chosen: above the steps of measured speeds
_REST_TIME = 5.0  # [s] chosen: an arm that has just lost its torque swings
_JOIN = 1.0  # [s] chosen: many periods
_DESCENT_RATE = 200.0  # [Hz] chosen: of the frames of a descent
_DESCENT_SPEED = 0.25  # [rad/s] chosen: slow to the eye
_LIGHT = 1.0  # [N·m] chosen: a joint that carries less sinks more slowly still
_SUNK = 0.5  # [N·m] chosen: no joint carries more: the arm hangs
_ENABLE_TIME = (
    2.0  # [s] chosen: a busy host; for all motors to say that they have torque
)


@dataclass(frozen=True, slots=True)
class Reading:
    """Measurements of an arm and its gripper, shape (n,).

    Attributes:
        stamp_ns: Oldest answer's arrival, [ns].
        q: The gripper's last, [rad].
        dq: [rad/s].
        tau: Without the arm's weight, [N·m].
    """

    stamp_ns: int
    q: Vec
    dq: Vec
    tau: Vec


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmSettings:
    """Connection and behaviour of an arm.

    Attributes:
        rate: Of goals, [Hz].
        timeout: Of the motors, [s].
        descent: Longest slow one at the end, [s].
    """

    interface: str
    channel: str
    model: ArmModel
    has_gripper: bool
    rate: float
    timeout: float
    descent: float


class PoweredArm(ABC):
    """An arm on its channel; ``read`` never waits."""

    def __init__(
        self,
        settings: ArmSettings,
        compute_gravity: Callable[[Vec], Vec],
        clock: Clock,
    ) -> None:
        """Describe an arm.

        ``compute_gravity`` maps q, shape (joints,), [rad], to the carrying torques,
        [N·m]; any thread calls it. ``clock`` is monotonic, [ns].
        """
        model = settings.model
        self._n = n = model.n + settings.has_gripper
        self.name = f"{settings.interface} '{settings.channel}'"
        self.bus = DamiaoBus(
            settings.interface, settings.channel, model.motors[:n], clock
        )
        self._settings, self._gravity, self._clock = settings, compute_gravity, clock
        self._n_joints = model.n
        self._kp, self._kd, self._most = np.array(
            [model.kp[:n], model.kd[:n], model.tau[:n]]
        )
        self._period_ns = round(1e9 / settings.rate)
        self._round: list[bytes] = []
        self._sent_ns = self._unanswered_ns = 0
        self._fault = ""
        self._suspects: dict[int, Feedback] = {}
        self._news, self._must_end = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    def open(self) -> None:
        """Connect, examine the motors, and hold the arm in place.

        Raises:
            ImportError: Missing python-can.
            ArmError: All problems.
        """
        self.bus.open()
        problem = find_strangers(self.bus)
        problems = [problem] if problem else list_silent(self.bus)
        problems = problems or list(clear(self.bus, self._settings.timeout))
        problems = problems or list(check_registers(self.bus, self._settings.timeout))
        if problems:
            raise ArmError("\n".join(problems))
        self._take_up()
        self._must_end.clear()
        self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)
        self._thread.start()

    def read(self) -> tuple[Reading, str]:
        """Return the newest reading and the reason against commands, or ""."""
        found = self._list_feedback()
        return self._make_reading(found), self._fault or self._find_reason(found)

    @property
    def stamp_ns(self) -> int:
        """Arrival of the oldest answer, [ns]."""
        return min(one.stamp_ns for one in self._list_feedback())

    def list_warmth(self) -> list[int]:
        """Return each motor's higher temperature, [°C]."""
        return [max(one.mos, one.coil) for one in self._list_feedback()]

    def close(self, *, is_powerless: bool) -> None:
        """End the thread; repeatable.

        Args:
            is_powerless: Without a slow descent.
        """
        self._must_end.set()
        self._news.set()
        if self._thread is not None:
            self._thread.join(_JOIN)
            self._thread = None
            is_powerless = is_powerless or self._descend()
        if self._round and not self.bus.failure:
            frames = [pack_special(DISABLE)] * len(self._round)
            if not is_powerless:  # it sinks on, until its motors brake by themselves
                kd = KD_MAX
                frames = [
                    pack_mit(m, (0.0, 0.0, 0.0, kd, 0.0)) for m in self.bus.models
                ]
            for number, frame in enumerate(frames, start=1):
                self.bus.send(number, frame)
        self._round = []
        self.bus.close()

    @abstractmethod
    def _begin(self, reading: Reading) -> list[bytes]:
        """Return the frames that give an arm at rest torque."""

    @abstractmethod
    def _await_turn(self) -> None:
        """Wait until a round may be due."""

    @abstractmethod
    def _serve(self) -> None:
        """Send a round if one is due."""

    def _take_up(self) -> None:
        reading = self._await_rest()
        self._round = self._begin(reading)
        for number, frame in enumerate(self._round, start=1):
            self.bus.send(number, pack_special(ENABLE))
            self.bus.send(number, frame)

        end = time.monotonic() + _ENABLE_TIME
        while any(one.status is not Status.ENABLED for one in self._list_feedback()):
            if time.monotonic() > end or self.bus.failure:
                words = self._find_reason(self._list_feedback())
                raise ArmError(
                    f"{self.name}: expected torque on all motors, got {words}"
                )
            time.sleep(self._period_ns * 1e-9)
            for number, frame in enumerate(self._round, start=1):
                self.bus.send(number, frame)

    def _await_rest(self) -> Reading:
        end = time.monotonic() + _REST_TIME
        while True:
            for number in range(1, self._n + 1):
                self.bus.find(number)
            reading = self._make_reading(self._list_feedback())
            fastest = float(np.abs(reading.dq).max())
            if fastest < _STILL:
                return reading
            if time.monotonic() > end or self.bus.failure:
                raise ArmError(
                    f"{self.name}: expected an arm at rest, got {fastest:.2f} [rad/s]; "
                    "hold it still, or lay it down"
                )

    def _list_feedback(self) -> list[Feedback]:
        found = [one for one in self.bus.feedback if one is not None]
        if len(found) < self._n:
            raise ArmError(f"{self.name}: expected an open arm, got a closed one")
        return found

    def _make_reading(self, found: list[Feedback]) -> Reading:
        q, dq, tau = np.array([(one.q, one.dq, one.tau) for one in found]).T
        tau[: self._n_joints] -= self._gravity(q[: self._n_joints])
        return Reading(min(one.stamp_ns for one in found), q, dq, tau)

    def _find_reason(self, found: list[Feedback]) -> str:
        bus, now = self.bus, self._clock()
        if bus.failure:
            return bus.failure
        if bus.foreign is not None and now - bus.foreign[1] < _FOREIGN_NS:
            return f"another program commands motor {bus.foreign[0]}; end it"
        newest = max(one.stamp_ns for one in found)
        for number, one in enumerate(found, start=1):
            words = describe(f"motor {number}", one.status)
            # a bus that is silent altogether shows as the age of the state instead
            if newest - one.stamp_ns > _SILENT_NS:
                words = f"motor {number}: no answer; look at its cable"
            if words:
                return f"{words}; {AGAIN}"
        return ""

    def _run(self) -> None:
        while not self._must_end.is_set():
            self._await_turn()
            try:
                self._serve()
            except (ArmError, ValueError) as err:
                self._fault = f"{err}; {AGAIN}"
                _LOG.exception("%s", self.name)
                return

    def _note_answers(self, found: Sequence[Feedback]) -> bool:
        oldest = min(one.stamp_ns for one in found)
        if oldest >= self._unanswered_ns:
            self._unanswered_ns = 0
        # answers that are there but not yet read are no sign of a cable
        silence = self.bus.drained_ns - self._unanswered_ns
        return self._unanswered_ns > 0 and silence > BLIND_NS

    def _send_round(self, found: Sequence[Feedback], now: int) -> None:
        self._sent_ns = now
        self._unanswered_ns = self._unanswered_ns or now
        for number, frame in enumerate(self._round, start=1):
            if found[number - 1].status is Status.ENABLED:
                self.bus.send(number, frame)
            else:  # torque that comes back by itself shall not find a goal
                self.bus.refresh(number)

    def _watch(self, found: list[Feedback]) -> None:
        for number, one in enumerate(found, start=1):
            before = self._suspects.get(number)
            if one.status is Status.ENABLED:
                self._suspects.pop(number, None)
            elif before is None or before.status is not one.status:
                self._suspects[number] = one
            elif before.stamp_ns < one.stamp_ns and not self._fault:
                self._fault = f"{describe(f'motor {number}', one.status)}; {AGAIN}"

    def _carry(self, q: Vec) -> Vec:
        tau, n = np.zeros(self._n), self._n_joints
        tau[:n] = np.clip(self._gravity(q[:n]), -self._most[:n], self._most[:n])
        return tau

    def _descend(self) -> bool:
        end = time.monotonic() + self._settings.descent
        n = self._n_joints
        stiff = np.zeros(self._n)
        stiff[n:] = self._kp[n:]
        while time.monotonic() < end and not self.bus.failure:
            found = self._list_feedback()
            q = np.array([one.q for one in found])
            weight = self._gravity(q[:n])
            if np.abs(weight).max() < _SUNK:
                return True
            oldest = min(one.stamp_ns for one in found)
            is_lame = any(one.status is not Status.ENABLED for one in found)
            if is_lame or self._clock() - oldest > _SILENT_NS:
                return False
            tau, dq = np.zeros((2, len(q)))
            tau[:n] = np.clip(weight, -self._most[:n], self._most[:n])
            dq[:n] = -_DESCENT_SPEED * np.clip(weight / _LIGHT, -1.0, 1.0)
            rows = (q, dq, stiff, np.minimum(2.0 * self._kd, KD_MAX), tau)
            for number, command in enumerate(zip(*rows, strict=True), start=1):
                frame = pack_mit(self.bus.models[number - 1], command)
                self.bus.send(number, frame)
            time.sleep(1.0 / _DESCENT_RATE)
        return False
