"""Operator's stages on one resource: free, or in order.

``python -m benchmarks.remote.stages [--live]``

Simulates capture, track, reconstruct, decode and render (TeleXR's contention-aware
scheduling, T16): free, with own periods; in order; and at the paper's bound, T ≥ Σ t_i
without the last stage, the counter-example (2.2 no. 4): the backlog grows by t_n with
each frame. ``--live`` runs the product's stages in threads, free, and in order on one
processor.
"""

from __future__ import annotations

import heapq
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np


class Stage(NamedTuple):
    """One stage.

    Attributes:
        time: Mean, [s].
        period: When free, [s].
        spread: Standard deviation of log time.
    """

    name: str
    time: float
    period: float
    spread: float = 0.2


# chosen: of an embedded board, in the paper's proportions; the order is what is shown
STAGES = (
    Stage("capture", 0.002, 1 / 30),
    Stage("track", 0.010, 1 / 30),
    Stage("reconstruct", 0.001, 1 / 100),
    Stage("decode", 0.004, 1 / 30),
    Stage("render", 0.008, 1 / 60),
)


@dataclass
class Outcome:
    """Results of frames.

    Attributes:
        ages: From capture to end, [s].
        ends: [s].
        stale: Frames without news.
        backlog: Work left, [s].
    """

    ages: list[float] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    stale: int = 0
    backlog: float = 0.0


def draw_times(stages: Sequence[Stage], seed: int) -> Callable[[int], float]:
    """Return a generator of stage times."""
    rng = np.random.default_rng(seed)
    return lambda i: float(
        stages[i].time
        * (rng.lognormal(0.0, stages[i].spread) if stages[i].spread else 1.0)
    )


def find_period(stages: Sequence[Stage], n: int | None = None, seed: int = 1) -> float:
    """Return p99 of the sum of the first n stages, or of all, [s].

    The sum of p99s is taken by no frame.
    """
    draw, some = draw_times(stages, seed), range(len(stages) if n is None else n)
    return float(np.percentile([sum(map(draw, some)) for _ in range(4000)], 99))


def run_free(stages: Sequence[Stage], seconds: float, seed: int = 0) -> Outcome:
    """Run stages at own periods, first come first served."""
    rng, draw = np.random.default_rng(seed), draw_times(stages, seed)
    waiting = [(float(rng.uniform(0, s.period)), i) for i, s in enumerate(stages)]
    heapq.heapify(waiting)
    newest: list[float | None] = [None] * len(stages)  # capture that an output rests on
    outcome, free, asked = Outcome(), 0.0, 0.0
    while waiting[0][0] < seconds:
        asked, i = heapq.heappop(waiting)
        begin = max(asked, free)
        free = begin + draw(i)
        source = begin if i == 0 else newest[i - 1]
        if i == len(stages) - 1 and source is not None:
            _end_frame(outcome, source, free, newest[i])
        newest[i] = source
        heapq.heappush(waiting, (max(asked + stages[i].period, begin), i))
    outcome.backlog = max(0.0, free - asked)
    return outcome


def run_in_order(
    stages: Sequence[Stage], period: float, seconds: float, seed: int = 0
) -> Outcome:
    """Run stages in turn, the first once a period."""
    draw, outcome, free, number = draw_times(stages, seed), Outcome(), 0.0, 0
    waiting = [(0.0, 0, 0.0)]  # when asked, stage, capture
    last: float | None = None
    while waiting:
        asked, i, source = heapq.heappop(waiting)
        begin = max(asked, free)
        source = asked if i == 0 else source
        free = begin + draw(i)
        if i == 0:
            number += 1
            if number * period < seconds:
                heapq.heappush(waiting, (number * period, 0, 0.0))
        if i < len(stages) - 1:
            heapq.heappush(waiting, (free, i + 1, source))
        else:
            _end_frame(outcome, source, free, last)
            last = source
    outcome.backlog = max(0.0, free - seconds)
    return outcome


def _end_frame(outcome: Outcome, source: float, end: float, last: float | None) -> None:
    outcome.stale += last is not None and source <= last
    outcome.ages.append(end - source)
    outcome.ends.append(end)


def print_simulation(seconds: float = 60.0) -> None:
    """Print a line for each way."""
    all_of, but_last = find_period(STAGES), find_period(STAGES, len(STAGES) - 1)
    rows = {
        "free, each at its own period": run_free(STAGES, seconds),
        f"in order, T = Σ t_1…n = {1e3 * all_of:.1f} ms": run_in_order(
            STAGES, all_of, seconds
        ),
        f"in order, T = Σ t_1…n-1 = {1e3 * but_last:.1f} ms (paper)": run_in_order(
            STAGES, but_last, seconds
        ),
    }
    print(f"{'':44}{'age p50':>9}{'p99 [ms]':>9}{'frames/s':>9}{'stale':>7}{'late':>9}")
    for name, one in rows.items():
        p50, p99 = 1e3 * np.percentile(one.ages, [50, 99])
        rate = len(one.ends) / max(one.ends[-1], seconds)
        print(
            f"{name:44}{p50:9.1f}{p99:9.1f}{rate:9.1f}{one.stale:7d}"
            f"{1e3 * one.backlog:7.0f}ms"
        )


def make_live() -> dict[str, Callable[[], object]]:
    """Return the product's stages, by name."""
    # loaded here: the simulation needs none of them
    import cv2  # noqa: PLC0415

    from paprle.cameras.mujoco.config import MujocoCameraConfig  # noqa: PLC0415
    from paprle.cameras.mujoco.world import make_world  # noqa: PLC0415
    from paprle.config import resolve  # noqa: PLC0415
    from paprle.contracts.images import RobotPose  # noqa: PLC0415
    from paprle.contracts.settings.camera import CameraSettings  # noqa: PLC0415
    from paprle.hardware.mujoco.offscreen import Offscreen  # noqa: PLC0415
    from paprle.hosts.plan import make_robot  # noqa: PLC0415
    from paprle.hosts.views.predicted_view import Mirroring  # noqa: PLC0415
    from paprle.ipc.records import make_gate_layout  # noqa: PLC0415

    words = ["leader=autopilot", "follower=piper", "env=mujoco"]
    robot = make_robot(resolve(words)).info
    layout = make_gate_layout(robot)
    size, config = (320, 240), MujocoCameraConfig(width=320, height=240)
    info = CameraSettings(fps=30.0).make_info(*size, "rgb8")
    world = make_world(robot, {}, config, info)
    screens = threading.local()  # a renderer belongs to the thread that made it
    mirroring = Mirroring(robot)
    noise = np.random.default_rng(0).integers(0, 255, (480, 640, 3), dtype=np.uint8)
    jpeg = cv2.imencode(".jpg", cv2.blur(noise, (9, 9)))[1]
    tick, status = np.zeros((), layout.tick), np.zeros((), layout.status)
    tick["q_des"] = status["q_meas"] = robot.home
    shown = [robot.home]

    def capture() -> None:
        now_ns = time.monotonic_ns()
        tick["stamp_ns"] = now_ns
        status["stamp_ns"] = status["meas_ns"] = now_ns - 50_000_000

    def reconstruct() -> None:
        one = mirroring.look(tick, status, time.monotonic_ns())
        shown[0] = robot.home if one is None else one.q

    def render() -> None:
        if not hasattr(screens, "mine"):
            screens.mine = Offscreen(world.model, *size, is_plain=True)
        world.put(RobotPose(0, shown[0], {}))
        screens.mine.draw(world.data, world.camera)

    return {
        "capture": capture,
        "reconstruct": reconstruct,
        "decode": lambda: cv2.imdecode(jpeg, cv2.IMREAD_COLOR),
        "render": render,
    }


def run_live(seconds: float = 10.0) -> None:
    """Time the stages, and run both ways in threads."""
    stages = make_live()
    for _ in range(20):
        for work in stages.values():
            work()
    sums = []
    taken: dict[str, list[float]] = {name: [] for name in stages}
    for _ in range(300):
        for name, work in stages.items():
            begin = time.perf_counter()
            work()
            taken[name].append(time.perf_counter() - begin)
        sums.append(sum(times[-1] for times in taken.values()))
    for name, times in taken.items():
        print(f"{name:12} p99 {1e3 * np.percentile(times, 99):6.2f} ms")
    period = max(float(np.percentile(sums, 99)), 1e-3)
    print(f"{'all of them':12} p99 {1e3 * period:6.2f} ms: the period of the order")
    for name, is_ordered in (("free", False), ("in order, pinned", True)):
        ages = run_threads(list(stages.values()), period, seconds, is_ordered)
        p50, p99 = 1e3 * np.percentile(ages, [50, 99])
        print(f"{name:18} age p50 {p50:6.2f} p99 {p99:6.2f} ms, {len(ages)} frames")


def run_threads(
    works: Sequence[Callable[[], object]],
    period: float,
    seconds: float,
    is_ordered: bool,
) -> list[float]:
    """Return frames' ages, [s], of stages in a thread each.

    Args:
        works: The first is the capture.
        period: Of the first, and of all if free, [s].
        seconds: [s].
        is_ordered: On one processor, in turn.
    """
    n = len(works)
    released = [threading.Semaphore(0) for _ in works]
    captured: list[float | None] = [None] * n
    ages: list[float] = []
    end = time.perf_counter() + seconds

    def run(i: int) -> None:
        if is_ordered:
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        due = time.perf_counter()
        while time.perf_counter() < end:
            if is_ordered and i > 0:
                if not released[i].acquire(timeout=0.2):
                    continue
            else:
                due = max(due + period, time.perf_counter())
                time.sleep(max(0.0, due - time.perf_counter()))
            source = time.perf_counter() if i == 0 else captured[i - 1]
            works[i]()
            captured[i] = source
            if i + 1 < n:
                released[i + 1].release()
            elif source is not None:
                ages.append(time.perf_counter() - source)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return ages


def main(words: Sequence[str]) -> None:
    """Print simulation and live figures."""
    print_simulation()
    if "--live" in words:
        run_live()


if __name__ == "__main__":
    main(sys.argv[1:])
