"""Other solvers' loops on the board of ``paprle bench``.

    python -m benchmarks.peers.board [MANIFEST.yaml] --out OUT [--on local:2]
        [--python NAME=PATH] [--peers pink mink placo upstream]

Peers follow our sessions' targets, one step a tick, with the same start, limits and
clearance, for the same simulated robot and oracle; time does not count.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.peers.driver import PLACO, Peer
from benchmarks.peers.problem import Targets
from benchmarks.peers.robots import Robot, make_robot
from benchmarks.peers.targets import Fk
from benchmarks.peers.with_ours import find_bases
from paprle import Episode
from paprle.config import Resolved, resolve
from paprle.contracts.types import SessionState
from paprle.hosts.plan import make_follower
from paprle.hosts.plan import make_robot as load_robot
from paprle.hosts.virtual import VirtualClock
from paprle.ipc.records import row_to_pose
from paprle_lab.batch.cells import Cell, Cells
from paprle_lab.batch.figures import make_row
from paprle_lab.batch.result_store import ResultStore
from paprle_lab.batch.run_cell import DONE, FAILED
from paprle_lab.batch.table import read_table
from paprle_lab.bench.manifest import STANDARD, read_bench
from paprle_lab.bench.page import render_bench
from paprle_lab.bench.pictures import draw_scores
from paprle_lab.bench.scores import make_scores
from paprle_lab.cli.batch import run_plan
from paprle_lab.evaluation.episode import measure_source

Json = dict[str, Any]
PEERS = {"pink": "pink10", "mink": "mink", "placo": "placo", "upstream": "upstream"}
"""By its name on the board: which worker. pink looks at ten pairs, as its examples."""
_SETTLE = 1.0  # [s] chosen: the robot comes to rest where the recording begins
_UNHURRIED = 1e9  # [s] a turn has no end: nothing is timed


class Session(NamedTuple):
    """One session of the bench for a peer.

    Attributes:
        columns: The peers' joints in the robot's.
        span: Ticks from first to last ENGAGED.
    """

    episode: Episode
    resolved: Resolved
    robot: Robot
    columns: np.ndarray
    span: slice
    targets: Targets


class Robots:
    """Robots for peers, each made once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: dict[str, Robot] = {}

    def find(self, cell: Cell, resolved: Resolved) -> Robot:
        """Return a robot with a session's limits, clearance, period."""
        key = json.dumps(
            [cell.robot, resolved.session.rate, resolved.gate.clearance_self]
        )
        if key not in self._made:
            folder = self._folder / str(len(self._made))
            folder.mkdir()
            robot = make_robot(resolved.follower_name, folder, resolved.robot)
            robot.problem = replace(
                robot.problem,
                dt=1.0 / resolved.session.rate,
                keep=resolved.gate.clearance_self,
            )
            robot.problem.write(self.name_problem(robot))
            self._made[key] = robot
        return self._made[key]

    @staticmethod
    def name_problem(robot: Robot) -> Path:
        """Return the robot's file for peers."""
        return Path(robot.problem.urdf).with_suffix(".json")


def read_session(cell: Cell, path: Path, robots: Robots) -> Session:
    """Return a session's requests to its robot."""
    episode, resolved = Episode.open(path), resolve(list(cell.words))
    robot = robots.find(cell, resolved)
    ticks = episode.ticks
    engaged = np.flatnonzero(ticks["state"] == SessionState.ENGAGED)
    if not len(engaged):
        raise ValueError(f"{path}: never ENGAGED, so there is nothing to follow")
    span = slice(int(engaged[0]), int(engaged[-1]) + 1)
    begin_ns = ticks["stamp_ns"][span.start]
    at = np.searchsorted(episode.gate["stamp_ns"], begin_ns, side="right") - 1
    names = list(episode.robot_info.joint_names)
    columns = np.array([names.index(name) for name in robot.problem.joint_names])
    q_start = episode.gate["q_cmd"][max(int(at), 0), columns]
    T = place_targets(robot, keep_last(ticks["target"][span]), q_start)
    targets = Targets(
        T, np.zeros(1, dtype=int), q_start[None], np.zeros(len(T), dtype=int)
    )
    return Session(episode, resolved, robot, columns, span, targets)


def keep_last(rows: np.ndarray) -> np.ndarray:
    """Fill gaps with the last values, (n, m, 7)."""
    is_there = np.isfinite(rows).all(axis=2)
    last = np.where(is_there, np.arange(len(rows))[:, None], -1)
    last = np.maximum.accumulate(last, axis=0)
    held = np.take_along_axis(rows, np.maximum(last, 0)[..., None], axis=0)
    return np.where((last >= 0)[..., None], held, np.nan)


def place_targets(robot: Robot, rows: np.ndarray, q_start: np.ndarray) -> np.ndarray:
    """Return T_root_eef of T_base_eef; gaps are the start's."""
    start = Fk(robot)(q_start)
    bases = [np.linalg.inv(T) for T in find_bases(robot.problem)]
    T = np.tile(start, (len(rows), 1, 1, 1))
    for k, limbs in enumerate(rows):
        for i, row in enumerate(limbs):
            if np.isfinite(row).all():
                T[k, i] = bases[i] @ row_to_pose(row).homogeneous
    return T


def follow(peer: Peer, session: Session, folder: Path) -> np.ndarray:
    """Return a peer's joints, (n, joints)."""
    targets, out = folder / "targets.npz", folder / "joints.npz"
    session.targets.write(targets)
    problem = Robots.name_problem(session.robot)
    peer.ask(do="begin", problem=str(problem), variant="with", targets=str(targets))
    n = len(session.targets.T)
    peer.ask(do="run", start=0, stop=n, seconds=_UNHURRIED)
    peer.ask(do="save", out=str(out))
    with np.load(out) as arrays:
        return arrays["q"]


def record(session: Session, q: np.ndarray) -> Episode:
    """Return our recording with other commands."""
    episode, span, columns = session.episode, session.span, session.columns
    ticks, gate = episode.ticks.copy(), episode.gate.copy()
    h = 1.0 / session.resolved.env.rate
    whole = ticks["q_des"][span]
    whole[:, columns] = q
    ticks["q_des"][span] = whole
    errors = measure_limbs(session, q)
    ticks["err_pos"][span], ticks["err_rot"][span] = errors
    at = np.searchsorted(ticks["stamp_ns"], gate["stamp_ns"], side="right") - 1
    at -= span.start
    commands = gate["q_cmd"]
    leads = np.flatnonzero(at >= 0)
    commands[np.ix_(leads, columns)] = q[np.minimum(at[leads], len(q) - 1)]
    gate["dq_cmd"] = np.diff(commands, axis=0, prepend=commands[:1]) / h
    gate["q_des"] = commands
    # nothing of ours stood between the peer and the robot
    for name in ("reasons", "latched"):
        gate[name] = 0
    gate["counts"], gate["clearance"] = gate["counts"][:1], np.inf
    simulate(session, gate)
    return replace(episode, ticks=ticks, gate=gate)


def measure_limbs(session: Session, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return limbs' distances from targets, (n, m), [m] and [rad]."""
    reached, T = Fk(session.robot).along(q), session.targets.T
    pos = np.linalg.norm(reached[..., :3, 3] - T[..., :3, 3], axis=-1)
    # |R − R_target| = 2 √2 sin(angle / 2)
    chord = np.linalg.norm(reached[..., :3, :3] - T[..., :3, :3], axis=(-2, -1))
    return pos, 2.0 * np.arcsin(np.minimum(chord / np.sqrt(8.0), 1.0))


def simulate(session: Session, gate: np.ndarray) -> None:
    """Fill in the simulated robot's measurements."""
    clock = VirtualClock()
    resolved = session.resolved
    follower = make_follower(resolved, load_robot(resolved), clock)
    info = follower.open()
    try:
        for _ in range(round(_SETTLE * info.rate)):
            follower.write(gate["q_cmd"][0])
        for row in gate:
            clock.now_ns = int(row["stamp_ns"])
            state = follower.read()
            row["q_meas"], row["dq_meas"] = state.q, state.dq
            row["tau_meas"] = np.nan if state.tau is None else state.tau
            follower.write(row["q_cmd"])
    finally:
        follower.close("hold")


class Board:
    """Rows of all systems.

    Attributes:
        versions: Packages of each started peer.
    """

    def __init__(self, pythons: Mapping[str, str], names: Sequence[str]) -> None:
        self._pythons = pythons
        self._peers = {name: self._open(name) for name in names}
        self.versions = {name: peer.versions for name, peer in self._peers.items()}

    def _open(self, name: str) -> Peer:
        return Peer(PEERS[name], self._pythons.get(name, sys.executable))

    def add(
        self, cells: Iterator[Cell], rows: Sequence[Json], place: ResultStore
    ) -> list[Json]:
        """Return peers' rows of our successful sessions."""
        added = []
        with tempfile.TemporaryDirectory(prefix="board-") as name:
            folder = Path(name)
            robots = Robots(folder)
            for cell, row in zip(cells, rows, strict=True):
                if row["exit_code"] != 0:
                    continue
                kept = Path(place.address) / f"recordings/{cell.index:07d}"
                (path,) = kept.glob("*.mcap")
                session = read_session(cell, path, robots)
                for peer in self._peers:
                    added.append(row | self._do(peer, session, folder))
                print(f"{cell.index + 1} of {len(rows)}", end="\r", flush=True)
        return added

    def _do(self, name: str, session: Session, folder: Path) -> Json:
        try:
            q = follow(self._peers[name], session, folder)
        except RuntimeError as err:
            print(f"{name} gave up: {str(err).strip().splitlines()[-1]}")
            self._peers[name] = self._open(name)
            nothing = dict.fromkeys(make_row(measure_source(session.episode)))
            return nothing | {"system": name, "status": FAILED, "exit_code": 1}
        measured = measure_source(record(session, q))
        return make_row(measured) | {"system": name, "status": DONE}

    def close(self) -> None:
        """End all workers."""
        for peer in self._peers.values():
            peer.close()


def main(words: Sequence[str] | None = None) -> int:
    """Run bench and peers; write scores and a page."""
    parser = argparse.ArgumentParser(description="Peers on the board of the bench.")
    parser.add_argument("manifest", type=Path, nargs="?", default=STANDARD)
    parser.add_argument("--out", required=True, help="a folder of this host")
    parser.add_argument("--on", default="local")
    parser.add_argument("--python", action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("--peers", nargs="+", default=list(PEERS), choices=list(PEERS))
    args = parser.parse_args(words)
    pythons = {"placo": str(PLACO)}
    pythons |= dict(pair.split("=", 1) for pair in args.python)
    board = Board(pythons, args.peers)  # first: one that is not there is told
    bench = read_bench(args.manifest)
    plan = replace(bench.plan, keep="recordings")
    place = ResultStore(args.out)
    code = run_plan(plan, place, args.on)
    rows = read_table(place)
    added = board.add(iter(Cells(plan)), rows, place)
    board.close()
    scores = make_scores(bench, [*rows, *added], board.versions)
    text = json.dumps(scores, indent=1, allow_nan=False) + "\n"
    place.write("leaderboard.json", text.encode())
    place.write("leaderboard.html", render_bench(scores, draw_scores(scores)).encode())
    print(f"scores: {place.address}/leaderboard.json, and a page beside it")
    return code


if __name__ == "__main__":
    sys.exit(main())
