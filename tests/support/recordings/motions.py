"""Joint recordings of the PiPER that bring a session into each of its states."""

from __future__ import annotations

import numpy as np

OTHERS = (1.5, -1.0, 0.0, -0.75, 0.0)  # joint2 … joint6 at home


def write_joints(path, times, joint1):
    """Write joint1 over time, the others at home; return the settings to play it."""
    with path.open("w") as file:
        file.write("time," + ",".join(f"joint{i}" for i in range(1, 7)) + "\n")
        for t, q in zip(times, joint1, strict=True):
            file.write(f"{t:.3f},{q:.6f}," + ",".join(map(str, OTHERS)) + "\n")
    return [
        "leader=offline",
        f"leader.path={path}",
        "follower=piper",
        "env=kinematic",
        "retarget.mode=joints",
    ]


def make_wave(begin, end, q_begin=0.0):
    """Times, and joint1 swinging by 0.3 rad at up to 1.2 rad/s."""
    times = np.arange(begin, end, 0.01)
    return times, q_begin + 0.3 * np.sin(4.0 * (times - begin))
