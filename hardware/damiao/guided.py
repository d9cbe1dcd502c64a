"""Arm in a person's hand: weight carried, torques rendered.

Frames have torque and some damping, but no stiffness. Rendered torques end if old,
without answers and on a motor's failure; sound motors still carry the weight.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from paprle.hardware.damiao.packets import pack_mit
from paprle.hardware.damiao.powered import (
    ArmSettings,
    Clock,
    PoweredArm,
    Reading,
    Vec,
)

_STALE_NS = 50_000_000  # [ns] spec: safety.md, F1
_LOST_NS = 100_000_000  # [ns] chosen: the session gives up a sample that old
_FADE = 0.02  # [s] chosen: from a bound to nothing
FELT_SHARE = 0.3  # spec: safety.md, F1: of the largest torque


class GuidedArm(PoweredArm):
    """An arm on its channel; ``read`` and ``post`` never wait."""

    def __init__(
        self,
        settings: ArmSettings,
        compute_gravity: Callable[[Vec], Vec],
        clock: Clock,
    ) -> None:
        """See ``PoweredArm``."""
        super().__init__(settings, compute_gravity, clock)
        self._kp = np.zeros(self._n)  # nor does its gripper hold while it sinks
        self._drag = np.array(settings.model.drag[: self._n])
        self._caps = FELT_SHARE * self._most
        self._felt = np.zeros(self._n)
        self._wanted: tuple[Vec, int] = self._felt, 0
        self._due_ns = 0

    def read(self) -> tuple[Reading, str]:
        """Return the newest reading and the reason against leading, or ""."""
        reading, reason = super().read()
        if not reason and self._clock() - reading.stamp_ns > _LOST_NS:
            reason = "no motor answers; look at its cable and its supply"
        return reading, reason

    def post(self, tau: Vec, stamp_ns: int) -> None:
        """Set the torques to be felt.

        Args:
            tau: Shape (n,), [N·m]; cut to 30 % of the largest.
            stamp_ns: [ns]; they end 50 ms later.
        """
        if tau.shape == (self._n,) and np.isfinite(tau).all():
            self._wanted = tau.copy(), stamp_ns

    def _begin(self, reading: Reading) -> list[bytes]:
        self._felt = np.zeros(self._n)
        self._wanted = self._felt, 0
        return self.make_round(reading.q, self._felt)

    def _await_turn(self) -> None:
        due, now = self._due_ns, self._clock()
        if due > now:
            self._must_end.wait((due - now) * 1e-9)
            now = due
        is_late = now - due >= self._period_ns
        self._due_ns = (now if is_late else due) + self._period_ns

    def _serve(self) -> None:
        found, now = self._list_feedback(), self._clock()
        self._watch(found)
        is_blind = self._note_answers(found)
        is_well = not (is_blind or self._suspects or self._fault)
        self._felt = self._find_felt(now, is_well=is_well)
        q = np.array([one.q for one in found])
        self._round = self.make_round(q, self._felt)
        self._send_round(found, now)

    def _find_felt(self, now: int, *, is_well: bool) -> Vec:
        tau, stamp_ns = self._wanted
        if is_well and now - stamp_ns <= _STALE_NS:
            return np.clip(tau, -self._caps, self._caps)
        step = self._caps * (self._period_ns * 1e-9 / _FADE)
        return self._felt - np.clip(self._felt, -step, step)

    def make_round(self, q: Vec, felt: Vec) -> list[bytes]:
        """Return the frames that carry the arm and render torques.

        Args:
            q: Measured, shape (n,), [rad].
            felt: Shape (n,), [N·m].
        """
        tau = np.clip(self._carry(q) + felt, -self._most, self._most)
        rows = zip(self.bus.models, self._drag, tau, strict=True)
        return [pack_mit(m, (0.0, 0.0, 0.0, kd, t)) for m, kd, t in rows]
