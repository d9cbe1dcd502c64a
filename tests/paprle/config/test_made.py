"""Settings made in Python are refused for what those of a file are refused for."""

import math
from pathlib import Path

import numpy as np
import pytest

from paprle import (
    Gate,
    GateConfig,
    IkConfig,
    IkSolver,
    LimbSettings,
    LimitSettings,
    RobotModel,
    RobotSettings,
    SceneBodySettings,
)
from paprle.contracts.errors import ConfigError

URDF = Path(__file__).resolve().parents[3] / "urdf/piper/robot.urdf"
PIPER = RobotModel.from_urdf(URDF)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"position_margin": -1.0}, r"gate\.position_margin: expected a number ≥ 0"),
        ({"position_margin": math.nan}, r"gate\.position_margin: expected a finite"),
        ({"tool_speed": math.nan}, r"gate\.tool_speed: expected a finite number"),
        ({"lag_bound": math.inf}, r"gate\.lag_bound: .* got Infinity \(in Python\)"),
        ({"solver": "qp"}, r"gate\.solver: expected 'daqp' or 'osqp', got 'qp'"),
        (
            {"scene": {"wall": SceneBodySettings(shape="box", size=("1",))}},
            r"gate\.scene\.wall\.size\.0: expected a number",
        ),
    ],
)
def test_a_gate_refuses_invalid_settings(keys, message):
    with pytest.raises(ConfigError, match=message):
        Gate(PIPER, GateConfig(**keys), h=0.005)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"damping": -1.0}, r"ik\.damping: expected a number > 0 \[1\], got -1\.0"),
        ({"max_iterations": 0}, r"ik\.max_iterations: expected a number ≥ 1"),
        ({"mobility": {"joint1": math.inf}}, r"ik\.mobility\.joint1: expected a fin"),
        ({"mobility": {"joint1": -1.0}}, r"ik\.mobility\.joint1: expected a num"),
        ({"free_axis": "w"}, r"ik\.free_axis: expected 'none', 'x', 'y' or 'z'"),
    ],
)
def test_a_solver_refuses_invalid_settings(keys, message):
    with pytest.raises(ConfigError, match=message):
        IkSolver(PIPER.limbs["arm"], IkConfig(**keys))


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"velocity_scale": 5.0}, r"limits\.velocity_scale: expected a number ≤ 1"),
        ({"ddq_max": math.inf}, r"limits\.ddq_max: expected a finite number"),
        ({"q_min": {"joint1": math.nan}}, r"limits\.q_min\.joint1: expected a finite"),
    ],
)
def test_a_robot_refuses_invalid_limits(limits, message):
    settings = RobotSettings(urdf=str(URDF), limits=LimitSettings(**limits))

    with pytest.raises(ConfigError, match=message):
        RobotModel.from_settings(settings)


def test_numbers_of_numpy_are_numbers():
    limb = PIPER.info.limbs[0]
    home = LimbSettings(
        base_link=limb.base_link, eef_link=limb.eef_link, home=np.full(6, 0.0)
    )
    robot = RobotModel.from_urdf(URDF, {"arm": home})

    gate = Gate(robot, GateConfig(position_margin=np.float32(0.01)), h=0.005)

    assert (robot.limbs["arm"].home == 0.0).all()
    assert gate.q_max[0] == pytest.approx(robot.q_max[0] - 0.01)
