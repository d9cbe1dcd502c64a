"""Limits on torques.

A rise from 0 to the cap takes at least 20 ms, a stop ramps to 0 within 200 ms, commands
end after 50 ms, and servos stay enabled at zero for a second.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Vec = npt.NDArray[np.float64]

STALE_NS = 50_000_000
"""Age after which a torque is not rendered, [ns]. spec: safety.md F1."""

RELEASE = 0.2
"""Time in which torque vanishes on a stop, [s]. spec: safety.md K4."""

_IDLE = 1.0  # [s] chosen: no hiccup of a host lasts so long
_RISE = 0.02  # [s] chosen: from 0 to the cap; a contact is felt within 50 ms


@dataclass(frozen=True, slots=True)
class TorqueCommand:
    """Torques to render.

    Attributes:
        tau: At the horns, shape (n,), [N·m].
        stamp_ns: Computation, [ns].
        is_release: Ramp down and off.
    """

    tau: Vec
    stamp_ns: int
    is_release: bool = False


class TorqueShaper:
    """Limiter of torque and its rate."""

    def __init__(self, n: int) -> None:
        self._tau = np.zeros(n)
        self._ramp: tuple[int, Vec] | None = None
        self._idle_since_ns: int | None = None
        self.is_limp = True

    def step(
        self, command: TorqueCommand | None, caps: Vec, now_ns: int, dt: float
    ) -> Vec:
        """Return the torques to render, shape (n,), [N·m], owned by the caller.

        Args:
            command: Newest.
            caps: Shape (n,), [N·m].
            now_ns: [ns].
            dt: Since the last call, [s].
        """
        if command is None:
            self._tau = np.zeros(len(caps))
        elif command.is_release:
            self._tau = self._release(now_ns)
        else:
            self._ramp = None
            self._tau = self._follow(command, caps, now_ns, dt)
            self._rest(now_ns)
        return self._tau.copy()

    def _follow(self, command: TorqueCommand, caps: Vec, now_ns: int, dt: float) -> Vec:
        is_sound = command.tau.shape == caps.shape and np.isfinite(command.tau).all()
        if not is_sound or not 0 <= now_ns - command.stamp_ns <= STALE_NS:
            return np.zeros(len(caps))
        wanted = np.minimum(np.maximum(command.tau, -caps), caps)
        self.is_limp = self.is_limp and not wanted.any()
        step = caps * min(dt / _RISE, 1.0)
        limited: Vec = np.minimum(
            np.maximum(wanted, self._tau - step), self._tau + step
        )
        return limited

    def _rest(self, now_ns: int) -> None:
        if self._tau.any():
            self._idle_since_ns = None
        elif self._idle_since_ns is None:
            self._idle_since_ns = now_ns
        elif now_ns - self._idle_since_ns >= 1e9 * _IDLE:
            self.is_limp = True

    def _release(self, now_ns: int) -> Vec:
        if self._ramp is None:
            self._ramp = (now_ns, self._tau.copy())
        begin_ns, tau = self._ramp
        share = 1.0 - (now_ns - begin_ns) * 1e-9 / RELEASE
        if share <= 0.0 or not tau.any():
            self.is_limp = True
            return np.zeros(len(tau))
        return tau * share
