"""Cost of four recorded cameras: sessions with and without, in turn.

``python -m benchmarks.processes.cameras [PAIRS] [KEY=VALUE …]``: four cameras of 640 ×
480 at 30 Hz, with moving, noisy pictures from memory, beside a recorded session of 200
Hz. Prints ticks on time, p99 lateness of session and gate, and ratios over the pairs.
On a busy machine only ratios count.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import cv2
import numpy as np

from paprle import Episode
from paprle.ipc.process import WORKSPACE

WORDS = ["leader=autopilot", "follower=piper", "env=mujoco", "session.episodes=1"]
WIDTH, HEIGHT, FPS, N_CAMERAS, N_PICTURES = 640, 480, 30, 4, 30
ON_TIME_NS = 1_000_000  # [ns] chosen: a fifth of a tick of 200 Hz
NAMES = ("session on time %", "session p99 ms", "gate on time %", "gate p99 ms")


def draw(folder: Path) -> None:
    """Write moving pictures with sensor noise."""
    rng = np.random.default_rng(0)
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    for k in range(N_PICTURES):
        ramp = ((rows + columns + 7 * k) % 200 + 20).astype(np.uint8)
        image = np.repeat(ramp[:, :, None], 3, axis=2)
        image += rng.integers(0, 6, image.shape, dtype=np.uint8)
        cv2.imwrite(str(folder / f"{k:03d}.png"), image)


def list_cameras(folder: Path, n_cameras: int = N_CAMERAS) -> list[str]:
    """Return the cameras' settings."""
    keys = {"type": "pictures", "folder": folder, "fps": FPS}
    return [f"cameras.c{n}.{k}={v}" for n in range(n_cameras) for k, v in keys.items()]


def measure(words: list[str]) -> tuple[list[float], str]:
    """Return a session's figures of ``NAMES`` and recording."""
    with tempfile.TemporaryDirectory() as folder:
        run = [sys.executable, "run.py", *WORDS, *words, f"record.dir={folder}"]
        subprocess.run(run, cwd=WORKSPACE, check=True, capture_output=True)
        return read_figures(Path(folder))


def read_figures(folder: Path) -> tuple[list[float], str]:
    """Return an episode's figures of ``NAMES`` and pictures."""
    episode = Episode.open(folder)
    manifest = json.loads(episode.path.with_suffix(".json").read_text())
    figures = []
    for rows in (episode.ticks, episode.gate):
        late = rows["late_ns"][20:]
        figures.append(100.0 * float((late < ON_TIME_NS).mean()))
        figures.append(1e-6 * float(np.percentile(late, 99)))
    counts = manifest.get("cameras", {}).values()
    told = ", ".join(f"{n['pictures']} ({n['dropped']} dropped)" for n in counts)
    return figures, told


def main(words: list[str]) -> None:
    """Print sessions and medians."""
    pairs, rest = 5, words
    if words and words[0].isdigit():
        pairs, rest = int(words[0]), words[1:]
    found: dict[str, list[list[float]]] = {"without": [], "with": []}
    with tempfile.TemporaryDirectory() as folder:
        draw(Path(folder))
        for k in range(pairs):
            for name in list(found)[:: 1 if k % 2 else -1]:
                asked = list_cameras(Path(folder)) if name == "with" else []
                figures, told = measure([*asked, *rest])
                found[name].append(figures)
                shown = "   ".join(
                    f"{n} {x:.3f}" for n, x in zip(NAMES, figures, strict=True)
                )
                print(f"{name:<8} {shown}   {told}", flush=True)
    for name, rows in found.items():
        medians = np.median(np.array(rows), axis=0)
        shown = zip(NAMES, medians, strict=True)
        print(f"{name:<8} median: " + "   ".join(f"{n} {x:.3f}" for n, x in shown))
    print(describe_ratios(found["with"], found["without"]))


def describe_ratios(after: list[list[float]], before: list[list[float]]) -> str:
    """Return medians and ranges of ratios of paired runs."""
    ratios = np.array(after) / np.array(before)
    spreads = zip(
        NAMES, np.median(ratios, axis=0), ratios.min(axis=0), ratios.max(axis=0),
        strict=True,
    )  # fmt: skip
    told = (f"{n} × {mid:.2f} ({low:.2f} to {top:.2f})" for n, mid, low, top in spreads)
    return "within pairs: " + "   ".join(told)


if __name__ == "__main__":
    main(sys.argv[1:])
