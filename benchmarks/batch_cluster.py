"""Batch on a Ray cluster that loses a node, against one host's.

python -m benchmarks.batch_cluster [--cells 2000] [--cores 1] [--out FOLDER]

Two network namespaces with a Ray node each run short sessions over bad networks; at
half of the cells one node is killed. Tables are compared byte by byte with those of
local processes. Needs root, iproute2 and `pip install 'paprle[ray]'`. With `--out`, an
interrupted run continues.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq
import yaml

START = "import sys; from paprle.cli import main; sys.exit(main())"
SIDES = ("a", "b")
PORT = 6379
NETWORKS = ["none", "4g", "5g", "lossy"]
PLAN = {
    "leaders": [
        {"short": ["leader=autopilot", "leader.size=0.005", "leader.speed=0.2"]}
    ],
    "robots": ["piper", "ur5e"],
    "networks": NETWORKS,
    "settings": ["session.rate=100"],
}
CLUSTER = {  # of this run alone; a node without its token cannot join
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": secrets.token_hex(32),
}


class Hosts:
    """Two network namespaces as hosts of Ray."""

    def __init__(self):
        self.names = [f"batch-{side}-{os.getpid()}" for side in SIDES]
        self.addresses = [f"10.78.{os.getpid() % 200}.{k}" for k in (1, 2)]
        for name in self.names:
            ip("netns", "add", name)
        ends = [f"bt{side}{os.getpid() % 100000}" for side in SIDES]
        ip("link", "add", ends[0], "type", "veth", "peer", "name", ends[1])
        for name, end, address in zip(self.names, ends, self.addresses, strict=True):
            ip("link", "set", end, "netns", name)
            ip("-n", name, "addr", "add", f"{address}/24", "dev", end)
            ip("-n", name, "link", "set", end, "up")
            ip("-n", name, "link", "set", "lo", "up")

    def on(self, k, *words):
        return ["ip", "netns", "exec", self.names[k], *words]

    def start_node(self, k, folder, cores):
        """Start a Ray node."""
        where = (
            ["--head", f"--port={PORT}", "--include-dashboard=false"] if k == 0
            else [f"--address={self.addresses[0]}:{PORT}"]
        )  # fmt: skip
        command = [
            sys.executable, "-m", "ray.scripts.scripts", "start", *where,
            f"--node-ip-address={self.addresses[k]}", f"--num-cpus={cores}",
            "--object-store-memory=100000000",
            f"--temp-dir={folder}/ray{k}", "--disable-usage-stats",
        ]  # fmt: skip
        subprocess.run(
            self.on(k, *command), env={**os.environ, **CLUSTER}, check=True,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip

    def kill_node(self, k):
        """Kill a host's processes; return their number."""
        listed = subprocess.run(
            ["ip", "netns", "pids", self.names[k]],
            capture_output=True, text=True, check=True,
        ).stdout.split()  # fmt: skip
        for pid in map(int, listed):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        return len(listed)

    def close(self):
        for k, name in enumerate(self.names):
            self.kill_node(k)
            ip("netns", "del", name)


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def batch(plan, out, engine):
    return [
        sys.executable, "-W", "ignore", "-c", START,
        "batch", str(plan), "--out", str(out), "--on", engine,
    ]  # fmt: skip


def count(out):
    return sum(1 for _ in (out / "parts").glob("*.json"))


def run_on_cluster(plan, folder, args):
    """Run the plan on two nodes, one of which is killed.

    Returns:
        Figures of its end, and the last stretch's duration.

    Raises:
        SystemExit: If the batch fails.
    """
    out, log, killed = folder / "ray", folder / "ray.log", folder / "killed.json"
    began = time.monotonic()
    hosts = Hosts()
    try:
        for k in range(1 if killed.exists() else 2):
            hosts.start_node(k, folder, args.cores)
        engine = f"ray:{hosts.addresses[0]}:{PORT}"
        with log.open("a") as stream:
            driver = subprocess.Popen(
                hosts.on(0, *batch(plan, out, engine)),
                stdout=stream, stderr=stream, env={**os.environ, **CLUSTER},
            )  # fmt: skip
            while not killed.exists():
                if driver.poll() is not None:
                    raise SystemExit(log.read_text())
                if (at := count(out)) >= args.cells // 2:
                    told = {
                        "cells_when_killed": at,
                        "processes_killed": hosts.kill_node(1),
                    }
                    killed.write_text(json.dumps(told))
                time.sleep(0.2)
            code = driver.wait()
    finally:
        hosts.close()
    if code:
        raise SystemExit(log.read_text())
    retries = re.findall(r"(\d+) tried again", log.read_text())
    return json.loads(killed.read_text()) | {
        "tried_again": sum(map(int, retries)),
        "ray_s": round(time.monotonic() - began, 1),
    }


def compare(plan, folder, args):
    """Return figures of both runs."""
    seen = folder / "ray.json"
    if not seen.exists():
        seen.write_text(json.dumps(run_on_cluster(plan, folder, args)))
    began = time.monotonic()
    done = subprocess.run(
        batch(plan, folder / "local", "local"), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    tables = [(folder / one / "table.parquet") for one in ("ray", "local")]
    rows = pq.read_table(tables[0], columns=["index", "status"])
    return json.loads(seen.read_text()) | {
        "local_s": round(time.monotonic() - began, 1),
        "rows": rows.num_rows,
        "done": rows["status"].to_pylist().count("done"),
        "in_order": rows["index"].to_pylist() == list(range(rows.num_rows)),
        "same_bytes": tables[0].read_bytes() == tables[1].read_bytes(),
        "local_said": done.stdout.splitlines()[:2],
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cells", type=int, default=2000)
    parser.add_argument("--cores", type=int, default=1, help="of each node")
    parser.add_argument("--out", type=Path, help="keep what is done here")
    args = parser.parse_args()
    # ended otherwise, it takes its namespaces and nodes away as well
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    n_seeds = args.cells // (len(PLAN["robots"]) * len(NETWORKS))
    with tempfile.TemporaryDirectory(prefix="batch-") as scratch:
        folder = (args.out or Path(scratch)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        plan = folder / "plan.yaml"
        plan.write_text(yaml.safe_dump(PLAN | {"seeds": n_seeds}))
        told = compare(plan, folder, args)
    print(json.dumps(told, indent=1))
    raise SystemExit(0 if told["same_bytes"] else 1)


if __name__ == "__main__":
    main()
