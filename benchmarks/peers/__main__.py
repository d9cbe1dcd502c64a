"""Run the comparison: ``python -m benchmarks.peers``.

    --quick               about a minute, a tenth of the targets
    --json FILE           every figure
    --write-docs          put the tables into docs/performance/peers.md
    --python NAME=PATH    the Python that has a peer; placo needs one of its own

By default, placo's environment is this one's name with ``-placo``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.peers.driver import PLACO, Driver, open_peers
from benchmarks.peers.report import render, write_into
from benchmarks.peers.robots import ROOT
from benchmarks.peers.scenarios import FULL, QUICK, Bench


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Side-by-side benchmarks.")
    parser.add_argument("--quick", action="store_true", help="about a minute")
    parser.add_argument("--json", type=Path, help="write every figure here")
    parser.add_argument(
        "--write-docs", action="store_true", help="docs/performance/peers.md"
    )
    parser.add_argument("--python", action="append", default=[], metavar="NAME=PATH")
    return parser.parse_args()


def find_cpu() -> str:
    """Return the processor's name."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if "model name" in line]
    return f"{len(names)} × {names[0]}" if names else platform.processor()


def main() -> None:
    """Run, print, write."""
    args = parse()
    pythons = {"placo": str(PLACO), **dict(p.split("=", 1) for p in args.python)}
    sizes = QUICK if args.quick else FULL
    began, load = time.monotonic(), os.getloadavg()[0]

    def say(what: str) -> None:
        print(f"{time.monotonic() - began:6.1f} s  {what}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        peers = open_peers(pythons)
        bench = Bench(Driver(peers, Path(folder), sizes.budget), sizes, Path(folder))
        bench.run(say)
        versions: dict[str, Any] = {}
        for peer in peers:
            versions.update(peer.versions if peer.name != "placo" else {})
            peer.close()
    say("done")
    placo = next((p.versions for p in peers if p.name == "placo"), {})
    results = {
        "command": "python -m benchmarks.peers" + " --quick" * args.quick,
        "machine": f"{find_cpu()}, Python {platform.python_version()}",
        "load": [round(load, 1), round(os.getloadavg()[0], 1)],
        "seconds": round(time.monotonic() - began),
        "versions": versions,
        "versions_of_placo": placo,
        "robots": bench.describe(),
        "scenarios": bench.results,
    }
    if args.json:
        args.json.write_text(json.dumps(results, indent=1))
    page = render(results)
    print(page)
    if args.write_docs:
        write_into(ROOT / "docs" / "performance" / "peers.md", page)


if __name__ == "__main__":
    main()
