"""Commands at 1 kHz are inside the limits, whatever the goals and the packets do.

Judged by differences of what a unit would take, against the oracle's own table.
"""

import numpy as np
import pytest
from franka_rig import DT, ORACLES

from paprle.hardware.franka.models import MODELS
from paprle.hardware.franka.stream import Stream

STATES = {"fr3": np.float32, "panda": np.float64}  # spec: numbers of their states
HOME = np.array([0, -0.7854, 0, -2.3562, 0, 1.5708, 0.7854])


class Unit:
    """Takes commands, bridges lost ones at constant acceleration, and judges."""

    def __init__(self, q, model="fr3"):
        self._oracle, self._type = ORACLES[model], STATES[model]
        self.q, self.dq, self.ddq = q.copy(), np.zeros(7), np.zeros(7)
        self.worst = np.zeros(4)  # shares of q, dq, ddq, dddq

    def lose(self):
        self.dq = self.dq + DT * self.ddq
        self.q = self.q + DT * self.dq

    def take(self, q):
        dq = (q - self.q) / DT
        ddq = (dq - self.dq) / DT
        dddq = (ddq - self.ddq) / DT
        oracle = self._oracle
        low, high = oracle.table.T[:2]
        speed = np.maximum(np.abs(dq) - 1e-9, 0) / oracle.find_room(self.q, dq)
        place = np.abs(q - 0.5 * (low + high)) / (0.5 * (high - low))
        shares = [place, speed, np.abs(ddq) / oracle.a, np.abs(dddq) / oracle.j]
        self.worst = np.maximum(self.worst, [x.max() for x in shares])
        self.q, self.dq, self.ddq = q.copy(), dq, ddq

    def report(self):
        return [x.astype(self._type).astype(float) for x in (self.q, self.dq, self.ddq)]


def swing(t, joint=0, size=1.0, w=2.0):
    """A gate's goal: a swing that begins softly, 4.5 rad/s² at most."""
    soft = np.clip(t, 0, 1.0)
    q = HOME.copy()
    soft = soft**3 * (10 - 15 * soft + 6 * soft**2)
    q[joint] += size * 4.5 / w**2 * soft * np.sin(w * t)
    return q


@pytest.fixture(params=MODELS)
def model(request):
    return request.param


def make_stream(model, rate=200.0):
    return Stream(HOME.copy(), rate, MODELS[model].limits)


def drive(model, goals, rate, seconds, *, jitter=0.0, lost=0.0, silent_from=None):
    """Drive a unit by goals(t); returns it, the stream, and each command."""
    random = np.random.default_rng(0)
    stream, unit, rows = make_stream(model, rate), Unit(HOME, model), []
    due, k, n = 0.0, 0, 1
    for cycle in range(round(seconds / DT)):
        t = cycle * DT
        while due <= t and (silent_from is None or t < silent_from):
            stream.take(goals(k / rate))
            k += 1
            due = k / rate + random.exponential(1e-9 + jitter)
        if random.random() < lost:
            unit.lose()
            n += 1
            continue
        stream.note_unit(n, *unit.report())
        n = 1
        unit.take(stream.step().copy())
        rows.append(unit.q)
    return unit, stream, np.array(rows)


@pytest.mark.parametrize(
    ("rate", "jitter", "lost"),
    [
        (100.0, 0.0, 0.0),
        (200.0, 0.0, 0.0),
        (200.0, 0.003, 0.0),
        (200.0, 0.003, 0.03),
        (333.0, 0.003, 0.03),
        (500.0, 0.0, 0.0),
        (500.0, 0.003, 0.1),
    ],
)
def test_every_command_is_inside_the_limits(model, rate, jitter, lost):
    unit, _, _ = drive(model, swing, rate, 2.5, jitter=jitter, lost=lost)

    assert (unit.worst <= 1.0 + 1e-6).all(), unit.worst


def test_a_punctual_gate_is_followed_with_a_constant_delay(model):
    _, _, rows = drive(model, lambda t: swing(t, size=0.5), 200.0, 4.0)

    t = DT * np.arange(len(rows))
    wanted = np.array([swing(max(x - 0.017, 0.0), size=0.5) for x in t])
    error = np.abs(rows - wanted)[2000:].max()
    assert error < 2.5e-3, f"{error:.5f} rad, 2 ms at 1.1 rad/s"


def test_goals_that_jump_are_approached_inside_the_limits(model):
    random = np.random.default_rng(3)
    aims = HOME + random.uniform(-0.6, 0.6, (20, 7)) * [1, 1, 1, 1, 1, 0.9, 1]

    unit, _, rows = drive(model, lambda t: aims[int(2 * t) % 20], 200.0, 5.0)

    assert (unit.worst <= 1.0 + 1e-6).all(), unit.worst
    assert np.ptp(rows[:, 0]) > 0.1


@pytest.mark.parametrize("end", [0, 1], ids=["lower", "upper"])
def test_ends_are_reached_by_the_speed_that_is_allowed_there(model, end):
    aim = ORACLES[model].table[:, end].copy()

    unit, _, rows = drive(model, lambda _: aim, 200.0, 6.0)

    assert (unit.worst <= 1.0 + 1e-6).all(), unit.worst
    assert rows[-1] == pytest.approx(aim, abs=0.02)


def test_silence_brakes_where_it_is_and_holds(model):
    unit, stream, rows = drive(model, swing, 200.0, 4.0, silent_from=3.1)

    moving = np.abs(np.diff(rows[:, 0])) / DT
    assert moving[3050:3100].max() > 2.0
    assert (moving[3100 + 450 :] < 1e-3).all(), "at rest within 0.45 s"
    assert stream.is_resting
    assert stream.end == pytest.approx(unit.q, abs=1e-4)
    way = np.sign(rows[3100, 0] - rows[3090, 0]) * np.diff(rows[3100:, 0])
    assert way.min() > -1e-5, "it does not come back"
    assert (unit.worst <= 1.0 + 1e-6).all(), unit.worst


def test_its_rest_is_foretold(model):
    _, stream, rows = drive(model, swing, 200.0, 3.1)
    foretold = stream.end.copy()
    unit = Unit(rows[-1], model)
    unit.dq, unit.ddq = stream.dq, stream.ddq

    stream.halt()
    for _ in range(1000):
        stream.note_unit(1, *unit.report())
        unit.take(stream.step().copy())

    assert unit.q == pytest.approx(foretold, abs=0.05)


def test_goals_that_pile_up_are_left_out(model):
    stream = make_stream(model)
    for k in range(100):
        stream.take(HOME + 1e-4 * k)

    assert len(stream._goals) == 8
