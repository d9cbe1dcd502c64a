from __future__ import annotations

import numpy as np
import outsider
import pytest
from lock_step import LockStep
from running import RunningSession
from terminal import TerminalSession


@pytest.fixture
def start(tmp_path):
    """Start sessions that are gone when the test is over."""
    running = []

    def start_session(*args: str, env=None) -> RunningSession:
        session = RunningSession(list(args), tmp_path / f"out{len(running)}", env)
        running.append(session)
        return session

    yield start_session
    for session in running:
        session.end()


@pytest.fixture
def type_at(tmp_path):
    """Start sessions in terminals; gone when the test is over."""
    running = []

    def start_session(*args: str, env=None) -> TerminalSession:
        out = tmp_path / f"typed{len(running)}"
        session = TerminalSession(list(args), out, env or {})
        running.append(session)
        return session

    yield start_session
    for session in running:
        session.end()


@pytest.fixture
def outside(tmp_path):
    """Environment in which the plug-ins of tests/support/outsider.py are installed."""
    return outsider.install(tmp_path / "outside")


@pytest.fixture
def fast_motion(tmp_path):
    """A joint recording that crosses at 0.9 of V: joint1 of the PiPER to and fro.

    The gate's V is 0.8 of the URDF's 3.14 [rad/s]; see configs/follower/piper.yaml.
    """
    speed, reach, dt = 0.9 * 0.8 * np.pi, 2.4, 0.005
    times = np.arange(0.0, 20.0, dt)
    phase = (times * speed + reach) % (4 * reach)  # begins at 0, as home does
    joint1 = np.where(phase < 2 * reach, phase - reach, 3 * reach - phase)
    others = [1.5, -1.0, 0.0, -0.75, 0.0]
    path = tmp_path / "fast.csv"
    with path.open("w") as file:
        file.write("time," + ",".join(f"joint{i}" for i in range(1, 7)) + "\n")
        for t, q in zip(times, joint1, strict=True):
            file.write(f"{t:.3f},{q:.6f}," + ",".join(map(str, others)) + "\n")
    return [
        "leader=offline",
        f"leader.path={path}",
        "follower=piper",
        "env=kinematic",
    ]


@pytest.fixture
def lock_step():
    """Make sessions in lock-step; the oracle judges each at the end."""
    made = []

    def make(*args, **kwargs):
        made.append(LockStep(*args, **kwargs))
        return made[-1]

    yield make
    for session in made:
        verdict = session.judge()
        assert verdict.is_ok, str(verdict)
