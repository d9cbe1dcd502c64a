"""Room on slow moves, asked for by several threads at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from adversary import load

from paprle.contracts.settings.core import GateSettings
from paprle.session.path_clearance import Ways


def test_threads_that_ask_at_once_get_what_they_would_get_alone():
    robot = load("papras_7dof_2arm")
    ways, rng = Ways(robot, GateSettings()), np.random.default_rng(0)
    postures = rng.uniform(robot.q_min, robot.q_max, (400, len(robot.home)))
    alone = [ways.measure(q) for q in postures]

    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(ways.measure, postures))

    assert together == alone
    assert len(set(alone)) > 100, "postures differ"
