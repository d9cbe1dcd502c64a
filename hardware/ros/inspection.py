"""Passive inspection of a robot, for ``doctor``."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from paprle.hardware.ros.bus import SENSORS, Bus
from paprle.hardware.ros.controller import ControllerWatch
from paprle.hardware.ros.messages import JOINT_STATE
from paprle.hardware.ros.robot import RobotSpec
from paprle.hardware.ros.states import JointStates

_LISTENED = 2.0  # [s] chosen: a hundred states of 50 Hz
_ASKED = 1.0  # [s] chosen: for a parameter service
_STATE_AGE = 0.02  # [s] spec: safety.md amendments, L3: max(3 periods, 20 ms)

Finding = tuple[bool, str]


def inspect(
    bus: Bus, spec: RobotSpec, clock: Callable[[], int], timeout: float
) -> Iterator[Finding]:
    """Yield findings on states and receivers within ``timeout``, [s]."""
    watches = [
        ControllerWatch(bus, t.name, t.joint_names, clock) for t in spec.commands
    ]
    states = spec.make_states(bus.codec)
    ears = _Ears(bus, states, clock)
    for heard in spec.states:
        bus.subscribe(heard, JOINT_STATE, ears.take, SENSORS)
    bus.wait_until(lambda: bool((states.n_heard > 0).all()), timeout)
    unheard = [
        n for n, k in zip(spec.joint_names, states.n_heard, strict=True) if not k
    ]
    if unheard:
        found = [f"{name} [{kind}]" for name, kind in bus.list_topics().items()]
        yield (
            False,
            f"expected states of {', '.join(unheard)} on {', '.join(spec.states)}; "
            f"found: {', '.join(sorted(found)) or 'nobody'}",
        )
    else:
        ears.begin()
        bus.wait_until(lambda: False, _LISTENED)
        yield from ears.describe(spec)
    for topic, watch in zip(spec.commands, watches, strict=True):
        yield from _look_at_topic(bus, topic.name)
        yield from _look_at_controller(watch)


class _Ears:
    def __init__(self, bus: Bus, states: JointStates, clock: Callable[[], int]) -> None:
        self._bus, self._states, self._clock = bus, states, clock
        self.begin()

    def begin(self) -> None:
        """Reset the counts."""
        self._begin_ns, self._n_before = self._clock(), self._states.n_heard.copy()
        self._came_ns: list[int] = []
        self._ages_ns: list[int] = []

    def take(self, data: bytes) -> None:
        """Take a message."""
        now_ns, bus = self._clock(), self._bus
        self._states.take(
            data, now_ns, source_ns=bus.source_ns, waited_ns=bus.waited_ns
        )
        self._came_ns.append(now_ns)
        self._ages_ns.append(now_ns - int(self._states.stamps_ns.min()))

    def describe(self, spec: RobotSpec) -> Iterator[Finding]:
        """Yield the states' rate and age."""
        elapsed = (self._clock() - self._begin_ns) * 1e-9
        n = int((self._states.n_heard - self._n_before).min())
        rate, period = n / elapsed, max(spec.period, spec.state_period)
        longest = max(3.0 * period, _STATE_AGE)
        text = f"{rate:.0f} states a second of each joint"
        if rate * longest < 1.5:
            yield False, f"{text}, expected {1.0 / period:.0f}; set env.state_rate"
            return
        gap = float(np.diff(self._came_ns).max()) * 1e-6
        p50, p99 = np.percentile(self._ages_ns, (50, 99)) * 1e-6
        known = "by the middleware's stamp" if self._bus.source_ns else "by its header"
        yield (
            p99 < longest * 1e3,
            f"{text}, at most {gap:.0f} [ms] apart; {p50:.1f} [ms] old (p50), "
            f"{p99:.1f} (p99), beyond the quickest one {known}; "
            f"a session brakes at {longest * 1e3:.0f} [ms]",
        )
        q = self._states.q
        is_inside = (spec.q_min - 1.0 <= q) & (q <= spec.q_max + 1.0)
        if not is_inside.all():
            names = [spec.joint_names[i] for i in np.flatnonzero(~is_inside)]
            yield False, f"{', '.join(names)}: outside the limits of the URDF: degrees?"


def _look_at_topic(bus: Bus, topic: str) -> Iterator[Finding]:
    n_takers, n_others = bus.count_subscribers(topic), bus.count_publishers(topic)
    names = ", ".join(bus.list_subscribers(topic)) or f"{n_takers} subscriber(s)"
    taken = f"taken by {names}" if n_takers else "nobody takes it; start its controller"
    yield n_takers > 0, f"{topic}: {taken}"
    if n_others:
        yield False, f"{topic}: {n_others} publisher(s) command it; end all but one"


def _look_at_controller(watch: ControllerWatch) -> Iterator[Finding]:
    watch.ask(_ASKED)
    if refusal := watch.find_refusal() or watch.find_silence():
        yield False, refusal
    elif text := watch.describe():
        yield True, text
