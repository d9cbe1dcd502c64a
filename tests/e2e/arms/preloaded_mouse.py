"""A mouse on three robots, read by the real hidapi (``test_leaders_on_robots``)."""

import pytest
from leader_rows import ENVS, ROBOTS, Bench, drive


@pytest.mark.parametrize("env", ENVS)
@pytest.mark.parametrize("robot", ROBOTS)
def test_a_mouse_drives_a_robot_for_5_s_and_ends(robot, env, monkeypatch, tmp_path):
    drive("spacemouse", Bench(monkeypatch, tmp_path, robot), env)
