"""Classic, continuous and threshold control by users of one axis.

python -m benchmarks.shared_control [--n 200] [--first 0] [--out FILE]
    [--modes classic continuous threshold] [--from FILE …]

``--out`` appends trials; ``--from`` tabulates them. A trial is a seeded block in MuJoCo
on the virtual clock, with a game controller through SDL. Success has Wilson's interval
of 95 %, means of successes a bootstrap's. Users are scripted: mappings are compared.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.shared_control.trial import MODES, Trial, TrialSession
from paprle.contracts.types import Vec

_Z = 1.96  # spec: 95 % of a normal distribution
_DRAWS = 2000  # chosen: ends of an interval to a hundredth of its width


def wilson(n_good: int, n: int) -> tuple[float, float]:
    """Return a share's Wilson interval, 95 %."""
    share, z2 = n_good / n, _Z**2 / n
    middle = (share + z2 / 2.0) / (1.0 + z2)
    half = _Z * math.sqrt(share * (1.0 - share) / n + z2 / (4.0 * n)) / (1.0 + z2)
    return middle - half, middle + half


def bootstrap(values: Vec) -> tuple[float, float, float]:
    """Return mean and 95 % interval."""
    if not len(values):
        return math.nan, math.nan, math.nan
    rng = np.random.default_rng(0)
    means = rng.choice(values, (_DRAWS, len(values))).mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(values.mean()), float(low), float(high)


def describe(mode: str, trials: Sequence[Trial]) -> str:
    """Return a row of the table."""
    done = [one for one in trials if one.is_placed]
    low, high = wilson(len(done), len(trials))
    cells = [f"{len(done)}/{len(trials)} ({100 * low:.0f}–{100 * high:.0f} %)"]
    for name in ("time", "switches", "path"):
        values = np.array([float(getattr(one, name)) for one in done])
        mean, least, most = bootstrap(values)
        cells.append(f"{mean:.2f} ({least:.2f}–{most:.2f})")
    return f"| {mode} | {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Compare ways of shared control.")
    parser.add_argument("--n", type=int, default=200, help="seeds for each mode")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=list(MODES))
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--out", type=Path, help="file to which trials are appended")
    parser.add_argument("--from", type=Path, nargs="+", dest="files", default=[])
    args = parser.parse_args(arguments)
    logging.getLogger("paprle").setLevel(logging.ERROR)
    out = sys.stdout
    known = [json.loads(line) for one in args.files for line in one.open()]
    out.write(
        "| mode | placed | time [s] | switches | path [m] |\n|---|---|---|---|---|\n"
    )
    for mode in args.modes:
        trials = [Trial(**row["trial"]) for row in known if row["mode"] == mode]
        for seed in range(args.first, args.first + args.n) if not known else ():
            trials.append(_play(mode, seed))
            if args.out is not None:
                row = {"mode": mode, "seed": seed, "trial": trials[-1]._asdict()}
                with args.out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
        if trials:
            out.write(describe(mode, trials) + "\n")
            out.flush()
    return 0


def _play(mode: str, seed: int) -> Trial:
    stdout, sys.stdout = sys.stdout, sys.stderr
    try:
        return TrialSession(mode, seed).play()
    finally:
        sys.stdout = stdout


if __name__ == "__main__":
    sys.exit(main())
