"""A robot behind a ROS graph, as numbers and joint names: states in, commands out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hardware.ros.bus import LATCHED, SENSORS, Bus, BusError
from hardware.ros.commands import Commander, Topic
from hardware.ros.joints import (
    Vec,
    decode_bool,
    decode_joints,
)
from hardware.ros.messages import (
    BOOL,
    JOINT_STATE,
    MessageError,
)
from hardware.ros.stopping import StopPlanner

_LOOK_NS = 100_000_000  # [ns] chosen: how often the graph is looked at
_SETTLING = 0.5  # [s] chosen: time for publishers to be found that should not be there
_PLAUSIBLE = 1.0  # [rad] chosen: how far outside its limits a real joint may read
_LONGEST_STEP = 0.5  # [s] chosen: states farther apart than this give no velocity
_JUMP = 0.2  # [rad] chosen: between two states, beyond what twice V explains
_NEAR = 0.01  # [rad] chosen: a step that no drive minds


@dataclass(frozen=True, kw_only=True)
class RobotSpec:
    """The robot's joints, what ROS calls them, and its topics.

    Attributes:
        joint_names: What ROS calls the robot's joints, in vector order.
        scale: Position in ROS over position in the URDF, shape (n,).
        q_min: Lower position limits, shape (n,), [rad] or [m], of the URDF.
        q_max: Upper position limits, shape (n,).
        dq_max: Velocity limits V, shape (n,).
        ddq_max: Acceleration limits A, shape (n,).
        is_arm: Joints whose lag counts, shape (n,); a hand may press on something.
        states: Topics of JointState.
        n_state_publishers: How many publishers each of them has.
        commands: Topics of commands, each joint in one of them.
        running: Topic of Bool that is false while the robot is stopped; may be empty.
        period: Of commands, [s].
        lead: From a trajectory's arrival to its first point, [s].
        lag: Expected from command to measurement, [s].
    """

    joint_names: tuple[str, ...]
    scale: Vec
    q_min: Vec
    q_max: Vec
    dq_max: Vec
    ddq_max: Vec
    is_arm: npt.NDArray[np.bool_]
    states: tuple[str, ...]
    n_state_publishers: int
    commands: tuple[Topic, ...]
    running: str
    period: float
    lead: float
    lag: float


class RosRobot:
    """States and commands of a robot over any bus.

    Attributes:
        q: Positions, shape (n,), [rad] or [m]; NaN before they are known.
        dq: Velocities, shape (n,).
        tau: Efforts, shape (n,); NaN where there are none.
        stamps_ns: When each joint was heard of last, shape (n,), [ns].
        n_refused: Messages that could not be used.
    """

    def __init__(self, bus: Bus, spec: RobotSpec, clock: Callable[[], int]) -> None:
        self._bus, self._spec, self._clock = bus, spec, clock
        n = len(spec.joint_names)
        self.q, self.dq, self.tau = np.full((3, n), np.nan)
        self.stamps_ns = np.zeros(n, dtype=np.int64)
        self.n_refused = 0
        self._header_ns = np.zeros(n, dtype=np.int64)
        self._orders: dict[tuple[str, ...], tuple[list[int], list[int]]] = {}
        self._is_running = True
        self._looked_ns = 0
        self._intruder = self._jump = ""
        self._is_held = False
        for state in spec.states:
            bus.subscribe(state, JOINT_STATE, self._take_joints, SENSORS)
        if spec.running:
            bus.subscribe(spec.running, BOOL, self._take_running, LATCHED)
        self._commanders = [
            Commander(bus, topic, self._make_planner(topic), clock)
            for topic in spec.commands
        ]

    def connect(self, timeout: float) -> None:
        """Wait for the robot and look whether it is the one expected.

        Args:
            timeout: For how long, [s].

        Raises:
            BusError: With everything that is missing, wrong or too many.
        """
        self._bus.wait_until(self._is_there, timeout)
        problems = self._find_missing()
        if not problems:
            self._bus.wait_until(lambda: False, _SETTLING)
            problems = self._find_implausible()
            intruder = self._find_intruder()
            problems += [intruder] if intruder else []
        if problems:
            raise BusError("; ".join(problems))

    def poll(self) -> None:
        """Take what has arrived; never blocks."""
        self._bus.poll()
        now_ns = self._clock()
        if now_ns - self._looked_ns >= _LOOK_NS:
            self._looked_ns = now_ns
            self._intruder = self._find_intruder()

    @property
    def stop_reason(self) -> str:
        """Why the robot must not be driven now; empty when it may."""
        if not self._is_running:
            return f"robot not running ({self._spec.running})"
        return self._jump or self._intruder

    def send(self, q: Vec) -> None:
        """Send a command to all topics.

        A robot that stopped by itself is sent nothing until the command is where it
        stands, which arming anew brings about: no command waits for its restart.

        Args:
            q: Positions, shape (n,), [rad] or [m].
        """
        self._is_held = self._is_held or not self._is_running
        if self._is_held:
            is_near = bool((np.abs(q - self.q)[self._spec.is_arm] <= _NEAR).all())
            self._is_held = not (self._is_running and is_near)
            if self._is_held:
                for commander in self._commanders:
                    commander.forget()
                return
        for commander in self._commanders:
            part = q[commander.topic.indices]
            commander.send(part, self._find_lead(part, commander.topic.indices))

    def _make_planner(self, topic: Topic) -> StopPlanner:
        spec, at = self._spec, topic.indices
        return StopPlanner(
            spec.q_min[at],
            spec.q_max[at],
            spec.dq_max[at],
            spec.ddq_max[at],
            spec.period,
        )

    def _find_lead(self, q: Vec, at: npt.NDArray[np.intp]) -> float:
        """Return when a command is to be reached: an arm let go catches up at V."""
        spec = self._spec
        late = np.abs(q - self.q[at]) / spec.dq_max[at] - 2.0 * spec.lag
        return float(np.fmax.reduce(late[spec.is_arm[at]], initial=spec.lead))

    def _take_joints(self, data: bytes) -> None:
        try:
            joints = decode_joints(self._bus.codec, data)
        except MessageError:
            self.n_refused += 1
            return
        ours, theirs = self._find_order(joints.names)
        if not ours:
            return
        now_ns, scale = self._clock(), self._spec.scale[ours]
        q, dq = joints.q[theirs] / scale, joints.dq[theirs] / scale
        is_missing = np.isnan(dq)
        if is_missing.any():
            estimated = self._estimate_speed(ours, q, joints.stamp_ns, now_ns)
            dq = np.where(is_missing, estimated, dq)
        self._look_for_jump(ours, q, now_ns)
        self.q[ours], self.dq[ours] = q, dq
        self.tau[ours] = joints.tau[theirs] * scale
        self.stamps_ns[ours], self._header_ns[ours] = now_ns, joints.stamp_ns

    def _find_order(self, names: tuple[str, ...]) -> tuple[list[int], list[int]]:
        """Return where the joints of a message stand with us, and in the message."""
        if names not in self._orders:
            if len(self._orders) > len(self._spec.joint_names) * 8:
                self._orders.clear()  # a sender that makes up names fills no memory
            known = {name: i for i, name in enumerate(self._spec.joint_names)}
            pairs = [(known[name], k) for k, name in enumerate(names) if name in known]
            self._orders[names] = [i for i, _ in pairs], [k for _, k in pairs]
        return self._orders[names]

    def _estimate_speed(
        self, ours: list[int], q: Vec, header_ns: int, now_ns: int
    ) -> Vec:
        """Return differences over the sender's time, or that of arrival without one."""
        has_stamps = (self._header_ns[ours] > 0) & (header_ns > 0)
        by_header = header_ns - self._header_ns[ours]
        by_arrival = now_ns - self.stamps_ns[ours]
        dt = np.where(has_stamps, by_header, by_arrival) * 1e-9
        is_usable = (dt > 1e-4) & (dt < _LONGEST_STEP)
        before = np.nan_to_num(self.dq[ours])
        steps = (q - self.q[ours]) / np.where(is_usable, dt, 1.0)
        standing = np.where(dt >= _LONGEST_STEP, 0.0, before)
        return np.where(is_usable & np.isfinite(steps), steps, standing)

    def _look_for_jump(self, ours: list[int], q: Vec, now_ns: int) -> None:
        """Note a change that no motion explains: other joints under the same names."""
        dt = (now_ns - self.stamps_ns[ours]) * 1e-9
        allowed = _JUMP + 2.0 * self._spec.dq_max[ours] * dt
        steps = np.abs(q - self.q[ours])
        for k in np.flatnonzero(steps > allowed):
            name = self._spec.joint_names[ours[k]]
            self._jump = f"{name} jumped by {steps[k]:.3g} from state to state"

    def _take_running(self, data: bytes) -> None:
        try:
            self._is_running = decode_bool(self._bus.codec, data)
        except MessageError:
            self.n_refused += 1

    def _is_there(self) -> bool:
        matched = all(commander.count_matched() for commander in self._commanders)
        return matched and bool((self.stamps_ns > 0).all())

    def _find_missing(self) -> list[str]:
        """Say what was expected and what is there instead."""
        spec, problems = self._spec, []
        unheard = [
            name
            for name, stamp in zip(spec.joint_names, self.stamps_ns, strict=True)
            if stamp == 0
        ]
        if unheard:
            problems.append(
                f"expected states of {', '.join(unheard)} on {', '.join(spec.states)}"
            )
        problems += [
            f"expected {commander.describe_peer()}"
            for commander in self._commanders
            if not commander.count_matched()
        ]
        if problems:
            found = [f"{t} [{kind}]" for t, kind in self._bus.list_topics().items()]
            problems.append(f"found: {', '.join(sorted(found)) or 'nobody'}")
        return problems

    def _find_implausible(self) -> list[str]:
        """Refuse positions that no joint of this robot can have: degrees, say."""
        spec = self._spec
        low, high = spec.q_min - _PLAUSIBLE, spec.q_max + _PLAUSIBLE
        is_good = (low <= self.q) & (self.q <= high)
        if is_good.all():
            return []
        shown = ", ".join(
            f"{spec.joint_names[i]} {self.q[i]:.4g}" for i in np.flatnonzero(~is_good)
        )
        radians = np.deg2rad(self.q)
        is_degrees = ((low <= radians) & (radians <= high)).all()
        hint = "; are these degrees?" if is_degrees else ""
        return [f"expected positions within the limits of the URDF, got {shown}{hint}"]

    def _find_intruder(self) -> str:
        """Say who else speaks where one alone may (T2)."""
        spec, bus = self._spec, self._bus
        for topic in spec.commands:
            if n := bus.count_publishers(topic.name):
                return f"{n} other publisher(s) on {topic.name}"
        for state in spec.states:
            n = bus.count_publishers(state)
            if n > spec.n_state_publishers:
                return f"{n} publishers on {state}, not {spec.n_state_publishers}"
        return ""
