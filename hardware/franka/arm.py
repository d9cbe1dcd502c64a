"""Arm behind its control unit."""

from __future__ import annotations

import importlib.util
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from paprle.hardware.franka.conditions import REMEDIES, judge
from paprle.hardware.franka.hand import Hand
from paprle.hardware.franka.messages import (
    EVERY,
    Errors,
    Failure,
    Mode,
    Note,
    Order,
    State,
    pack_goal,
    pack_order,
    unpack_news,
)
from paprle.hardware.franka.models import MODELS, describe_version
from paprle.hardware.franka.process import DeviceProcess
from paprle.hardware.vendor_arm.arm import Clock, Reading, Vec, VendorArm
from paprle.hardware.vendor_arm.clock import DeviceClock
from paprle.hardware.vendor_arm.states import ArmError, ArmState, Condition, describe

_WATCHDOG = 1.0  # [s] chosen: of the owner's silence; without goals it brakes at once
_FIRST_TIME = 15.0  # [s] chosen: Python, the SDK, and its 1 s for a connection
_START_TIME = 15.0  # [s] chosen: likewise, where a new process is needed
_POLL = 0.005  # [s] chosen
_LISTEN_TIME = 0.1  # [s] chosen: another client moves the arm meanwhile
_AT_REST = 0.02  # [rad/s] chosen: above the noise of measured speeds
_SILENCE = 2.0  # [s] chosen: in a motion; a UDP timeout of the SDK is 1 s
_ATTENTION = 0.05  # [s] chosen: of that at once; a computer that sleeps hears nothing
_STARVED = 0.05  # [s] chosen: without goals; then it brakes where it is
_JITTER_TIME = 1.0  # [s] chosen
_LATE = 2.0  # [ms] chosen: the unit's own pace is 1 ms
_WORKER = "paprle.hardware.franka.worker"


@dataclass(frozen=True, slots=True, kw_only=True)
class FrankaSettings:
    """Settings of an arm.

    Attributes:
        model: Of ``MODELS``.
        rate: Of goals, [Hz].
        grasp_force: [N].
        collision_torque: By joint, [N·m]; None: as set at the unit.
        collision_force: By axis, [N].
    """

    host: str
    model: str = "fr3"
    rate: float = 200.0
    has_hand: bool = False
    grasp_force: float = 40.0
    collision_torque: float | None = None
    collision_force: float = 20.0


@dataclass(frozen=True, slots=True)
class Jitter:
    """Intervals of states, [ms], and the share over 2 ms."""

    median: float
    most: float
    share_late: float


class FrankaArm(VendorArm):
    """A connected arm; ``open`` first.

    Attributes:
        model: SDK, protocol and limits.
        n_resets: Deviations from commands, by lost packets.
        success_rate: Of the last 100 commands, 0 … 1.
    """

    def __init__(self, settings: FrankaSettings, clock: Clock) -> None:
        super().__init__(f"franka '{settings.host}'", clock, settings.rate, _WATCHDOG)
        self._settings, self.model = settings, MODELS[settings.model]
        self._process: DeviceProcess | None = None
        self._time = DeviceClock()
        self._state: State | None = None
        self._stamp_ns = 0
        self._errors, self._refusal, self._lost = Errors("", ""), "", ""
        self._other_version = 0
        self._heard, self._silence = 0.0, 0.0
        self._goal_ns = 0
        self.remedies = REMEDIES
        self.hand: Hand | None = None
        self.n_resets, self.success_rate = 0, 0.0

    def open(self) -> None:
        """Greet, recover from a reflex, and start without motion.

        Raises:
            ImportError: Missing SDK.
            ArmError: Unreachable, erroneous or moving.
        """
        if self._process is None:
            self.greet()
        condition = self.examine()
        if condition.state is ArmState.PROTECTIVE_STOP:
            self._command(Order.RECOVER)  # it moves nothing
            self._wait_for(lambda: self._judge().state is ArmState.ENDED, _START_TIME)
            condition = self._judge()
        if condition.state is not ArmState.ENDED:
            raise ArmError(f"{self.name}: {describe(condition, self.remedies)}")
        if self._settings.has_hand:
            self.hand = self._make_hand()
            self.hand.open()
        self._command(Order.START)
        if not self._wait_for(lambda: self._judge().is_ready, _START_TIME):
            why = self._refusal or describe(self._judge(), self.remedies)
            raise ArmError(f"{self.name}: expected it to take commands, got: {why}")
        self.start()

    def greet(self) -> State:
        """Return the arm's first state after connecting.

        Raises:
            ImportError: Missing SDK.
            ArmError: Unreachable, or another model.
        """
        s, package = self._settings, self.model.package
        if importlib.util.find_spec(package) is None:
            raise ImportError(f"no module '{package}'", name=package)
        self._lost = self._refusal = ""
        self._other_version, self._silence = 0, 0.0
        self._state, self._errors = None, Errors("", "")
        thresholds = (s.collision_torque or 0.0, s.collision_force)
        words = (s.model, s.host, s.rate, _WATCHDOG, *thresholds)
        self._process = DeviceProcess(_WORKER, tuple(map(str, words)))
        self._wait_for(lambda: self._state is not None or self._lost, _FIRST_TIME)
        if self._other_version:
            raise ArmError(self._describe_other())
        if self._state is None:
            got = self._lost or "no state"
            raise ArmError(
                f"{self.name}: expected a control unit, got: {got}; look at its cable, "
                "power and address, and whether FCI is active in Desk"
            )
        return self._state

    def examine(self) -> Condition:
        """Return the condition at rest; ENDED if startable.

        Raises:
            ArmError: Another client moves it.
        """
        end = time.monotonic() + _LISTEN_TIME
        while time.monotonic() < end:
            self._receive()
            if self._state is not None and np.abs(self._state.dq).max() > _AT_REST:
                raise ArmError(
                    f"{self.name}: expected an arm at rest, got one that moves; end "
                    "the other program or let go of it"
                )
            time.sleep(_POLL)
        return self._judge()

    def measure_jitter(self) -> Jitter:
        """Return the states' jitter over a second."""
        stamps: list[int] = []
        end = time.monotonic() + _JITTER_TIME
        while time.monotonic() < end and self._process is not None:
            for data in self._process.receive():
                news = unpack_news(data)
                if isinstance(news, State):
                    stamps.append(news.stamp_ns)
            time.sleep(_POLL)
        gaps = np.diff(np.array(stamps, dtype=np.float64)) * 1e-6 / EVERY
        if not len(gaps):
            return Jitter(math.inf, math.inf, 1.0)
        median, most = np.percentile(gaps, (50, 99))
        late = float(np.mean(gaps > _LATE))
        return Jitter(float(median), float(most), late)

    @property
    def is_commanded(self) -> bool:
        """Whether its process commands it."""
        return self._state is not None and self._state.is_streaming

    def write(self, q: Vec) -> None:
        """Send a goal, shape (7,), [rad]; never waits."""
        self._goal_ns = self._clock()
        super().write(q)

    def find_held(self, reading: Reading) -> Vec:
        """Return the position held without new goals, shape (7,), [rad]."""
        state = self._state
        starved = self._clock() - self._goal_ns > 1e9 * _STARVED
        has_none = starved or self.is_muted  # of goals that count
        if has_none and state is not None and reading.condition.is_ready:
            return state.end
        return super().find_held(reading)

    def _read(self) -> Reading:
        self._receive()
        state = self._state
        if state is None:
            raise ArmError(f"{self.name}: expected an open arm, got a closed one")
        # the unit's is what surroundings do to the joints, as here
        return Reading(self._stamp_ns, state.q, state.dq, state.tau, self._judge())

    def _judge(self) -> Condition:
        if self._lost or self._state is None:
            return Condition(ArmState.DISCONNECTED, self._lost)
        return judge(self._state, self._errors, self._refusal)

    def _receive(self) -> None:
        process = self._process
        if process is None:
            return
        has_ended, has_news = not process.is_alive, False
        for data in process.receive():
            has_news, news = True, unpack_news(data)
            if isinstance(news, State):
                self._take_state(news)
            elif isinstance(news, Errors):
                self._errors = news
            elif isinstance(news, Failure):
                self._lost, self._other_version = news.reason, news.version
            elif isinstance(news, Note):
                self._refusal = news.text
        if has_ended and not self._lost:  # it told all before
            self._lost = "its process has ended"
        if self._is_silent(is_heard=has_news or bool(self._lost)):
            process.kill()  # it waits for an answer that never comes
            self._lost = f"no state for {_SILENCE:.0f} s"

    def _is_silent(self, *, is_heard: bool) -> bool:
        now, state = time.monotonic(), self._state
        passed, self._heard = now - self._heard, now
        if is_heard or state is None or not state.is_streaming:
            self._silence = 0.0
        else:
            self._silence += min(passed, _ATTENTION)
        return self._silence > _SILENCE

    def _describe_other(self) -> str:
        ours, theirs = self.model, self._other_version
        if theirs == ours.version:
            return (
                f"{self.name}: expected {ours.package} to speak "
                f"{describe_version(theirs)}, got another build of it; "
                f"pip install 'paprle[{ours.extra}]'"
            )
        return (
            f"{self.name}: expected the control unit of a {ours.title}, "
            f"{describe_version(ours.version)} of its protocol, got "
            f"{describe_version(theirs)}; look at its address, or choose its follower"
        )

    def _make_hand(self) -> Hand:
        s = self._settings
        return Hand(s.model, s.host, s.grasp_force)

    def _take_state(self, state: State) -> None:
        if state.mode not in (Mode.REFLEX, Mode.IDLE):
            self._refusal = ""
        self.n_resets += max(0, state.n_resets - self._count_resets())
        self.success_rate = state.success_rate
        self._state = state
        now = self._clock()
        age = time.monotonic_ns() - state.stamp_ns
        self._stamp_ns = self._time.to_ours(1e-3 * state.device_ms, now - max(age, 0))

    def _count_resets(self) -> int:
        state = self._state
        return state.n_resets if state is not None and state.is_streaming else 0

    def _command(self, order: Order) -> None:
        if self._process is not None:
            self._process.send(pack_order(order))

    def _send(self, q: Vec) -> None:
        if self._process is None or not self._process.send(pack_goal(q)):
            raise ArmError("a goal was not taken by the process of the arm")

    def _keep(self) -> None:
        self._command(Order.KEEP)

    def _end_program(self) -> None:
        state = self._state
        if state is None or state.mode is not Mode.REFLEX or self._refusal:
            return
        if np.abs(state.dq).max() < _AT_REST:
            self._command(Order.RECOVER)

    def _start_program(self) -> None:
        state = self._state
        if state is not None and state.mode is Mode.IDLE:
            self._command(Order.START)

    def _leave(self, *, is_powerless: bool) -> None:
        del is_powerless
        process, hand = self._process, self.hand
        self._process = self.hand = None
        if hand is not None:
            hand.close()
        if process is not None:
            process.send(pack_order(Order.END))
            process.close()

    def _wait_for(self, is_met: Callable[[], object], timeout: float) -> bool:
        end = time.monotonic() + timeout
        while not is_met():
            if time.monotonic() > end or self._lost:
                return False
            self._receive()
            self._keep()
            time.sleep(_POLL)
        return True
