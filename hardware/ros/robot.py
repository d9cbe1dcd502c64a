"""Robot behind a ROS graph."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from paprle.hardware.ros.bus import LATCHED, NEWEST, SENSORS, Bus, BusError
from paprle.hardware.ros.commands import Commander, Topic
from paprle.hardware.ros.controller import ControllerWatch
from paprle.hardware.ros.echo import EchoWatch
from paprle.hardware.ros.goals import repeat_fingers
from paprle.hardware.ros.joints import Vec, decode_bool, decode_float
from paprle.hardware.ros.messages import BOOL, FLOAT, JOINT_STATE, Codec, MessageError
from paprle.hardware.ros.responsiveness import AnswerWatch
from paprle.hardware.ros.states import JointStates
from paprle.hardware.ros.stopping import StopPlanner
from paprle.hardware.ros.turns import Turns

_LOG = logging.getLogger(__name__)

_LOOK_NS = 100_000_000  # [ns] chosen: how often the graph is looked at
_SETTLING = 0.5  # [s] chosen: time for publishers to be found that should not be there
_N_LOOKS = 3  # chosen: a busy host may hold up the states of one such time
_STATE_AGE = 0.02  # [s] spec: safety.md amendments, L3: max(3 periods, 20 ms)
_FIT = 1.5  # [states] chosen: in that age, or each late message holds the robot
_LEASE = 20  # [s] spec: Fast DDS; the dead are known for so long, 10 s to Cyclone
_PLAUSIBLE = 1.0  # [rad] chosen: how far outside its limits a real joint may read
_SLOWEST = 10.0  # [Hz] chosen: as the config's
_NEAR = 0.01  # [rad] chosen: a step that no drive minds
_UNANSWERED = (
    "the arm is held, or its driver refuses the messages: another list of joints, a "
    "controller that is not active, a program that does not run; see its log"
)
_FULL, _SPEED_STEP = 100.0, 5.0  # [%] spec: speed_scaling_state_broadcaster; chosen
_GAP = 3.0  # [periods] chosen: commands have stopped coming, as for StopPlanner
_MARKED = 25  # [periods] chosen: of standing; a controller that obeys has gone on
_LONGEST_LEAD = 0.5  # [s] chosen: what a command may be ahead, E, at a slow joint's V


@dataclass(frozen=True, kw_only=True)
class RobotSpec:
    """Joints and topics, shape (n,), in URDF positions.

    Attributes:
        joint_names: In ROS.
        scale: ROS over URDF position.
        q_min: Lower, ``q_max`` upper limits, [rad] or [m].
        dq_max: Limits V; ``ddq_max``: A.
        is_arm: Joints whose lag counts.
        can_turn: Joints with angles in [rad].
        running: Topic of Bool, false at a stop.
        speed: Topic of Float64, speed scaling, [%].
        period: Of commands, [s]; ``state_period`` of states.
        lead: From arrival to the first point, [s].
        lag: From command to measurement, [s].
        is_simulated: States echo the commands.
    """

    joint_names: tuple[str, ...]
    scale: Vec
    q_min: Vec
    q_max: Vec
    dq_max: Vec
    ddq_max: Vec
    is_arm: npt.NDArray[np.bool_]
    can_turn: npt.NDArray[np.bool_]
    states: tuple[str, ...]
    n_state_publishers: int
    commands: tuple[Topic, ...]
    running: str
    speed: str
    period: float
    state_period: float
    lead: float
    lag: float
    is_simulated: bool = False

    def make_states(self, codec: Codec) -> JointStates:
        """Return empty states of these joints."""
        turns = Turns(self.can_turn, self.q_min, self.q_max)
        return JointStates(codec, self.joint_names, self.scale, self.dq_max, turns)


class RosRobot:
    """States and commands over any bus."""

    def __init__(self, bus: Bus, spec: RobotSpec, clock: Callable[[], int]) -> None:
        self._bus, self._spec, self._clock = bus, spec, clock
        self.states = spec.make_states(bus.codec)
        self._is_running = None if spec.running else True
        self._looked_ns = 0
        self._intruder = self._deserted = ""
        self._is_held = False
        take = self.states.make_callback(bus, clock)
        for state in spec.states:
            bus.subscribe(state, JOINT_STATE, take, SENSORS)
        if spec.running:
            bus.subscribe(spec.running, BOOL, self._take_running, LATCHED)
        self._speed = _FULL
        if spec.speed:
            bus.subscribe(spec.speed, FLOAT, self._take_speed, NEWEST)
        self._commanders = [
            Commander(bus, topic, self._make_planner(topic), clock)
            for topic in spec.commands
        ]
        self._leads = [spec.lead] * len(self._commanders)
        self._off = [False] * len(self._commanders)
        self._controllers = [
            ControllerWatch(bus, topic.name, topic.joint_names, clock)
            for topic in spec.commands
        ]
        self._answers, self._is_answered = AnswerWatch(spec.is_arm), True
        has_lead = any(topic.kind == "trajectory" for topic in spec.commands)
        lead = spec.lead if has_lead else 0.0
        self._echo = EchoWatch(spec.is_arm, spec.period, lead)
        self._warnings: list[str] = []
        self._told = np.full(len(spec.joint_names), np.nan)
        self._wrapped: set[str] = set()
        self._sent_ns = 0

    def connect(self, timeout: float) -> None:
        """Await and verify the robot, within ``timeout`` [s].

        Raises:
            BusError: All findings.
        """
        self._bus.wait_until(self._is_there, timeout)
        problems = self._find_missing()
        if not problems:
            problems = self._find_slow()
            for watch in self._controllers:
                if state := watch.read():
                    self.states.agree_on_turns(state.names, state.q)
            problems += self._find_implausible()
            problems += self._ask_controllers(timeout)
            self._bus.wait_until(lambda: not self._find_intruder(), timeout)
            if intruder := self._find_intruder():
                gone = f"or wait: one killed less than {_LEASE} s ago counts, too"
                problems.append(f"{intruder}, {gone}")
        if problems:
            raise BusError("; ".join(problems))
        takers = "; ".join(
            commander.describe_takers() for commander in self._commanders
        )
        _LOG.warning("commands go to %s", takers)

    @property
    def notes(self) -> list[str]:
        """Findings on controllers."""
        return list(filter(None, (watch.describe() for watch in self._controllers)))

    def take_warnings(self) -> list[str]:
        """Return warnings since the last call."""
        found, self._warnings = self._warnings, []
        turns, names = self.states.turns, self._spec.joint_names
        is_wrapped = (turns.n != 0) | (turns.n_crossings > 0)
        wrapped = {names[i] for i in np.flatnonzero(is_wrapped)} - self._wrapped
        if wrapped:
            self._wrapped |= wrapped
            found.append(
                f"{', '.join(self._spec.states)}: expected angles of "
                f"{', '.join(sorted(wrapped))} beyond a turn, got angles within one "
                "turn; whole turns are counted since the start"
            )
        return found

    def poll(self) -> None:
        """Process received messages; never blocks."""
        self._bus.poll()
        now_ns = self._clock()
        # who made the states jump is asked at once: it may be a second robot's
        if now_ns - self._looked_ns >= _LOOK_NS or self.states.jump:
            self._looked_ns = now_ns
            self._intruder = self._bus.trouble or self._find_intruder()
            self._deserted = self._find_deserted()
            self._is_held = self._is_held or bool(self._deserted)

    @property
    def stop_reason(self) -> str:
        """Reason against driving the robot, or empty."""
        if not self._is_running:
            return (
                f"robot not running ({self._spec.running}); release its stop and start "
                "its program"
            )
        return self._deserted or self._intruder or self.states.jump

    @property
    def is_held(self) -> bool:
        """Whether only the robot's own place is sent."""
        return self._is_held

    def send(self, q: Vec) -> None:
        """Send positions, shape (n,), [rad] or [m].

        After a stop only the robot's own place is sent.
        """
        if self._is_held:
            off = np.abs(q - self.states.q)[self._spec.is_arm]
            is_back = self._is_running and not self._deserted
            self._is_held = not (is_back and (off <= _NEAR).all())
            if self._is_held:
                for commander in self._commanders:
                    commander.forget()
                self._told = np.full(len(q), np.nan)
                self._answers.forget()
                return
        late = self._find_late(q)
        for k, commander in enumerate(self._commanders):
            at = commander.topic.indices
            # a point that was told for later is not pulled near: that would be a step
            least = max(self._spec.lead, self._leads[k] - self._spec.period)
            lead = float(np.fmax.reduce(late[at], initial=least))
            self._leads[k] = min(lead, max(self._spec.lead, _LONGEST_LEAD))
            is_late = self._leads[k] > self._spec.lead
            self._off[k] = is_late and self._is_off(commander, was_off=self._off[k])
            commander.send(q[at], self._leads[k], is_off=self._off[k])
        repeat_fingers(self._commanders, self._clock())
        self._told, self._sent_ns = q.copy(), self._clock()
        self._look_for_answer(q)
        self._look_for_echo(q)

    def find_held(self) -> Vec | None:
        """Return held positions, shape (n,), or None."""
        if self._clock() - self._sent_ns <= _GAP * self._spec.period * 1e9:
            return None
        held = self._told.copy()
        for commander in self._commanders:
            q = commander.find_held()
            if q is not None:
                held[commander.topic.indices] = q
        return held if np.isfinite(held).all() else None

    def _ask_controllers(self, timeout: float) -> list[str]:
        for commander, watch in zip(self._commanders, self._controllers, strict=True):
            watch.ask(min(timeout, _SETTLING))
            if watch.begins_at_desired is not None:
                commander.planner.tells_begin = not watch.begins_at_desired
        found = (watch.find_refusal() for watch in self._controllers)
        return list(filter(None, found))

    def _look_for_echo(self, q: Vec) -> None:
        if self._spec.is_simulated or self._echo.is_over:
            return
        late = self._echo.look(q, self.states.q)
        if late is not None:
            self._warnings.append(
                f"{', '.join(self._spec.states)}: expected states that are measured, "
                f"got the commands again, {late * 1e3:.0f} [ms] later and without an "
                "error: fake hardware or a simulation. A real arm behind it is unseen, "
                "neither its stop nor its limits nor a contact: take a driver that "
                "measures, or set env.simulated=true"
            )

    def _look_for_answer(self, q: Vec) -> None:
        i = self._answers.look(q, self.states.q)
        if self._answers.n == 0:
            self._is_answered = True
        if self._answers.n == _MARKED:
            for watch in self._controllers:
                watch.mark()
        if i is None or not self._is_answered:
            return
        self._is_answered = False
        spec = self._spec
        name = spec.joint_names[i]
        known = [
            watch.find_answer(name)
            for watch in self._controllers
            if watch.name and watch.has(name)
        ]
        why = "; ".join(filter(None, known)) or _UNANSWERED
        self._warnings.append(
            f"{name} does not answer: expected it to follow by "
            f"{abs(q[i] - self.states.q[i]):.2f} [rad], got no motion; {why}"
        )

    @property
    def _longest_age(self) -> float:
        period = max(self._spec.period, self._spec.state_period)
        return max(3.0 * period, _STATE_AGE)

    def _make_planner(self, topic: Topic) -> StopPlanner:
        spec, at = self._spec, topic.indices
        planner = StopPlanner(
            spec.q_min[at],
            spec.q_max[at],
            spec.dq_max[at],
            spec.ddq_max[at],
            spec.period,
        )
        # spec: ros_controllers, joint_trajectory_controller: from its desired state
        planner.tells_begin = not self._bus.codec.is_ros1
        return planner

    def _find_late(self, q: Vec) -> Vec:
        # What it lags behind at the speed of the command is not counted. Where it is
        # has to be known: to a point put off for long it coasts, past its brake.
        spec, states = self._spec, self.states
        age_ns = self._clock() - int(states.stamps_ns.min())
        if states.jump or age_ns > self._longest_age * 1e9:
            return np.zeros(len(q))
        lag = 2.0 * spec.lag / spec.period * np.abs(q - self._told)
        off = np.abs(q - states.q) - np.nan_to_num(lag)
        return np.where(spec.is_arm, off / spec.dq_max, 0.0)

    def _is_off(self, commander: Commander, *, was_off: bool) -> bool:
        spec, at = self._spec, commander.topic.indices
        path = commander.planner.find_state(self._clock())
        if path is None:
            return False
        lag = (1.0 if was_off else 2.0) * spec.lag
        off = np.abs(path[0] - self.states.q[at]) - lag * np.abs(path[1])
        return bool((off > spec.lead * spec.dq_max[at])[spec.is_arm[at]].any())

    def _take_running(self, data: bytes) -> None:
        try:
            self._is_running = decode_bool(self._bus.codec, data)
            self._is_held = self._is_held or not self._is_running
        except MessageError:
            self.states.n_refused += 1

    def _take_speed(self, data: bytes) -> None:
        try:
            speed = decode_float(self._bus.codec, data)
        except MessageError:
            self.states.n_refused += 1
            return
        if abs(speed - self._speed) >= _SPEED_STEP:
            self._speed = speed
            slow = "" if speed >= _FULL else "; the arm lags by as much"
            self._warnings.append(f"{self._spec.speed}: {speed:.0f} % of speed{slow}")

    def _is_there(self) -> bool:
        matched = all(commander.count_matched() for commander in self._commanders)
        is_heard = bool((self.states.n_heard > 0).all())
        return matched and is_heard and self._is_running is not None

    def _find_missing(self) -> list[str]:
        spec, problems = self._spec, []
        heard = zip(spec.joint_names, self.states.n_heard, strict=True)
        if unheard := [name for name, n in heard if not n]:
            problems.append(
                f"expected states of {', '.join(unheard)} on {', '.join(spec.states)}"
            )
        if self._is_running is None:
            problems.append(f"expected a Bool on {spec.running}, reliable and latched")
        problems += [
            f"expected {commander.describe_peer()}"
            for commander in self._commanders
            if not commander.count_matched()
        ]
        if problems:
            found = [f"{t} [{kind}]" for t, kind in self._bus.list_topics().items()]
            problems.append(f"found: {', '.join(sorted(found)) or 'nobody'}")
        return problems

    def _find_slow(self) -> list[str]:
        period = max(self._spec.period, self._spec.state_period)
        longest = self._longest_age / _FIT
        rate = 0.0
        for _ in range(_N_LOOKS):
            n_before, begin_ns = self.states.n_heard.copy(), self._clock()
            self._bus.wait_until(lambda: False, _SETTLING)
            elapsed = (self._clock() - begin_ns) * 1e-9
            rate = max(rate, float((self.states.n_heard - n_before).min()) / elapsed)
            if rate * longest >= 1.0:
                return []
        fit = max(rate, _SLOWEST)
        return [
            f"expected {1.0 / period:.0f} states a second, got {rate:.0f}; set "
            f"env.state_rate={fit:.0f}"
        ]

    def _find_implausible(self) -> list[str]:
        spec = self._spec
        low, high = spec.q_min - _PLAUSIBLE, spec.q_max + _PLAUSIBLE
        is_good = (low <= self.states.q) & (self.states.q <= high)
        if is_good.all():
            return []
        shown = ", ".join(
            f"{spec.joint_names[i]} {self.states.q[i]:.4g}"
            for i in np.flatnonzero(~is_good)
        )
        radians = np.deg2rad(self.states.q)
        is_degrees = ((low <= radians) & (radians <= high)).all()
        hint = "; are these degrees?" if is_degrees else ""
        return [f"expected positions within the limits of the URDF, got {shown}{hint}"]

    def _find_intruder(self) -> str:
        spec, bus = self._spec, self._bus
        for topic in spec.commands:
            if n := bus.count_publishers(topic.name):
                return f"{n} other publisher(s) on {topic.name}; end them"
        for state in spec.states:
            n = bus.count_publishers(state)
            if n > spec.n_state_publishers:
                expected = f"not {spec.n_state_publishers}"
                return f"{n} publishers on {state}, {expected}; end the others"
        return ""

    def _find_deserted(self) -> str:
        for commander in self._commanders:
            if not commander.count_matched():
                return f"nobody takes {commander.topic.name}; start that controller"
        running = self._spec.running
        if running and not self._bus.count_publishers(running):
            return f"nobody says whether it runs: {running}; start its driver"
        return ""
