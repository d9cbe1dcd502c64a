"""Logs as ARBot's evaluator writes them, made up."""

import numpy as np

from paprle.recording.exports import ARBOT_COLUMNS, write_arbot_csv

SHAPES = ("square", "circle", "s_shape")
N = 60


def make_table(n=N, rate=30.0, shift=(0.0, 0.0, 0.0), error=0.004, latency_ms=18.0):
    """A circle of 10 cm; the robot is ``error`` [m] beside its target, in z."""
    table = np.zeros((n, len(ARBOT_COLUMNS)))
    s = np.linspace(0, 2 * np.pi, n)
    table[:, 0] = 1.7e9 + np.arange(n) / rate
    circle = np.stack([0.3 + 0.1 * np.cos(s), 0.1 * np.sin(s), 0.3 + 0 * s], axis=1)
    table[:, 1:4] = circle + shift
    table[:, 8:11] = table[:, 1:4] + [0.0, 0.0, error]
    table[:, [7, 14]] = 1.0
    table[:, 16] = latency_ms
    return table


def write_set(folder, users=11):
    """The 132 trials of the paper's layout, ``{user}/{mode}/{task}_{trial}.csv``."""
    rng = np.random.default_rng(0)
    for user in range(1, users + 1):
        for mode, error in (("arpose", 0.004), ("CV+IMU", 0.022)):
            own = folder / f"U{user:02d}" / mode
            own.mkdir(parents=True)
            cells = [(shape, 1) for shape in SHAPES]
            cells += [("rectangle", trial) for trial in (1, 2, 3)]
            for task, trial in cells:
                table = make_table(
                    rate=100.0, shift=rng.normal(0, 0.01, 3), error=error
                )
                write_arbot_csv(own / f"{task}_{trial}.csv", table)
