"""A whole session on a virtual clock, driven by one of SDL's virtual pads."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import mujoco
import numpy as np

from paprle.config import resolve
from paprle.contracts.kit.leader_group import ALONE
from paprle.contracts.types import SessionState
from paprle.hardware.gamepad.virtual import VirtualPad
from paprle.hosts.virtual import VirtualSession

HOLD = "leftshoulder"
_END = 0.5  # [s] chosen: a robot that was let go of stands by then
_LIMIT = 60.0  # [s] chosen: no script is longer


class PadSession:
    """Holds the dead-man once the session waits, plays a script, lets go and ends.

    Attributes:
        t: Times since the press, until the robot goes home, shape (n,), [s].
        p: Positions of the first limb's commanded eef, shape (n, 3), [m].
        q_cmd: Commands, shape (n, k), [rad].
        states: States of the session.
        felt: What the leader was told.
        watched: What was measured of the world, until the robot goes home.
        pad: The pad.
    """

    def __init__(
        self,
        script: Callable[[float], Mapping[str, float]],
        duration: float,
        *words: str,
        watch: Callable[[VirtualSession], float] | None = None,
    ) -> None:
        """Run it.

        Args:
            script: What the controls do, by the time since the press, [s].
            duration: How long it is, [s].
            words: Of the command line, beside the leader.
            watch: Measures something of the world at each tick.
        """
        self._script, self._duration = script, duration
        self.pad = VirtualPad("Session pad")
        leader = "leader=gamepad", "leader.pads.pad.device=Session pad"
        self.session = VirtualSession(
            resolve((*leader, "session.clock=virtual", "session.episodes=1", *words))
        )
        self._limb = next(iter(self.session.plan.robot.limbs.values()))
        self._leader = self.session.plan.leaders[ALONE]
        self._begin_ns: int | None = None
        self._rows: list[tuple[float, np.ndarray, np.ndarray]] = []
        self.states: list[SessionState] = []
        self.felt: list = []
        self.watched: list[float] = []
        self._watch = watch
        self._hook()

    def run(self) -> PadSession:
        """Run to the end."""
        try:
            self.session.run()
        finally:
            self.pad.unplug()
        t, p, q = zip(*self._rows, strict=True)
        self.t, self.p, self.q_cmd = np.array(t), np.array(p), np.array(q)
        return self

    def _hook(self) -> None:
        latest, apply = self._leader.latest, self._leader.apply
        step = self.session.core.step

        def play():
            self._move(self.session.clock())
            return latest()

        def feel(told):
            if self._begin_ns is not None:
                self.felt.append(told)
            apply(told)

        def look(now_ns, samples, status, actions, advice):
            output = step(now_ns, samples, status, actions, advice)
            if self._begin_ns is not None:
                self.states.append(self.session.core.state)
            if self._begin_ns is not None and not self._is_over():
                q = np.array(status["q_cmd"])
                T = self._limb.fk(self._limb.take(q)).homogeneous
                t = (now_ns - self._begin_ns) * 1e-9
                self._rows.append((t, T[:3, 3].copy(), q))
                if self._watch is not None:
                    self.watched.append(self._watch(self.session))
            return output

        self._leader.latest, self._leader.apply = play, feel
        self.session.core.step = look

    def _is_over(self) -> bool:
        """Whether the robot is on its way home."""
        return SessionState.RESETTING in self.states

    def _move(self, now_ns: int) -> None:
        if self._begin_ns is None:
            if self.session.core.state is SessionState.WAITING:
                self._begin_ns = now_ns
                self.pad.move(HOLD, 1.0)
            return
        t = (now_ns - self._begin_ns) * 1e-9
        assert t < _LIMIT, "the session does not end"
        if t < self._duration:
            for control, value in self._script(t).items():
                self.pad.move(control, value)
        elif t < self._duration + _END:
            self.pad.move(HOLD, 0.0)
        else:
            self.pad.move("y", float(int(t * 10) % 2))


def measure_force(session: VirtualSession) -> float:
    """Return the force between a simulated robot and what stands in its world, [N]."""
    model, data = session.follower._sim.model, session.follower._data
    total, wrench = 0.0, np.zeros(6)
    for row in range(data.ncon):
        bodies = [int(model.geom_bodyid[geom]) for geom in data.contact[row].geom]
        if 0 in bodies:
            mujoco.mj_contactForce(model, data, row, wrench)
            total += abs(float(wrench[0]))
    return total
