"""Workers in turns, against noise."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.problem import Targets
from benchmarks.peers.robots import ROOT, Robot

PLACO = Path(f"{sys.prefix}-placo") / "bin" / "python"
"""Of the environment beside this one, as the Makefile makes it."""
PEERS = ("ours", "solve", "placo", "mink", "pink", "pink10", "upstream")
_ONLY = {
    "pink10": "with",  # is pink where nothing is to be kept apart
    "solve": "without",  # knows of no bodies
}
"""The variant of which a peer has something to say, where not of all."""
_TURN = 0.03  # [s] chosen: long against the hand-over, short against the noise


class Peer:
    """One worker process."""

    def __init__(self, name: str, python: str) -> None:
        self.name = name
        self._process = subprocess.Popen(
            [python, "-m", "benchmarks.peers.worker", name],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.versions = self.ask(do="versions")["versions"]

    def ask(self, **request: Any) -> dict[str, Any]:
        """Return the worker's answer to a request.

        Raises:
            RuntimeError: If the worker died.
        """
        process = self._process
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise RuntimeError(f"{self.name}: expected pipes, got none")
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            process.kill()
            raise RuntimeError(f"{self.name}: {process.stderr.read()[-2000:]}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the worker."""
        self._process.communicate(timeout=10)


def open_peers(pythons: dict[str, str]) -> list[Peer]:
    """Start the available workers; report missing ones."""
    peers = []
    for name in PEERS:
        python = pythons.get(name.rstrip("10"), sys.executable)
        try:
            peers.append(Peer(name, python))
        except (RuntimeError, OSError) as err:
            print(f"left out: {name}: {str(err).strip().splitlines()[-1]}")
    return peers


class Driver:
    """Runs scenarios on all peers in turns.

    Attributes:
        budget: Longest work on one track, [s].
    """

    def __init__(self, peers: list[Peer], folder: Path, budget: float) -> None:
        self.peers = peers
        self.budget = budget
        self._playing = peers
        self._folder = folder

    def _begin(self, robot: Robot, targets: Targets, variant: str) -> dict[str, int]:
        path = self._folder / "targets.npz"
        targets.write(path)
        self._playing = [
            peer for peer in self.peers if _ONLY.get(peer.name, variant) == variant
        ]
        problem = str(self._folder / f"{robot.problem.name}.json")
        return {
            peer.name: peer.ask(
                do="begin", problem=problem, variant=variant, targets=str(path)
            )["n_pairs"]
            for peer in self._playing
        }

    def _take_turns(self, do: str, n: int, **rest: str) -> None:
        at = dict.fromkeys(self._playing, 0)
        left = dict.fromkeys(self._playing, self.budget)
        while at:
            for peer in [*at]:
                began = time.monotonic()
                at[peer] = peer.ask(
                    do=do, start=at[peer], stop=n, seconds=_TURN, **rest
                )["at"]
                left[peer] -= time.monotonic() - began
                if at[peer] == n or left[peer] <= 0.0:
                    del at[peer]

    def _collect(self, n_pairs: dict[str, int]) -> dict[str, dict[str, Any]]:
        results = {}
        for peer in self._playing:
            path = self._folder / f"{peer.name}.npz"
            peer.ask(do="save", out=str(path))
            with np.load(path) as arrays:
                n = int(np.isfinite(arrays["seconds"]).sum())
                cut = {name: values[:n] for name, values in arrays.items()}
            results[peer.name] = {**cut, "n_pairs": n_pairs[peer.name]}
        return results

    def track(
        self, robot: Robot, targets: Targets, variant: str
    ) -> dict[str, dict[str, Any]]:
        """Return each peer's track."""
        n_pairs = self._begin(robot, targets, variant)
        self._take_turns("run", len(targets.T))
        return self._collect(n_pairs)

    def search(
        self, robot: Robot, targets: Targets, starts: np.ndarray
    ) -> dict[str, dict[str, Any]]:
        """Return each peer's single solves."""
        path = self._folder / "starts.npy"
        np.save(path, starts)
        n_pairs = self._begin(robot, targets, "cold")
        self._take_turns("search", len(targets.T), starts=str(path))
        return self._collect(n_pairs)
