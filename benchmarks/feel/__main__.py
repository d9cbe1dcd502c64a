# ruff: noqa: SLF001 - the caps would hide what diverges
"""What a hand would feel: figures and pictures of ``docs/feedback.md``.

``python -m benchmarks.feel [--write-docs] [--json FILE]``. In virtual time, with the
leader, the follower and what it touches of ``feel_rig`` (tests/support/sessions), and
the product's own ``Haptics``; but for the time of a step, figures are the same
everywhere.

The joint is 0.3 m from the hand: 1 Hz over 20 cm is 0.33 rad. The follower has 25 ms of
dead time and 45 ms of lag where 20 and 40 ms are configured.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import feel_rig as rig_of
import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt

from benchmarks.feel.laws import measure_all, write_rows
from paprle.config import resolve
from paprle.contracts.types import (
    GateState,
    JointState,
    LeaderSample,
    SessionState,
    readonly,
)
from paprle.haptics.haptics import SessionNotice, make_haptics
from paprle.haptics.stability.derating import STEADY
from paprle.hosts.factories import make_leader
from paprle.hosts.plan import make_robot
from paprle.ipc.records import make_layout
from paprle.retargeting.state import Anchors

ROOT = Path(__file__).resolve().parents[2]
PAGE, PICTURE = ROOT / "docs/feedback.md", ROOT / "docs/feel.png"
MARKS = "<!-- figures: python -m benchmarks.feel --write-docs -->", "<!-- end -->"
ARM = 0.3
RIG = {"dead_time": 0.02, "time_constant": 0.04, "damping": 0.1}
K = {"k_gate": 0.3, "k_follower": 0.3}
SQUEEZE = (1.0, 2.0, 3.5), (0.0, 0.6, 0.95)
"""When a hand has closed how far: quicker than the follower, then on, slowly."""


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


def feel(motion, duration, touch=None, options=None, **law):
    settings = rig_of.make_settings(RIG, tracking={**K, **law}, options=options or {})
    rig = rig_of.FeelRig(
        settings,
        hand=rig_of.Hand(motion, 40.0, 1.0),
        servos=rig_of.Servos([0.0], 0.025, 0.045, touch),
        delay=0.01,
    )
    return rig.run(duration)


def both(motion, duration, touch=None):
    plain = feel(motion, duration, touch, is_compensated=False)
    return plain, feel(motion, duration, touch)


def measure_free():
    plain, free = both(lambda t: np.array([0.1 / ARM * np.sin(2 * np.pi * t)]), 8.0)
    late = plain["t"] > 3.0
    a, b = rms(plain["tau"][late]), rms(free["tau"][late])
    return plain, free, {"free_plain": a, "free": b, "free_ratio": b / a}


def press(t):
    return np.array([min(0.3 * max(0.0, t - 1.0), 0.6)])


def slide(t):
    return np.array([0.005 / ARM * max(0.0, t - 1.0)])


def measure_contacts(minute):
    found, shown = {}, None
    for name, motion, touch in (
        ("press", press, rig_of.wall_at(0.2)),
        ("slide", slide, rig_of.honey(1.0)),
        ("soft", press, rig_of.wall_at(0.2, servo=1.0, wall=1.0)),
    ):
        plain, felt = both(motion, minute if name == "press" else 12.0, touch)
        if name == "press":
            shown = plain, felt
            found |= {**time_contact(felt), "press": keep_share(felt)}
            continue
        late = plain["t"] > 4.0
        sums = [np.abs(run["tau"][late]).mean() for run in (plain, felt)]
        found[name] = float(sums[1] / sums[0])
    return shown, found


def keep_share(felt):
    """Return a press's torque share at its end, motors warm."""
    t, tau = felt["t"], np.abs(felt["tau"][:, 0])
    return float(tau[t > t[-1] - 5.0].mean() / tau[np.abs(t - 4.0) < 0.5].mean())


def time_contact(felt):
    """Return contact's time and slope, felt as three ripples."""
    at = felt["t"][felt["q_follower"][:, 0] >= 0.2 - 1e-9][0]
    tau = -felt["tau"][:, 0]
    before = tau[(felt["t"] > at - 0.3) & (felt["t"] < at)]
    ripple = float(before.std())
    seen = felt["t"][(felt["t"] > at) & (tau > before.mean() + 3 * ripple)][0]
    rise = tau[(felt["t"] >= seen) & (felt["t"] < at + 0.5)]
    return {
        "delay_ms": 1e3 * (seen - at),
        "ripple_N": ripple / ARM,
        "rise_back_mNm": 1e3 * max(0.0, -float(np.diff(rise).min())),
        "largest_Nm": float(tau.max()),
    }


def measure_transparency():
    """Return rendered over true stiffness at lasting caps."""
    found = []
    for f in (0.1, 0.2, 0.5, 1.0, 2.0, 5.0):

        def motion(t, f=f):
            return np.array([min(t, 1.0) * (0.4 + 0.1 * np.sin(2 * np.pi * f * t))])

        felt = feel(
            motion, 3.0 + 3.0 / f, rig_of.wall_at(0.0), {"torque_share": STEADY}
        )
        late = felt["t"] > 3.0
        wave = np.exp(-2j * np.pi * f * felt["t"][late])
        depth, tau = felt["q"][late, 0] @ wave, felt["tau"][late, 0] @ wave
        found.append((f, *polar(-tau / depth / K["k_follower"])))
    return found


def polar(ratio):
    return float(np.abs(ratio)), float(np.degrees(np.angle(ratio)))


def measure_gain_scale():
    """Return a rig's weakest and strongest joint over defaults."""
    found = {}
    for name, words in (("plain", ("feedback.laws.damping=null",)), ("damped", ())):
        triple = ("leader=puppeteer_papras_7dof", "follower=papras_7dof")
        resolved = resolve((*triple, "env=kinematic", *words))
        robot, info = make_robot(resolved), make_leader(resolved).info
        layout = make_layout(robot.info, info)
        haptics = make_haptics(
            resolved.feedback, robot, info, resolved.retarget, layout
        )
        found[name] = float(haptics.gain_scale.min()), float(haptics.gain_scale.max())
        held = haptics.held_scale
        found["held"] = float(held.min()), float(held.max())
    return found


def measure_gripper():
    """Measure a trigger that closes on a block."""
    args = ("leader=puppeteer_papras_7dof", "follower=papras_7dof", "env=kinematic")
    resolved = resolve(args)
    robot, leader = make_robot(resolved), make_leader(resolved).info
    theirs, own = robot.info.limbs[0].gripper, leader.arms["arm"].gripper
    at = robot.joint_names.index(theirs.joint)

    def command(q):
        q_robot = robot.home.copy()
        opening = (q[7] - own.closed) / (own.open - own.closed)
        q_robot[at] = theirs.closed + opening * (theirs.open - theirs.closed)
        return q_robot

    def motion(t):
        q = np.zeros(8)
        closed = np.interp(t, SQUEEZE[0], SQUEEZE[1])
        q[7] = own.open - closed * (own.open - own.closed)
        return q

    middle = (theirs.open + theirs.closed) / 2
    sign = np.sign(theirs.closed - theirs.open)

    def block(free, before, dt):
        step = np.clip(free - before, -dt * 0.5, dt * 0.5)  # a gripper of 0.5 rad/s
        q = before + step
        if sign * (q[at] - middle) > 0:
            q[at] = middle
        return q

    settings = rig_of.make_settings(
        {**RIG, "viscous": {"arm/gripper": 0.1}}, gripper={"stiffness": 0.3}
    )
    q_0 = motion(0.0)
    rig = rig_of.FeelRig(
        settings,
        robot,
        leader,
        motors=rig_of.Motors(q_0, viscous=0.1),
        hand=rig_of.Hand(motion, 10.0, 0.3),
        servos=rig_of.Servos(command(q_0), touch=block),
        command=command,
        delay=0.01,
    )
    felt = rig.run(4.5)
    share = (felt["q"][:, 7] - own.closed) / (own.open - own.closed)
    span = theirs.open - theirs.closed
    there = (felt["q_follower"][:, at] - theirs.closed) / span
    return felt["t"], share, there, felt["tau"][:, 7]


def judge_gripper(t, _own, theirs, tau):
    """Return three stages' torques, [mN·m], and contact, [s]."""
    contact = float(t[theirs <= 0.5 + 1e-6][0])
    at = {"mismatch": contact - 0.05, "contact": contact + 0.05, "squeeze": 3.6}
    found = {name: 1e3 * float(np.interp(when, t, tau)) for name, when in at.items()}
    return found | {"contact_s": contact}


def measure_map():
    """Measure a released leader's rest by delay and bound."""
    delays, ratios = (0.0, 0.02, 0.05, 0.1), (0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
    found = np.zeros((len(ratios), len(delays)))
    for j, delay in enumerate(delays):
        late = 2 * (0.00125 + delay + 0.01)
        for i, ratio in enumerate(ratios):
            found[i, j] = let_go(0.99 * 0.05 / late, ratio / 0.99, delay)
    return delays, ratios, found


def let_go(k_gate, weight, delay):
    """Return the last half second's swing over the first's."""
    settings = rig_of.make_settings(
        {"loop_delay": delay + 0.01, "damping": 0.05},
        tracking={"k_gate": k_gate, "k_follower": 0.0},
    )
    rig = rig_of.FeelRig(
        settings,
        motors=rig_of.Motors([0.0], viscous=0.05),
        hand=rig_of.Hand(lambda t: np.array([min(0.4, t)]), 60.0, 1.0),
        command=np.zeros_like,
        bus_delay=delay + 0.01,
    )
    composer, laws = rig.haptics.composer, rig.haptics._laws
    composer.caps, composer._rise = np.array([50.0]), np.array([1e5])
    composer.passivity.control = lambda tau, _dq, _dt: tau
    rig.haptics._laws = tuple(law._replace(weight=weight) for law in laws)
    rig.run(1.0)
    rig.hand = None
    swing = rig.run(3.0)["q"][400:, 0]
    return float(np.ptp(swing[-200:]) / np.ptp(swing[:200]))


def time_step(follower, leader):
    """Return a default step's median CPU time, [µs]."""
    resolved = resolve((f"leader={leader}", f"follower={follower}", "env=kinematic"))
    robot, info = make_robot(resolved), make_leader(resolved).info
    layout = make_layout(robot.info, info)
    haptics = make_haptics(resolved.feedback, robot, info, resolved.retarget, layout)
    names, m = haptics.joints.names, len(robot.limbs)
    eyes, nil = np.tile(np.eye(3), (m, 1, 1)), np.zeros((m, 3))
    anchors = Anchors(eyes, eyes, nil, nil, np.ones(len(eyes)))
    status, times, now = np.zeros((), layout.status), [], 10**9
    status["state"], status["tau_meas"] = GateState.ENGAGED, np.nan
    for k in range(1500):
        now += 2_500_000
        status["k"], status["stamp_ns"], status["meas_ns"] = k, now, now
        status["q_cmd"] = status["q_meas"] = robot.home + 0.1 * np.sin(now * 1e-9)
        q = readonly(0.1 * np.sin(now * 1e-9) * np.ones(len(names)))
        state = JointState(joint_names=names, q=q, dq=q)
        sample = LeaderSample(stamp_ns=now, seq=k, limbs={}, leader_state=state)
        view = SessionNotice(now, SessionState.ENGAGED, True, anchors)
        start = time.thread_time()
        haptics.step(now, sample, view, status)
        times.append(time.thread_time() - start)
    return 1e6 * float(np.median(times))


def draw(free, contact, transparency, gripper, stability):
    figure, axes = plt.subplots(2, 3, figsize=(13, 7), layout="constrained")
    for name, run, colour in (("lag left in", free[0], "0.6"), ("felt", free[1], "C0")):
        last = run["t"] > 6.0
        axes[0, 0].plot(run["t"][last], run["tau"][last], colour, label=name)
    axes[0, 0].set(title="free motion, 1 Hz over 20 cm", ylabel="torque [N·m]")
    for name, run, style in (
        ("lag left in", contact[0], "0.6"),
        ("felt", contact[1], "C3--"),
    ):
        first = run["t"] < 4.0
        axes[0, 1].plot(run["t"][first], run["tau"][first], style, label=name)
    axes[0, 1].set(title="a press on a wall", ylabel="torque [N·m]")
    f, gain, phase = np.array(transparency).T
    axes[0, 2].semilogx(f, gain, "o-", label="rendered / true stiffness")
    axes[0, 2].semilogx(f, phase / 90.0, "s:", label="phase / 90°")
    axes[0, 2].set(title="transparency at a stiff wall", xlabel="frequency [Hz]")
    t, own, theirs, tau = gripper
    axes[1, 0].plot(t, own, label="the hand's opening")
    axes[1, 0].plot(t, theirs, label="the follower's")
    axes[1, 0].set(title="a gripper on a block", xlabel="time [s]")
    axes[1, 1].plot(t, tau, "C3", label="torque [N·m]")
    axes[1, 1].set(title="its torque, in three stages", xlabel="time [s]")
    contact = judge_gripper(*gripper)["contact_s"]
    stages = (1.0, contact, "mismatch"), (contact, 3.5, "contact, squeeze")
    for colour, (begin, end, name) in zip(("C0", "C1"), stages, strict=True):
        for axis in axes[1, :2]:
            axis.axvspan(begin, end, color=colour, alpha=0.12, lw=0)
        axes[1, 1].text(begin + 0.05, 0.0, name, fontsize=8, va="bottom")
    delays, ratios, swing = stability
    shown = axes[1, 2].imshow(
        np.log10(np.maximum(swing, 1e-3)), origin="lower", aspect="auto",
        cmap="RdYlGn_r", vmin=-2, vmax=2,
    )  # fmt: skip
    figure.colorbar(shown, ax=axes[1, 2], label="log₁₀ of what a swing grows")
    axes[1, 2].set_xticks(range(len(delays)), [f"{1e3 * d:.0f}" for d in delays])
    axes[1, 2].set_yticks(range(len(ratios)), [f"{r:g}" for r in ratios])
    axes[1, 2].set(title="let go, no controller", xlabel="delay [ms]",
                   ylabel="stiffness over the bound")  # fmt: skip
    for axis in axes.flat[:5]:
        axis.legend(fontsize=8)
        axis.grid(alpha=0.3)
    figure.savefig(PICTURE, dpi=70)


def write_table(found, transparency, laws):
    shown = ", ".join(f"{gain:.2f} ({phase:.0f}°)" for _, gain, phase in transparency)
    stages, scale = found["gripper"], found["gain_scale"]
    step = 1e3 * K["k_gate"] * rig_of.ENCODER / ARM
    rows = [
        (
            "free motion, lag left in: torque rms",
            f"{1e3 * found['free_plain']:.1f} mN·m",
        ),
        ("the same, compensated", f"{1e3 * found['free']:.1f} mN·m"),
        ("which is a share of", f"{found['free_ratio']:.0%}"),
        ("a wall pressed for a minute: share felt at its end", f"{found['press']:.0%}"),
        ("a slide of 5 mm/s through something viscous", f"{found['slide']:.0%}"),
        ("a soft servo against a soft wall", f"{found['soft']:.0%}"),
        ("contact until it exceeds three ripples", f"{found['delay_ms']:.0f} ms"),
        ("ripple in free motion, at the hand", f"{1e3 * found['ripple_N']:.1f} mN"),
        ("one step of an encoder, at the hand", f"{step:.1f} mN"),
        ("the largest step back while it rises", f"{found['rise_back_mNm']:.1f} mN·m"),
        ("rendered over true stiffness at 0.1, 0.2, 0.5, 1, 2, 5 Hz", shown),
        (
            "a gripper quicker than its follower, at contact, squeezed",
            f"{stages['mismatch']:.0f}, {stages['contact']:.0f}, "
            f"{stages['squeeze']:.0f} mN·m",
        ),
        (
            "`puppeteer_papras_7dof` as it comes: weakest to strongest joint",
            f"{scale['damped'][0]:.0%} to {scale['damped'][1]:.0%}, "
            f"without `damping` {scale['plain'][0]:.0%} to {scale['plain'][1]:.0%}; "
            f"`contact` {scale['held'][0]:.0%} to {scale['held'][1]:.0%}",
        ),
        ("a step of 2 × 8 joints, joint by joint", f"{found['step_joints_us']:.0f} µs"),
        ("a step of 1 × 7 joints, by its pose", f"{found['step_pose_us']:.0f} µs"),
    ]
    lines = [*laws, "", "| | |", "|---|---|", *(f"| {a} | {b} |" for a, b in rows)]
    page = PAGE.read_text()
    head, tail = page.split(MARKS[0])[0], page.split(MARKS[1])[1]
    PAGE.write_text(f"{head}{MARKS[0]}\n" + "\n".join(lines) + f"\n{MARKS[1]}{tail}")


def main():
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.feel", description=__doc__
    )
    parser.add_argument("--write-docs", action="store_true")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    laws = write_rows(measure_all())
    print("\n".join(laws), flush=True)
    plain, free, found = measure_free()
    contact, more = measure_contacts(62.0)
    transparency, gripper = measure_transparency(), measure_gripper()
    found |= more | {
        "transparency": transparency,
        "gripper": judge_gripper(*gripper),
        "gain_scale": measure_gain_scale(),
        "step_joints_us": time_step("papras_7dof_2arm", "puppeteer_papras_7dof_2arm"),
        "step_pose_us": time_step("papras_7dof", "puppeteer_ur5"),
    }
    print(json.dumps(found, indent=2))
    if args.json:
        args.json.write_text(json.dumps(found))
    if args.write_docs:
        draw((plain, free), contact, transparency, gripper, measure_map())
        write_table(found, transparency, laws)


if __name__ == "__main__":
    main()
