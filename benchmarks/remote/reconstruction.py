"""Motion from few, late and lost samples.

``python -m benchmarks.remote.reconstruction [FOLDER [MOTION …]]``: recordings (TUM,
ARBot, Vision Pro) and made motions drive a simulated arm, by all samples at 200 Hz, and
by 30, 60 and 72 Hz, 20 ± 10 ms late: as staircases, reconstructed, and with 5 % loss
and reordering. Prints the rms acceleration of q_cmd over the whole motion's, added and
stated delay, releases, and the target's largest velocity step in shares of A h, before
any bound.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from paprle.config import resolve
from paprle.contracts.kit.sampling import Sampling
from paprle.contracts.types import Actions, LeaderInfo, LeaderSample, LimbCommand, Vec
from paprle.hosts.plan import make_controller, make_follower, make_robot
from paprle.hosts.virtual import VirtualClock
from paprle.ipc.records import make_layout, pack_sample
from paprle.leaders.offline.config import OfflineConfig
from paprle.leaders.offline.motion import load_motion
from paprle.leaders.offline.track import Rows, RowTrack
from paprle.retargeting.retarget import Retargeting
from paprle.robot import RobotModel
from paprle.session.core import Core
from paprle.session.motion import DesiredMotion

RATES = (30, 60, 72)  # [Hz]
JITTER, TRANSPORT = 0.010, 0.020  # [s]
LOSS = 0.05
TICK_NS = 5_000_000
LENGTH = 20.0  # [s] of each motion
REACH = 0.2  # [m/rad] makes a hand of angles that a person moved
FOLLOWER = "ur5e"
INNER = slice(300, -100)  # ticks that are judged: without begin and end

Hand = Callable[[float], pin.SE3]


class Stream(NamedTuple):
    """Timing of a motion's samples.

    Attributes:
        rate: Of captures, [Hz].
        jitter: Of arrivals, both ways, [s].
        loss: Share.
        lost: Also lost in a row each second.
        samples: ``retarget.samples``.
    """

    rate: float = 200.0
    jitter: float = 0.0
    loss: float = 0.0
    lost: int = 0
    samples: str = "auto"

    @property
    def info(self) -> LeaderInfo:
        """Its leader."""
        policy = "ordered" if self.samples == "ordered" else "latest"
        return LeaderInfo(
            limbs=("hand",), is_human=False, rate=self.rate, sampling=Sampling(policy)
        )

    def list_arrivals(self, length: float) -> list[tuple[float, float]]:
        """Return arrival and capture times, [s]."""
        rng = np.random.default_rng(1)
        n = math.ceil(length * self.rate)
        made = np.arange(n) / self.rate
        late = TRANSPORT + rng.uniform(-self.jitter, self.jitter, n)
        kept = rng.random(n) >= self.loss
        if self.lost:
            kept &= np.arange(n) % round(self.rate) >= self.lost
        kept[: round(self.rate)] = True  # so that it starts
        return sorted(zip((made + late)[kept], made[kept], strict=True))


class Run(NamedTuple):
    """Result of a motion.

    Attributes:
        q_cmd: (k, n), [rad].
        stated: Delay by the session, [s].
        step: Largest target velocity step per tick, in shares of A h.
    """

    q_cmd: np.ndarray
    n_let_go: int
    stated: float
    step: float


def drive(hand: Hand, length: float, stream: Stream) -> Run:
    """Drive the arm in virtual time."""
    resolved = resolve(
        ["leader=autopilot", f"follower={FOLLOWER}", "env=kinematic", "env.rate=200"]
    )
    mapped = replace(resolved.retarget, samples=stream.samples, scale=0.5)
    robot, clock, info = make_robot(resolved), VirtualClock(), stream.info
    layout = make_layout(robot.info, info)
    retargeting = Retargeting(robot, info, mapped, ik_settings=resolved.ik)
    core = Core(
        resolved.session,
        info,
        layout,
        DesiredMotion(robot, retargeting, resolved.gate, layout),
        session_id=1,
        is_interactive=False,
    )
    follower = make_follower(resolved, robot, clock)
    gate = make_controller(resolved, robot, follower, follower.open(), layout)
    status, record, arrivals = gate.step(None, clock()), None, []
    sent, asked, events, begun_ns, seq, k, made = [], [], [], 0, 0, 0, 0.0
    arrivals = stream.list_arrivals(length + 2.0)
    while not sent or len(sent) * TICK_NS * 1e-9 < length:
        clock.now_ns += TICK_NS
        t = (clock.now_ns - 10**9) * 1e-9
        news = False
        while k < len(arrivals) and arrivals[k][0] <= t + 1e-9:
            is_late = arrivals[k][1] < made and stream.samples != "ordered"
            made, k, news = (made if is_late else arrivals[k][1]), k + 1, True
        if news:
            seq += 1
            shown = max(made - 1.0, 0.0)  # it stands for a second
            sample = LeaderSample(
                stamp_ns=round(made * 1e9) + 10**9,
                seq=seq,
                limbs={"hand": LimbCommand(T_leader_base_leader_eef=hand(shown))},
                start=True,
            )
            record = pack_sample(layout, sample)
        if record is not None:
            record["alive_ns"] = clock.now_ns  # as the leader's process says it
        output = core.step(clock.now_ns, [record], status, Actions())
        events += output.events
        status = gate.step(output.setpoint, clock.now_ns)
        if core.state.name == "ENGAGED" or begun_ns:
            begun_ns = begun_ns or clock.now_ns
            sent.append(status["q_cmd"].copy())
            asked.append(output.tick["target"][0].copy())
    q = np.array(sent)
    told = [e["delay"] for e in events if e["event"] == "reconstruction"]
    states = [e for e in events if e.get("after") == "CLUTCHED"]
    return Run(q, len(states), told[0] if told else 0.0, find_step(robot, asked, q))


def find_step(robot: RobotModel, asked: Sequence[Vec], q: Vec) -> float:
    """Return the target's largest velocity step, in shares of A h.

    ``asked`` are targets, (k, 7), ``q`` joints nearby, (k, n), [rad]; ends do not
    count.
    """
    (limb,), h = robot.limbs.values(), TICK_NS * 1e-9
    T = [pin.XYZQUATToSE3(row) for row in asked[INNER]]
    V = np.array([pin.log6(a.actInv(b)).vector for a, b in pairwise(T)]) / h
    J = [limb.jacobian(limb.take(row)) for row in q[INNER][1:-1]]
    steps = np.linalg.solve(J, np.diff(V, axis=0)[..., None])[..., 0]
    return float((np.abs(steps) / (robot.info.ddq_max[limb.indices] * h)).max())


def find_roughness(q: np.ndarray) -> float:
    """Return the rms acceleration, [rad/s²]."""
    return float(np.sqrt((np.diff(q[INNER], 2, axis=0) ** 2).mean()))


def find_delay(q: np.ndarray, whole: np.ndarray) -> float:
    """Return the delay without transport, [s]."""
    n, late = min(len(q), len(whole)), np.arange(0, 24)
    inner = slice(300, n - 100)
    errors = [((q[inner] - whole[300 - d : n - 100 - d]) ** 2).mean() for d in late]
    best = int(np.argmin(errors))
    if 0 < best < len(errors) - 1:  # the vertex of the parabola through three
        a, b, c = errors[best - 1 : best + 2]
        return (best + 0.5 * (a - c) / (a - 2.0 * b + c)) * TICK_NS * 1e-9
    return best * TICK_NS * 1e-9


def list_motions(
    folder: Path | None, longest: float = LENGTH
) -> dict[str, tuple[Hand, float]]:
    """Return hands by name, with lengths, [s]."""
    motions: dict[str, tuple[Hand, float]] = {
        "slow curve": (_curve(0.6, 0.10), LENGTH),
        "quick curve": (_curve(1.6, 0.05), LENGTH),
        "reach and stop": (_reach, LENGTH),
        "slow wide curve": (_curve(0.25, 0.2), LENGTH),
    }
    if folder is None:
        return motions
    for name in ("tum_fr1_xyz.txt", "arbot_rectangle_H1.csv"):
        if (folder / name).is_file():
            config = OfflineConfig(path=str(folder / name), allow_loss=True)
            (track,) = load_motion(config).tracks.values()
            motions[name] = _play(track, longest)
    if (path := folder / "avp_franka_ep0.npz").is_file():
        angles = np.load(path)["qpos"][:, :3]  # its hand stands still, its arm does not
        t = 0.002 * np.arange(len(angles))
        p = REACH * (angles - angles[0])
        quat = np.tile([0.0, 0.0, 0.0, 1.0], (len(t), 1))
        breaks = np.zeros(len(t) - 1, dtype=np.bool_)
        motions[path.name] = _play(
            RowTrack(Rows(t=t, p=p, quat_xyzw=quat), breaks), longest
        )
    return motions


def _play(track: RowTrack, longest: float) -> tuple[Hand, float]:
    end = float(track.rows.t[-1])
    return (
        lambda t: track.at(min(t, end)).T_leader_base_leader_eef,
        min(longest, end),
    )


def _curve(frequency: float, size: float) -> Hand:
    w = math.tau * frequency

    def hand(t: float) -> pin.SE3:
        s = size * min(t, 1.0) ** 2
        p = s * np.array(
            [math.sin(w * t), math.cos(0.7 * w * t), math.sin(0.4 * w * t)]
        )
        turn = 3.0 * s * np.array([0.0, math.sin(0.5 * w * t), math.sin(0.3 * w * t)])
        return pin.SE3(pin.exp3(turn), p)

    return hand


def _reach(t: float) -> pin.SE3:
    part = t % 2.0
    u = min(part, 1.0)
    s = u**3 * (10.0 - 15.0 * u + 6.0 * u * u)
    s = s if t % 4.0 < 2.0 else 1.0 - s
    return pin.SE3(np.eye(3), np.array([0.1 * s, 0.15 * s, -0.05 * s]))


def main(words: list[str]) -> None:
    """Print motions, rates and ways."""
    head = "acceleration", "delay", "stated", "let go", "step"
    print(f"{'motion':<24}{'samples':<26}" + "".join(f"{text:>13}" for text in head))
    motions = list_motions(Path(words[0]) if words else None)
    for name in words[1:] or motions:
        hand, length = motions[name]
        whole = drive(hand, length, Stream())
        rough = find_roughness(whole.q_cmd)
        for rate in RATES:
            plain = Stream(rate, JITTER)
            for what, stream in {
                "staircase": plain._replace(samples="off"),
                "reconstructed": plain,
                "5 % lost, latest": plain._replace(loss=LOSS),
                "5 % lost, ordered": plain._replace(loss=LOSS, samples="ordered"),
                "3 in a row": plain._replace(lost=3),
            }.items():
                run = drive(hand, length, stream)
                late = find_delay(run.q_cmd, whole.q_cmd)
                line = f"{find_roughness(run.q_cmd) / rough:13.2f}"
                line += f"{late * 1e3:10.0f} ms{run.stated * 1e3:10.0f} ms"
                line += f"{run.n_let_go:13d}{run.step:13.2f}"
                print(f"{name:<24}{rate:3d} Hz {what:<19}{line}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
