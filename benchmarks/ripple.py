"""How much a joint_trajectory_controller's speed ripples, by the lead of its messages.

``python -m benchmarks.ripple``: a joint swings at up to 2 rad/s, commanded at 200 Hz;
each message arrives late by chance, and the controller takes it in its next period. The
speed it asks for from one period to the next, over the commanded one, where that is
fast.
"""

from __future__ import annotations

import numpy as np

from hardware.ros.emulator.controllers import TrajectoryController
from hardware.ros.joints import Trajectory
from hardware.ros.messages import load_codec
from hardware.ros.stopping import StopPlanner
from hardware.ros.trajectories import encode_trajectory

H = 0.005  # [s] of commands
DURATION = 20.0  # [s]
LATE = 0.0005  # [s] chosen: mean of the arrivals' delay, exponential
SWING, PULSATION = 1.0, 2.0  # [rad], [rad/s]
FAST = 1.0  # [rad/s]
RATES = (125.0, 250.0, 500.0, 1000.0)  # [Hz] UR CB3; common; UR e-series; fast ones
PERIODS = (1, 2, 3)


def find_ripple(rate: float, lead: float) -> np.ndarray:
    """Return speed asked for over speed commanded, a period of the controller each."""
    codec, rng = load_codec("jazzy"), np.random.default_rng(0)
    one = np.ones(1)
    planner = StopPlanner(-4.0 * one, 4.0 * one, 3.0 * one, 20.0 * one, H)
    controller = TrajectoryController(("joint",), np.zeros(1))
    sent = np.arange(0.0, DURATION, H)
    arrivals = np.maximum.accumulate(sent + rng.exponential(LATE, len(sent)))
    k, found = 0, []
    for now in np.arange(0.0, DURATION, 1.0 / rate):
        before = controller.q
        while k < len(sent) and arrivals[k] <= now:
            q = SWING * np.sin(PULSATION * sent[k : k + 1])
            plan = planner.advance(q, round(sent[k] * 1e9), lead)
            message = Trajectory(("joint",), plan.times, plan.q, plan.dq)
            data = encode_trajectory(codec, message)
            controller.accept(codec, data, round(now * 1e9))
            k += 1
        controller.update(round(now * 1e9))
        commanded = SWING * PULSATION * np.cos(PULSATION * (now - lead))
        if abs(commanded) > FAST:
            found.append((controller.q - before)[0] * rate / commanded)
    return np.array(found)


def main() -> None:
    """Print a line for each rate and lead."""
    print(f"{'controller':>12}{'lead':>10}{'p95':>10}{'p99':>10}  % off")
    for rate in RATES:
        for n in PERIODS:
            off = 100.0 * np.abs(find_ripple(rate, n * H) - 1.0)
            shown = "".join(f"{np.percentile(off, p):10.0f}" for p in (95, 99))
            print(f"{rate:9.0f} Hz{n * H * 1e3:7.0f} ms{shown}")


if __name__ == "__main__":
    main()
