"""Time from a leader's sample to its command, by start.

``python -m benchmarks.phase [STARTS] [EMULATOR … --] [KEY=VALUE …]``: sessions of an
autopilot and a kinematic PiPER, or as set, beside named emulators
(``demos/with_emulators.py``). Prints median and p99 of capture to command, and missed
deadlines. Exits with 1 above a median of 2 ms, or a difference of 0.3 ms.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile

import numpy as np

from paprle import Episode
from paprle.ipc.process import WORKSPACE
from paprle_lab.evaluation.episode import measure_source

MOST, MOST_APART = 2.0, 0.3  # [ms] chosen: of 5 ms between two samples
WORDS = ["leader=autopilot", "follower=piper", "env=kinematic"]


def measure(words: list[str]) -> tuple[float, float, int]:
    """Return latencies, [ms], and missed deadlines.

    Raises:
        SystemExit: If the session failed.
    """
    cut = words.index("--") + 1 if "--" in words else 0
    program = ["demos/with_emulators.py", *words[:cut]] if cut else ["run.py"]
    with tempfile.TemporaryDirectory() as folder:
        asked = [*WORDS, *words[cut:], "session.episodes=1", f"record.dir={folder}"]
        run = [sys.executable, *program, *asked]
        done = subprocess.run(
            run, cwd=WORKSPACE, check=False, capture_output=True, text=True
        )
        if done.returncode:
            raise SystemExit(f"{' '.join(run)}\n{done.stdout}{done.stderr}")
        entry = measure_source(Episode.open(folder)).entry
    found = entry["latency_ms"]["capture_to_command"]
    missed = entry["tick"]["overruns"] + entry["gate"]["gate_overruns"]
    return found["p50"], found["p99"], missed


def main(words: list[str]) -> int:
    """Print starts and spread; return 1 for a missed bar."""
    starts, rest = 20, words
    if words and words[0].isdigit():
        starts, rest = int(words[0]), words[1:]
    medians = []
    for _ in range(starts):
        p50, p99, missed = measure(rest)
        medians.append(p50)
        print(f"p50 {p50:5.2f} ms   p99 {p99:5.2f} ms   missed {missed}", flush=True)
    middle = float(np.median(medians))
    apart = max(abs(p50 - middle) for p50 in medians)
    print(f"{starts} starts: median {middle:.2f} ms, the farthest {apart:.2f} ms off")
    return int(middle > MOST or apart > MOST_APART)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
