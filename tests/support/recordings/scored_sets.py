"""Synthetic sets of demonstrations in memory and as LeRobot v3, with planted faults.

A kind is an arm with its unit, rate, noise and lag; every episode of a kind is a reach,
a grasp and a place with another goal, speed and pauses, by minimum-jerk moves.
"""

import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from paprle_lab.scoring.series import NO_TRACK, EpisodeSeries, Glimpses, Track

RAD, DEG = "rad", "deg"


@dataclass(frozen=True)
class Kind:
    """An arm and its recorder: n columns (the last of each arm is a gripper)."""

    name: str
    n: int
    arms: int = 1
    unit: str = RAD
    fps: float = 30.0
    noise: float = 0.001  # [rad] of encoders
    counts: int = 4096  # per turn
    lag: float = 0.1  # [s] of the follower
    pauses: float = 0.1  # share
    gripper: float = 1.0  # its range
    named: bool = True
    states: bool = True
    snaps: bool = False  # the gripper is a switch
    tremor: float = 0.002  # [rad] of the hand, at 6 … 9 Hz


KINDS = (
    Kind("so101", 6, unit=DEG, gripper=100.0),
    Kind("franka", 8, fps=15, noise=1e-4, counts=1 << 20, lag=0.05, gripper=0.08),
    Kind("aloha", 14, arms=2, fps=50, lag=0.04, noise=0.0015),
    Kind("unnamed pair", 14, arms=2, fps=20, named=False, lag=0.15, pauses=0.3),
    Kind("koch at 10 Hz", 6, unit=DEG, fps=10, gripper=100.0, lag=0.12),
    Kind("ur", 7, fps=25, noise=2e-5, counts=1 << 22, snaps=True, lag=0.2),
    Kind("action alone", 7, fps=20, states=False, noise=0.0),
    Kind("slow and shaky", 7, fps=30, pauses=0.45, tremor=0.01, noise=0.003),
    Kind("pair in degrees", 12, arms=2, unit=DEG, fps=30, gripper=100.0, lag=0.08),
)

HELD_OUT = (
    Kind("six in degrees at 12 Hz", 6, unit=DEG, fps=12, gripper=100.0, lag=0.18),
    Kind("seven unnamed at 40 Hz", 7, fps=40, named=False, noise=5e-4, lag=0.06),
    Kind("pair at 10 Hz", 14, arms=2, fps=10, lag=0.1, pauses=0.2),
    Kind("pair in degrees at 50 Hz", 14, arms=2, unit=DEG, fps=50, gripper=100.0),
    Kind("led by hand", 7, fps=30, lag=0.0, noise=3e-4),
    Kind("slow follower", 6, fps=20, lag=0.35, pauses=0.3, gripper=0.05),
    Kind("coarse encoders", 6, unit=DEG, fps=30, counts=1024, noise=0.004, gripper=1.0),
    Kind("switched gripper", 8, fps=50, snaps=True, gripper=255.0, lag=0.08),
    Kind("pair of unnamed degrees", 12, arms=2, unit=DEG, fps=25, named=False),
    Kind("states as actions", 7, fps=15, lag=1 / 15, tremor=0.0, noise=0.002),
)
"""Kinds that no bound was chosen by."""


def name_columns(kind):
    if not kind.named:
        return tuple(map(str, range(kind.n)))
    per = kind.n // kind.arms
    own = [*(f"joint_{k}" for k in range(per - 1)), "gripper"]
    if kind.arms == 1:
        return tuple(f"{name}.pos" for name in own)
    return tuple(f"{side}_{name}.pos" for side in ("left", "right") for name in own)


def make_set(kind, seed, n=8):
    """Return the clean episodes of a set."""
    rng = np.random.default_rng([seed, sum(map(ord, kind.name))])
    homes = rng.uniform(-0.8, 0.8, (kind.arms, kind.n // kind.arms))
    goals = homes + rng.uniform(0.5, 1.4, homes.shape) * rng.choice(
        [-1, 1], homes.shape
    )
    return [_make_episode(kind, k, homes, goals, rng) for k in range(n)]


def _make_episode(kind, number, homes, goals, rng):
    parts = [_move(kind, *arm, rng) for arm in zip(homes, goals, strict=True)]
    n = min(map(len, parts))
    leader = np.concatenate([part[:n] for part in parts], axis=1)
    rate = 200.0
    t = np.arange(n) / rate
    shakes = rng.uniform(6, 9, kind.n)
    hand = leader + kind.tremor * np.sin(2 * np.pi * shakes * t[:, None] + shakes)
    per = kind.n // kind.arms
    grippers = np.arange(per - 1, kind.n, per)
    hand[:, grippers] = leader[:, grippers]
    follower = _follow(hand, kind.lag, rate)
    rows = (np.arange(int(t[-1] * kind.fps)) / kind.fps * rate).round().astype(int)
    scale = np.full(kind.n, np.degrees(1.0) if kind.unit == DEG else 1.0)
    scale[grippers] = kind.gripper
    step = 2 * np.pi / kind.counts
    state = follower[rows] + rng.normal(0, kind.noise, (len(rows), kind.n))
    state = np.round(state / step) * step * scale
    action = np.round(hand[rows] / step) * step * scale
    names = name_columns(kind)
    t = np.arange(len(rows)) / kind.fps
    return EpisodeSeries(
        name=f"episode {number}",
        path=Path("set"),
        task="pick and place",
        outcome="",
        fps=kind.fps,
        t=t,
        action=Track(names, action),
        state=Track(names, state) if kind.states else NO_TRACK,
        driven=np.ones(len(t), np.bool_),
        clock=t.copy(),
        frames=np.arange(len(t), dtype=float),
        cameras={"top": see(state if kind.states else action, t, rng)},
    )


def _move(kind, home, goal, rng):
    """Joints of one arm at 200 Hz: out, back, each joint on a path of its own."""
    n_stops = int(rng.integers(4, 7))
    stops = [home]
    for k in range(n_stops):
        base = goal if k % 2 == 0 else home
        stops.append(base + rng.normal(0, 0.12, len(home)))
    parts, grip, closed = [], [], 0.0
    for begin, end in zip(stops[:-1], stops[1:], strict=True):
        m = int(rng.uniform(0.9, 1.8) * 200)
        s = np.linspace(0, 1, m)
        bends = rng.uniform(-0.3, 0.3, len(home)) * np.sin(np.pi * s)[:, None] ** 2
        bell = 10 * s**3 - 15 * s**4 + 6 * s**5
        parts.append(begin + bell[:, None] * (end - begin) + bends)
        grip.append(np.full(m, closed))
        pause = int(rng.exponential(kind.pauses) * 2 * 200) + 60
        parts.append(np.repeat(end[None], pause, axis=0))
        after = 1.0 - closed
        ramp = (
            np.clip(np.arange(pause) / 60, 0, 1) if not kind.snaps else np.ones(pause)
        )
        grip.append(closed + (after - closed) * ramp)
        closed = after
    joints, grip = np.concatenate(parts), np.concatenate(grip)
    joints[:, -1] = grip
    return joints


def _follow(hand, lag, rate):
    """A delay of half the lag, then a first-order servo of the other half."""
    n = round(lag / 2 * rate)
    late = np.concatenate([np.repeat(hand[:1], n, axis=0), hand])[: len(hand)]
    share, out = 1 - np.exp(-1 / max(lag / 2 * rate, 1e-6)), late.copy()
    for k in range(1, len(out)):
        out[k] = out[k - 1] + share * (late[k] - out[k - 1])
    return out


def see(values, t, rng):
    """Glimpses of a camera that sees the arm: cells change with its motion."""
    times = np.arange(0, t[-1], 0.25)
    rows = np.searchsorted(t, times).clip(0, len(t) - 1)
    scale = np.ptp(values, axis=0)
    moved = np.abs(np.diff(values[rows] / np.where(scale > 0, scale, 1), axis=0)).max(1)
    changes = np.append([np.inf], 120 * moved + rng.uniform(0.1, 0.9, len(moved)))
    return Glimpses(times, changes, 0.0)


def _rebuild(series, action, state, **more):
    n = len(action)
    t = np.arange(n) / series.fps
    own = {
        "t": t, "clock": t.copy(), "frames": np.arange(n, dtype=float),
        "driven": np.ones(n, np.bool_),
    }  # fmt: skip
    return replace(series.with_values(action, state), **(own | more))


def shift_action(series, seconds):
    """Have the action come later against the state, [s]."""
    n = round(seconds * series.fps)
    action, state = series.action.values, series.state.values
    if n >= 0:
        return _rebuild(series, action[: len(action) - n], state[n:])
    return _rebuild(series, action[-n:], state[:n])


def stick_camera(series):
    glimpses = series.cameras["top"]
    changes = glimpses.changes.copy()
    changes[len(changes) // 3 :] = 0.05
    return replace(series, cameras={"top": glimpses._replace(changes=changes)})


def declare_rate(series, factor):
    """Have info.json declare another rate than the timestamps run at."""
    return replace(series, fps=series.fps * factor)


def repeat_rows(series):
    """A motion of half the rate whose rows are doubled."""
    action, state = (
        np.repeat(x[::2], 2, axis=0) if x.size else x
        for x in (series.action.values, series.state.values)
    )
    return _rebuild(series, action, state)


def swap_columns(values, n_arms_columns):
    half = n_arms_columns // 2
    return np.concatenate([values[:, half:], values[:, :half]], axis=1)


def swap_arms(series, which="both"):
    action, state = series.action.values, series.state.values
    if which in {"both", "action"}:
        action = swap_columns(action, action.shape[1])
    if which in {"both", "state"} and state.size:
        state = swap_columns(state, state.shape[1])
    return series.with_values(action, state)


def change_unit(series, kind, which="both", columns=None):
    """Turn degrees into radians or back, of joints or of some columns."""
    factor = 1 / np.degrees(1.0) if kind.unit == DEG else np.degrees(1.0)
    per = kind.n // kind.arms
    own = np.ones(kind.n)
    own[[k for k in range(kind.n) if k % per != per - 1]] = factor
    if columns is not None:
        own = np.ones(kind.n)
        own[columns] = factor
    action, state = series.action.values, series.state.values
    if which in {"both", "action"}:
        action = action * own
    if which in {"both", "state"} and state.size:
        state = state * own
    return series.with_values(action, state)


def rest(series, kind, seed=0):
    """No motion but the noise of encoders."""
    rng = np.random.default_rng(seed)
    step = 2 * np.pi / kind.counts * (np.degrees(1.0) if kind.unit == DEG else 1.0)
    action = np.repeat(series.action.values[:1], len(series.t), axis=0)
    state = series.state.values
    if state.size:
        noise = rng.normal(0, kind.noise, state.shape)
        state = state[:1] + np.round(noise / (2 * np.pi / kind.counts)) * step
    still = series.with_values(action, state)
    return replace(still, cameras={"top": see(action, series.t, rng)})


def jump_first(series, which="action"):
    """The first row is zero, as of a buffer that was not filled."""
    action, state = series.action.values.copy(), series.state.values.copy()
    if which in {"action", "both"} or not state.size:
        action[0] = 0.0
    if which in {"state", "both"} and state.size:
        state[0] = 0.0
    return series.with_values(action, state)


def copy_of(series, number):
    return replace(series, name=f"episode {number}")


def write_lerobot(root, episodes, fps=None, features=None):
    """Write series as a LeRobot v3 set without cameras."""
    fps = fps or episodes[0].fps
    (root / "meta/episodes/chunk-000").mkdir(parents=True)
    (root / "data/chunk-000").mkdir(parents=True)
    rows, table, at = [], [], 0
    tasks = sorted({one.task for one in episodes})
    for number, one in enumerate(episodes):
        n = len(one.t)
        columns = {
            "timestamp": one.clock.astype(np.float32),
            "frame_index": np.arange(n),
            "episode_index": np.full(n, number),
            "index": at + np.arange(n),
            "task_index": np.full(n, tasks.index(one.task)),
        }
        for key, track in (("action", one.action), ("observation.state", one.state)):
            if track.values.size:
                columns[key] = list(track.values.astype(np.float32))
        if one.outcome:
            columns["next.success"] = np.arange(n) == n - 1
            columns["next.success"] &= one.outcome == "success"
        table.append(pd.DataFrame(columns))
        rows.append(
            {
                "episode_index": number, "tasks": [one.task], "length": n,
                "data/chunk_index": 0, "data/file_index": 0,
                "dataset_from_index": at, "dataset_to_index": at + n,
            }
        )  # fmt: skip
        at += n
    data = pa.Table.from_pandas(pd.concat(table), preserve_index=False)
    pq.write_table(data, root / "data/chunk-000/file-000.parquet")
    pd.DataFrame(rows).to_parquet(root / "meta/episodes/chunk-000/file-000.parquet")
    index = pd.Index(tasks, name="task")
    pd.DataFrame({"task_index": range(len(tasks))}, index=index).to_parquet(
        root / "meta/tasks.parquet"
    )
    first = episodes[0]
    own = {
        key: {"dtype": "float32", "shape": [len(track.names)], "names": [*track.names]}
        for key, track in (("action", first.action), ("observation.state", first.state))
        if track.values.size
    }
    scalars = {
        key: {"dtype": "int64", "shape": [1], "names": None}
        for key in ("frame_index", "episode_index", "index", "task_index")
    }
    info = {
        "codebase_version": "v3.0", "robot_type": "arm", "fps": fps,
        "total_episodes": len(episodes), "total_frames": at,
        "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
        "video_path": "videos/{video_key}/chunk-{chunk_index:03d}"
        "/file-{file_index:03d}.mp4",
        "features": own | scalars | (features or {})
        | {"timestamp": {"dtype": "float32", "shape": [1], "names": None}},
    }  # fmt: skip
    (root / "meta/info.json").write_text(json.dumps(info))
    return root
