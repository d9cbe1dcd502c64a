"""Objects that an operator places: in the tick, in views and headers, and refused."""

import numpy as np
import pytest

from paprle.config import resolve
from paprle.contracts.errors import ConfigError
from paprle.contracts.types import LeaderInfo
from paprle.hosts.plan import make_plan
from paprle.hosts.views.view import make_view
from paprle.ipc.records import make_layout
from paprle.recording.header import layout_from_header, make_recording_header
from paprle.testing.robots import make_robot_info

ROBOT = make_robot_info(has_gripper=True, n_limbs=1)
HAND = LeaderInfo(limbs=("hand",))
CUP = [0.4, 0.1, 0.2, 0.0, 0.0, 0.0, 1.0]
WORDS = ("leader=keyboard", "follower=piper", "env=mujoco")


def test_a_view_has_what_was_placed_beside_what_is_simulated():
    layout = make_layout(ROBOT, HAND, ("block",), ("cup", "bin"))
    tick, status = np.zeros((), layout.tick), np.zeros((), layout.status)
    status["objects"], tick["placed"] = [[0.0] * 6 + [1.0]], [CUP, [np.nan] * 7]
    view = make_view(layout, tick, status, 1)

    assert set(view.objects) == {"block", "cup"}
    assert view.objects["cup"].tolist() == CUP


def test_a_recording_knows_the_rows_of_its_ticks():
    plan = make_plan(resolve([*WORDS, "session.objects=[cup, bin]"]))
    header = make_recording_header(
        config=plan.resolved.to_dict(),
        names=dict.fromkeys(("leader", "follower", "env"), "any"),
        robot=plan.robot.info,
        leader=plan.layout.leader,
        gate_period=0.005,
        objects=plan.layout.objects,
    )

    assert plan.layout.placed == ("cup", "bin")
    assert layout_from_header(header).tick == plan.layout.tick


@pytest.mark.parametrize("names", ["[block]", "[cup, cup]", "['a cup']"])
def test_names_that_two_would_tell_of_are_refused(names):
    with pytest.raises(ConfigError, match=r"session\.objects: expected names"):
        make_plan(resolve([*WORDS, f"session.objects={names}"]))
