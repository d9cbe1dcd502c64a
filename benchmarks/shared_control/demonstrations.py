"""Demonstrations of users, in the hand's axes.

Users go astray at times, so that recovery is learned.

python -m benchmarks.shared_control.demonstrations FILE [--n 40] [--first 1100]
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from benchmarks.shared_control.trial import TrialSession
from benchmarks.shared_control.users import Adaptive, Scene
from paprle.contracts.axes import AxisSpeeds
from paprle.contracts.types import Vec

_EVERY = 5  # [ticks] chosen: 0.2 s, in which a motion is a direction, and no path
_RIGHT = 3.0  # [s] chosen: so long they do well
_WRONG = 0.5  # [s] chosen: and so long not, 5 cm at the leader's speed
_LEAST = 0.05  # chosen: a share of full speed below which a hand rests


class Demonstrations(NamedTuple):
    """Observations and motions.

    Attributes:
        state: Of ``advisors/learned``, (n, 11).
        motion: Speed shares in the eef's axes, of length 1, (n, 7).
        trial: (n,).
    """

    state: Vec
    motion: Vec
    trial: Vec


class Astray(Adaptive):
    """User with second-best suggestions at times."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, waits_for_cue=False)
        self._next, self._until = self._vary(_RIGHT), 0.0
        self._n_presses_left = 0
        self.is_astray = False

    def act(self, scene: Scene, t: float) -> None:
        """Take the second best at times, by two presses."""
        if self._n_presses_left > 0:
            self._n_presses_left -= 1
            self.press(t)
            self._until = 0.0
        elif self.is_astray and self._until == 0.0:
            self.axis = float(self._rng.choice([-1.0, 1.0]))
            self._until = t + self._vary(_WRONG)
        elif self.is_astray and t >= self._until:
            self.is_astray, self._next = False, t + self._vary(_RIGHT)
        elif not self.is_astray and t > self._next and not scene.is_held:
            self.is_astray, self._n_presses_left = True, 2
        elif not self.is_astray:
            super().act(scene, t)


class DemonstratedTrial(TrialSession):
    """Trial with records by tick."""

    def __init__(self, mode: str, seed: int) -> None:
        super().__init__(mode, seed)
        self.user = self._astray = Astray(seed)
        self.noted: list[tuple[pin.SE3, Vec, bool]] = []

    def _see(self, status: Any, t: float) -> Any:
        scene = super()._see(status, t)
        T = self._links.place(self._limb.eef_link)
        asked = self._gripper.measure(float(status["q_cmd"][self._joint]))
        seen = [*scene.block, *scene.target, scene.opening, asked]
        self.noted.append((T, np.array(seen), self._astray.is_astray))
        return scene


def make_state(T_world_eef: pin.SE3, seen: Vec) -> Vec:
    """Return a state, (11,), by ``advisors/learned/README.md``."""
    thing, place = (T_world_eef.actInv(seen[k : k + 3]) for k in (0, 3))
    down = T_world_eef.rotation.T @ np.array([0.0, 0.0, -1.0])
    return np.concatenate([thing, place, down, seen[6:8]])


def demonstrate(seeds: Sequence[int], speeds: AxisSpeeds) -> Demonstrations:
    """Play trials and return the demonstrations."""
    states, motions, trials = [], [], []
    shares = np.repeat(np.array(speeds), [3, 3, 1])
    for seed in seeds:
        trial = DemonstratedTrial("continuous", seed)
        trial.play()
        period = 1.0 / trial.plan.resolved.session.rate
        noted = trial.noted[::_EVERY]
        for (T, seen, _), (T_next, after, is_astray) in zip(
            noted, noted[1:], strict=False
        ):
            step = np.append(pin.log6(T.actInv(T_next)).vector, after[7] - seen[7])
            motion = step / (shares * _EVERY * period)
            size = float(np.linalg.norm(motion))
            if size > _LEAST and not is_astray:
                states.append(make_state(T, seen))
                motions.append(motion / size)
                trials.append(seed)
        sys.stderr.write(f"{seed}: {len(states)} moments\n")
    return Demonstrations(np.array(states), np.array(motions), np.array(trials))


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Collect what users do.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--n", type=int, default=40, help="trials")
    parser.add_argument("--first", type=int, default=1100, help="the first seed")
    args = parser.parse_args()
    logging.getLogger("paprle").setLevel(logging.ERROR)
    seeds = range(args.first, args.first + args.n)
    state, motion, trial = demonstrate(seeds, AxisSpeeds())
    # half precision: a quarter of a millimetre, less than the user's hand
    np.savez_compressed(
        args.file, state=state.astype("f2"), motion=motion.astype("f2"), trial=trial
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
