# ruff: noqa: SLF001 - other laws take the place of the product's torques
"""What a hand feels of a robot over a link, and whether it is given energy by it.

``python -m benchmarks.feel.link [--write-docs]``: the leader and the wall of
``benchmarks.feel.laws``, with a link between them (``tests/support``, ``far_rig``) that
jitters by 15 ms, loses 5 % and reorders 10 %. Beside the product's own, on the same
rig: the same without its observer; a spring to where the robot was (position against
position, 1 N·m/rad, as upstream's Eq. 8); and wave variables (Niemeyer and Slotine
1991) with the product's wall at the robot, b = 0.1 N·m·s/rad, waves of lost packets
taken as zero, and a robot whose own lag is known exactly.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import feel_rig as rig_of
import numpy as np
from far_rig import DOWN, UP, FarRig

from benchmarks.feel import laws

ROOT = Path(__file__).resolve().parents[2]

PAGE = ROOT / "docs/feedback.md"
MARKS = (
    "<!-- figures: python -m benchmarks.feel.link --write-docs -->",
    "<!-- end of the link -->",
)
ROUND_TRIPS = {
    "ours": (0.0, 0.05, 0.1, 0.15, 0.2),
    "without observer": (0.0, 0.1),
    "late spring": (0.05, 0.1, 0.2),
    "waves": (0.05, 0.1, 0.2),
}
BAD = {"jitter": 0.015, "loss": 0.05}
SPRING, WALL, B = 1.0, 2.85, 0.1
FELT = 0.015


class OtherRig(FarRig):
    """The rig with another law."""

    def __init__(self, law, *args, **how):
        super().__init__(*args, **how)
        self.law = "ours" if law == "without observer" else law
        if law == "without observer":
            self.haptics.composer.passivity.control = lambda tau, _dq, _dt: tau
        self._there, self._speed, self._force = np.zeros(1), 0.0, 0.0
        self._waves = [(0.0, -1.0), (0.0, -1.0)]  # that came up, down; and when
        self._sums = [[], []]
        self._asked = 0.0

    def _read_wave(self, way):
        value, when = self._waves[way]
        return value if self.t - when < 1.5 * (UP, DOWN)[way] else 0.0

    def _note_wave(self, way, value):
        self._sums[way].append(value)

    def _take_sum(self, way):
        mean, self._sums[way] = float(np.mean(self._sums[way] or [0.0])), []
        return mean

    def _step_gate(self):
        if self.law != "waves":
            super()._step_gate()
            return
        if self.t >= self._next_capture - 1e-9:
            self._next_capture += UP
            self._send(0, self._take_sum(0))
        for value in self._deliver(0):
            self._waves[0] = value, self.t
        u = self._read_wave(0)
        force = WALL * float(self.servos._free[0] - self.servos.q[0])
        self._asked += rig_of.GATE_PERIOD * (np.sqrt(2.0 / B) * u - force / B)
        self._q_cmd = np.array([self._asked])
        self.servos.step(self._q_cmd)
        self._note_wave(1, u - np.sqrt(2.0 / B) * force)
        if self.t >= self._next_view - 1e-9:
            self._next_view += DOWN
            self._send(1, (0, self._take_sum(1)))

    def _find_view(self):
        if self.law == "late spring":
            return self.servos.q.copy()
        return super()._find_view()

    def _hear(self, captured_ns, view):
        if self.law == "late spring":
            self._there = view
        elif self.law == "waves":
            self._waves[1] = view, self.t
        else:
            super()._hear(captured_ns, view)

    def _render(self):
        super()._render()
        state = self._sample.leader_state
        if self.law == "late spring":
            tau = SPRING * (self._there - state.q)
        elif self.law == "waves":
            self._speed += 0.2 * (float(state.dq[0]) - self._speed)
            back = self._read_wave(1)
            self._note_wave(0, np.sqrt(2.0 * B) * self._speed - back)
            tau = np.array([np.sqrt(2.0 * B) * back - B * self._speed])
        else:
            return
        self.tau = np.clip(tau, -laws.CAP, laws.CAP)
        self._posted.pop()
        self._posted.append(self.tau)


def measure_free(law, round_trip):
    rig = OtherRig(law, laws.wave, "tight", round_trip, **BAD,
                   touch=lambda free, _before, _dt: free)  # fmt: skip
    rig.run(4.0)
    return 1e3 * float(np.sqrt(np.mean(np.square(rig.felt[600:]))))


def measure_press(law, round_trip):
    """Return time from robot contact to 15 mN·m, and torque."""
    rig = OtherRig(law, laws.press(0.3, 0.3), "tight", round_trip, **BAD)
    felt = rig.run(4.0)
    t, tau = felt["t"], -np.array(rig.felt)
    is_met = felt["q_follower"][:, 0] >= laws.WALL - 1e-9
    met = t[is_met][0] if is_met.any() else np.inf
    is_always = tau[(t > 1.5) & (t < met)].max(initial=0.0) > FELT
    is_felt = (t > met) & (tau > FELT)
    when = 1e3 * (t[is_felt][0] - met) if is_felt.any() else np.inf
    return is_always, when, 1e3 * float(tau[-200:].mean())


def measure_energy(law, grip, round_trip):
    """Return the hand's most energy gain, [mJ]."""
    is_let_go = grip == "released"
    motion = laws.press(0.3, 0.4, np.inf if is_let_go else 3.5)
    held = "normal" if is_let_go else grip
    rig = OtherRig(law, motion, held, round_trip, **BAD)
    rig.run(3.5)
    if is_let_go:
        rig.hand = None
    rig.run(1.5)
    return 1e3 * rig.worst


def tap(t):
    return np.array([laws.WALL + 0.25 * np.sin(2.0 * np.pi * 1.5 * t)])


def measure_taps(law, round_trip):
    """Return the same for 5 s of taps."""
    rig = OtherRig(law, tap, "normal", round_trip, **BAD)
    rig.run(5.0)
    return 1e3 * rig.worst


def measure(law, round_trip):
    """Return one row of the table."""
    free = measure_free(law, round_trip)
    is_always, when, pressed = measure_press(law, round_trip)
    hands = (*laws.HANDS, "released")
    given = [measure_energy(law, grip, round_trip) for grip in hands]
    said = f"{when:.0f}" if np.isfinite(when) else "not"
    said = "always" if is_always else said
    energy = ", ".join(f"{one:.1f}" for one in given)
    return (
        f"| {law} | {1e3 * round_trip:.0f} | {free:.1f} | {said} | {pressed:.0f} | "
        f"{energy} | {measure_taps(law, round_trip):.1f} |"
    )


def main():
    """Print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write-docs", action="store_true")
    lines = [
        "| law | round trip, ms | free motion, 1 Hz: torque rms, mN·m | 15 mN·m after "
        "the robot's contact, ms | pressed by 9 cm, mN·m | most energy given, mJ: "
        "tight, normal, loose, released | tapping at 1.5 Hz |",
        "|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines))
    args = parser.parse_args()
    for law, round_trips in ROUND_TRIPS.items():
        for round_trip in round_trips:
            lines.append(measure(law, round_trip))
            print(lines[-1], flush=True)
    if args.write_docs:
        text = PAGE.read_text()
        begin, end = text.index(MARKS[0]) + len(MARKS[0]), None
        end = text.index(MARKS[1], begin)
        PAGE.write_text(text[:begin] + "\n" + "\n".join(lines) + "\n" + text[end:])


if __name__ == "__main__":
    main()
