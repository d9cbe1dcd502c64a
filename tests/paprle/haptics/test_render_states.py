"""The table of what a step of feedback does."""

import math

import pytest

from paprle.haptics.render_states import (
    Bounds,
    RenderSituation,
    RenderState,
    find_render_state,
)

STALE_NS = 50_000_000
BOUNDS = Bounds(STALE_NS, overspeed=8.0)
MOVING = RenderSituation(
    is_accepted=True,
    was_silent=False,
    since_step_ns=2_500_000,
    since_sample_ns=2_500_000,
    speed=1.0,
)


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        pytest.param({}, RenderState.RENDERING, id="moves"),
        pytest.param({"speed": 8.0}, RenderState.RENDERING, id="at the speed bound"),
        pytest.param({"speed": 8.001}, RenderState.OVERSPEED, id="too fast"),
        pytest.param({"speed": math.nan}, RenderState.OVERSPEED, id="speed unknown"),
        pytest.param({"since_sample_ns": 0}, RenderState.STANDING, id="same sample"),
        pytest.param({"since_sample_ns": -1}, RenderState.STANDING, id="older sample"),
        pytest.param(
            {"since_step_ns": STALE_NS}, RenderState.RENDERING, id="at the time bound"
        ),
        pytest.param(
            {"since_step_ns": STALE_NS + 1}, RenderState.STALLED, id="stalled"
        ),
        pytest.param({"was_silent": True}, RenderState.FIRST, id="after silence"),
        pytest.param({"is_accepted": False}, RenderState.SILENT, id="not accepted"),
    ],
)
def test_each_fact_alone_decides_the_state(changes, state):
    assert find_render_state(MOVING._replace(**changes), BOUNDS) is state


WORST = {
    "is_accepted": False,
    "was_silent": True,
    "since_step_ns": STALE_NS + 1,
    "since_sample_ns": 0,
    "speed": math.nan,
}
ORDER = list(zip(WORST, RenderState, strict=False))


@pytest.mark.parametrize(
    ("first", "state"),
    [(i, state) for i, (_, state) in enumerate(ORDER)],
    ids=[state.name for _, state in ORDER],
)
def test_of_several_facts_the_first_in_the_table_decides(first, state):
    """Everything from this fact on is as bad as it can be; what is before it is not."""
    changes = {name: WORST[name] for name in list(WORST)[first:]}

    assert find_render_state(MOVING._replace(**changes), BOUNDS) is state
