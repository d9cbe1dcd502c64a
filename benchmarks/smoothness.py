"""Roughness of commands by robot and gate rate.

``python -m benchmarks.smoothness FILE [FOLLOWER …] [KEY=VALUE …]`` prints the rms
commanded acceleration over its part below 10 Hz, the busiest joint's sign changes per
second, and the share of periods at A. Exits with 1 if the first or second exceeds its
bar.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from paprle import Episode
from paprle.config import resolve
from paprle.contracts.types import GateState, Vec
from paprle.hosts.virtual import VirtualSession

ROBOTS = ("ur5e", "piper")
RATES = (200, 500, 1000)  # [Hz]
SLOW = 10.0  # [Hz] what a hand does is below
STANDING = 1e-3  # [rad] a joint that moves less is left out
NOISE = 1e-6  # [rad/s²] no sign is counted below
MOST_RATIO = 1.5  # chosen: what more would be felt at a gearbox
MOST_FLIPS = 25.0  # [1/s] chosen: a motion of up to 10 Hz has up to 20


def play(
    path: str, robot: str, rate: int, folder: Path, more: Sequence[str] = ()
) -> Episode:
    """Return a simulated robot's recording."""
    words = ["leader=offline", f"leader.path={path}", "leader.frame=relative"]
    words += [f"follower={robot}", "env=mujoco", f"env.rate={rate}", *more]
    words += ["session.clock=virtual", "session.episodes=1", f"record.dir={folder}"]
    VirtualSession(resolve(words)).run()
    return Episode.open(folder)


def measure(episode: Episode, h: float) -> tuple[float, float, float]:
    """Return ratio, sign changes per second, share at A."""
    gate = episode.gate[episode.gate["state"] == GateState.ENGAGED]
    return measure_commands(gate["q_cmd"], h, episode.robot_info.ddq_max)


def measure_commands(q: Vec, h: float, limit: Vec) -> tuple[float, float, float]:
    """Return the same of commands q, (k, n), [rad].

    ``h`` is the period, [s], ``limit`` A, (n,), [rad/s²].
    """
    n = round(1.0 / h)
    a = np.diff(q, 2, axis=0)[n:-n] / h**2
    moves = np.ptp(q, axis=0) > STANDING
    share = float((np.abs(a) > 0.98 * limit).any(axis=1).mean())
    a = a[:, moves]
    spectrum = np.fft.rfft(a, axis=0)
    spectrum[np.fft.rfftfreq(len(a), h) >= SLOW] = 0.0
    slow = np.fft.irfft(spectrum, len(a), axis=0)
    sign = np.sign(np.where(np.abs(a) < NOISE, 0.0, a))
    flips = (sign[1:] * sign[:-1] < 0.0).sum(axis=0).max() / (len(a) * h)
    return float(np.sqrt((a**2).sum() / (slow**2).sum())), float(flips), share


def main(words: list[str]) -> int:
    """Print robots and rates; return 1 for a missed bar."""
    path, *rest = words
    robots = [word for word in rest if "=" not in word]
    more = [word for word in rest if "=" in word]
    is_smooth = True
    print(f"{'follower':<20}{'gate':>8}{'ratio':>8}{'flips /s':>10}{'at A':>8}")
    for robot in robots or ROBOTS:
        for rate in RATES:
            with tempfile.TemporaryDirectory() as folder:
                episode = play(path, robot, rate, Path(folder), more)
                ratio, flips, share = measure(episode, 1.0 / rate)
            shown = f"{ratio:8.2f}{flips:10.0f}{100 * share:7.1f} %"
            print(f"{robot:<20}{rate:5d} Hz{shown}", flush=True)
            is_smooth &= ratio <= MOST_RATIO and flips <= MOST_FLIPS
    return int(not is_smooth)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
