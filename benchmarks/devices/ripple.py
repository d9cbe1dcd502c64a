"""Ripple of a joint_trajectory_controller's speed, by lead.

``python -m benchmarks.devices.ripple``: a joint at up to 2 rad/s, commanded at 200 Hz;
jittered messages count from the controller's next period. ``told``: messages with their
start; ``stock``: without; ``set``: by ``interpolate_from_desired_state``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paprle.hardware.ros.joints import Trajectory
from paprle.hardware.ros.messages import load_codec
from paprle.hardware.ros.stopping import StopPlanner
from paprle.hardware.ros.trajectories import encode_trajectory
from paprle_emulators.ros.controllers import TrajectoryController

H = 0.005  # [s] of commands
DURATION = 20.0  # [s]
LATE = 0.0005  # [s] chosen: mean of the arrivals' delay, exponential
SWING, PULSATION = 1.0, 2.0  # [rad], [rad/s]
FAST = 1.0  # [rad/s]
RATES = (125.0, 250.0, 500.0, 1000.0)  # [Hz] UR CB3; common; UR e-series; fast ones
PERIODS = (1, 2, 3)
DRIVE = 0.02  # [s] chosen: of the joint behind its controller
WAYS = {
    "told": ("measured", True),
    "stock": ("measured", False),
    "set": ("desired", False),
}


class Course(NamedTuple):
    """A controller's requests by period.

    Attributes:
        speeds: Over the commanded, where fast.
        lag: [s].
        hardest: Largest change of speed, [rad/s²].
    """

    speeds: np.ndarray
    lag: float
    hardest: float


def drive(rate: float, lead: float, way: str) -> Course:
    """Swing a joint by a controller at a rate."""
    codec, rng = load_codec("jazzy"), np.random.default_rng(0)
    one = np.ones(1)
    begins, tells_begin = WAYS[way]
    planner = StopPlanner(-4.0 * one, 4.0 * one, 3.0 * one, 20.0 * one, H)
    planner.tells_begin = tells_begin
    controller = TrajectoryController(("joint",), np.zeros(1), begins=begins)
    sent = np.arange(0.0, DURATION, H)
    arrivals = np.maximum.accumulate(sent + rng.exponential(LATE, len(sent)))
    times, share = np.arange(0.0, DURATION, 1.0 / rate), -np.expm1(-1.0 / rate / DRIVE)
    k, q, dq, asked, reached = 0, np.zeros(1), np.zeros(1), [0.0], []
    for now in times:
        while k < len(sent) and arrivals[k] <= now:
            command = SWING * np.sin(PULSATION * sent[k : k + 1])
            plan = planner.advance(command, round(sent[k] * 1e9), lead)
            message = Trajectory(("joint",), plan.times, plan.q, plan.dq)
            data = encode_trajectory(codec, message)
            controller.accept(codec, data, round(now * 1e9))
            k += 1
        controller.update(round(now * 1e9), q, dq)
        step = share * (controller.q - q)
        q, dq = q + step, step * rate
        asked.append(float(controller.q[0]))
        reached.append(float(q[0]))
    return _judge(times, np.array(asked), np.array(reached), lead)


def _judge(
    times: np.ndarray, asked: np.ndarray, reached: np.ndarray, lead: float
) -> Course:
    rate = 1.0 / times[1]
    commanded = SWING * PULSATION * np.cos(PULSATION * (times - lead))
    is_fast = np.abs(commanded) > FAST
    speeds = (np.diff(asked) * rate)[is_fast] / commanded[is_fast]
    lags = np.arange(0.0, 0.5, 1e-3)
    off = [np.std(reached - SWING * np.sin(PULSATION * (times - x))) for x in lags]
    hardest = np.abs(np.diff(asked[len(asked) // 10 :], 2)).max() * rate**2
    return Course(speeds, float(lags[np.argmin(off)]), float(hardest))


def main() -> None:
    """Print ways, rates and leads."""
    print(
        f"{'way':<6}{'controller':>12}{'lead':>9}{'p95':>8}{'p99':>6} % off"
        f"{'lag':>8}{'hardest':>10} rad/s²"
    )
    for way in WAYS:
        for rate in RATES:
            for n in PERIODS:
                course = drive(rate, n * H, way)
                off = 100.0 * np.abs(course.speeds - 1.0)
                shown = "".join(
                    f"{np.percentile(off, p):{w}.0f}" for p, w in ((95, 8), (99, 6))
                )
                print(
                    f"{way:<6}{rate:9.0f} Hz{n * H * 1e3:6.0f} ms{shown}      "
                    f"{course.lag * 1e3:5.0f} ms{course.hardest:10.0f}"
                )


if __name__ == "__main__":
    main()
