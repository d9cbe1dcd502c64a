"""Robots that move well by ``paprle new-robot``, unedited.

``python -m benchmarks.devices.onboarding [ENV …] [URDF …]``: an autopilot drives every
limb of each URDF (default: example-robot-data) around a circle, in ``kinematic`` and
``mujoco`` or named envs. A robot follows with a median eef error of a millimetre,
without lag.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from paprle_lab.evaluation.reporting.report import evaluate

ENVS = ("kinematic", "mujoco")
FOLLOWS = 1.0  # asked for: [mm]
PATIENCE = 300  # [s] chosen: for a robot of a hundred joints on a busy machine
TELLING = ("error:", "not where the hand was", "STOPPED")
MAIN = "import sys; from paprle.cli import main; sys.exit(main())"


class Run(NamedTuple):
    """Result of one robot in one env."""

    code: int
    error_mm: float | None
    words: str

    @property
    def is_followed(self) -> bool:
        """Whether it followed its targets."""
        return self.error_mm is not None and self.error_mm < FOLLOWS


def find_robots() -> list[Path]:
    """Return the URDFs of example-robot-data, if installed."""
    folder = Path(sys.prefix) / "lib/python{}.{}/site-packages/cmeel.prefix/share"
    folder = Path(str(folder).format(*sys.version_info[:2]))
    return sorted((folder / "example-robot-data/robots").rglob("*.urdf"))


def call(*words: str) -> tuple[int, str]:
    """Run a verb; return exit code and last output."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", MAIN, *words],
            capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return 1, f"still running after {PATIENCE} s"
    lines = (done.stdout + done.stderr).strip().splitlines()
    told = [line for line in lines if line.startswith(TELLING)]
    return done.returncode, (told or lines or [""])[-1]


def try_robot(yaml: Path, env: str, out: Path) -> Run:
    """Drive a robot around its circle."""
    code, words = call(
        "run", "leader=autopilot", f"follower={yaml}", f"env={env}",
        "session.clock=virtual", "session.episodes=1", f"record.dir={out}",
    )  # fmt: skip
    episode = out / "episode_000000.mcap"
    if not episode.is_file():
        return Run(code, None, words)
    (entry,) = evaluate([episode])
    found = entry["ate_mm"] if entry["error"] is None else None
    error = None if found is None else found["lag_compensated"]["median"]
    return Run(code, error, words)


def main(words: list[str]) -> None:
    """Print robots, envs, and the number that follow."""
    envs = [word for word in words if not word.endswith(".urdf")] or list(ENVS)
    robots = [Path(word) for word in words if word.endswith(".urdf")] or find_robots()
    counts = {env: [0, 0] for env in envs}
    for urdf in robots:
        with tempfile.TemporaryDirectory() as folder:
            code, told = call(
                "new-robot", str(urdf), "--name", "robot", "--out", folder
            )
            if code:
                print(f"{urdf.stem:32} refused: {told}", flush=True)
                continue
            for env in envs:
                run = try_robot(Path(folder) / "robot.yaml", env, Path(folder) / env)
                counts[env][0] += run.is_followed
                counts[env][1] += 1
                error = "   –  " if run.error_mm is None else f"{run.error_mm:6.2f}"
                last = "" if run.is_followed else run.words
                print(f"{urdf.stem:32} {env:9} {error} mm  exit {run.code}  {last}",
                      flush=True)  # fmt: skip
    for env, (followed, tried) in counts.items():
        print(f"{env}: {followed} of {tried} follow within {FOLLOWS:g} mm")


if __name__ == "__main__":
    main(sys.argv[1:])
