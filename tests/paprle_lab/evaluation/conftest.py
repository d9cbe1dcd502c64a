"""Recordings made of arrays: a robot that follows a known motion with known delays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from paprle.contracts.types import (
    GateState,
    LeaderInfo,
    LimbInfo,
    RobotInfo,
    SessionState,
)
from paprle.ipc.records import make_layout
from paprle.recording.header import leader_to_dict, robot_to_dict
from paprle.recording.reader import Episode
from paprle.recording.robot import compute_poses, make_limbs

N_JOINTS = 3
H_NS = 5_000_000
ORIGIN_NS = 7_000_000_000_000

JOINT = """
<joint name="{name}{k}" type="revolute">
  <parent link="{parent}"/><child link="{name}_link{k}"/>
  <origin xyz="0.2 0 0.1"/><axis xyz="{axis}"/>
  <limit lower="-2" upper="2" velocity="2" effort="10"/>
</joint><link name="{name}_link{k}"/>"""


def make_urdf(limbs: tuple[str, ...]) -> str:
    body = ""
    for name in limbs:
        parent = "world"
        for k, axis in enumerate(("0 0 1", "0 1 0", "1 0 0")):
            body += JOINT.format(name=name, k=k, parent=parent, axis=axis)
            parent = f"{name}_link{k}"
        body += (
            f'<joint name="{name}_tool" type="fixed"><parent link="{parent}"/>'
            f'<child link="{name}_eef"/><origin xyz="0.2 0 0"/></joint>'
            f'<link name="{name}_eef"/>'
        )
    return f'<robot name="trial"><link name="world"/>{body}</robot>'


def make_robot(limbs: tuple[str, ...]) -> RobotInfo:
    names = tuple(f"{limb}{k}" for limb in limbs for k in range(N_JOINTS))
    ones = np.ones(len(names))
    return RobotInfo(
        name="trial",
        urdf_path=Path("trial.urdf"),
        joint_names=names,
        q_min=-2 * ones,
        q_max=2 * ones,
        dq_max=2 * ones,
        ddq_max=20 * ones,
        home=0 * ones,
        limbs=tuple(
            LimbInfo(
                name=limb,
                base_link="world",
                eef_link=f"{limb}_eef",
                joint_names=tuple(f"{limb}{k}" for k in range(N_JOINTS)),
            )
            for limb in limbs
        ),
    )


def wave(t: np.ndarray, n: int) -> np.ndarray:
    """A smooth motion that starts and stays at rest before t = 0."""
    ease = np.clip(t, 0.0, 1.0) ** 3 * (
        10 - 15 * np.clip(t, 0, 1) + 6 * np.clip(t, 0, 1) ** 2
    )
    phases = np.arange(n)
    return 0.4 * ease[:, None] * np.sin(1.3 * t[:, None] + phases)


def fill(layout, robot, urdf, n, delay, motion_delay):
    """Return ticks and gate rows of n periods, ENGAGED but for the first second."""
    k = np.arange(n)
    t = (k - 200) * H_NS * 1e-9
    m = len(robot.joint_names)
    ticks = np.zeros(n, layout.tick)
    gate = np.zeros(n, layout.status)
    ticks["k"] = gate["k"] = k
    ticks["stamp_ns"] = ORIGIN_NS + k * H_NS
    ticks["state"] = np.where(k < 200, SessionState.WAITING, SessionState.ENGAGED)
    ticks["has_sample"] = True
    ticks["sample"]["seq"] = k + 1
    ticks["sample"]["stamp_ns"] = ticks["stamp_ns"] - 2_000_000
    ticks["sample"]["limb_ns"] = ticks["sample"]["stamp_ns"][:, None]
    ticks["compute_ns"], ticks["late_ns"] = 300_000, 50_000
    ticks["target"] = ticks["given"] = np.nan
    ticks["q_des"] = wave(t, m)
    limbs = make_limbs(robot, urdf)
    for row, limb in enumerate(limbs.values()):
        ticks["target"][k >= 200, row] = compute_poses(
            limb, limb.take(ticks["q_des"][k >= 200].T).T
        )
    gate["stamp_ns"] = ticks["stamp_ns"] + 1_000_000
    gate["setpoint_ns"] = ticks["stamp_ns"]
    gate["meas_ns"] = gate["stamp_ns"] - 100_000
    gate["state"] = np.where(k < 200, GateState.READY, GateState.ENGAGED)
    t_gate = t + 1e-3
    gate["q_des"] = gate["q_cmd"] = wave(t_gate - delay, m)
    gate["speed_scale"] = 1.0
    gate["q_meas"] = wave(t_gate - 1e-4 - delay - motion_delay, m)
    gate["compute_ns"] = 200_000
    return ticks, gate


@pytest.fixture(scope="session")
def make_episode() -> Callable[..., Episode]:
    """Return a function that makes an episode; see its arguments."""

    def make(
        n: int = 2000,
        limbs: tuple[str, ...] = ("arm",),
        delay: float = 0.0,
        motion_delay: float = 0.02,
        look_ahead: float = 0.0,
        change: Callable[[SimpleNamespace], None] | None = None,
        rows: slice = slice(None),
        name: str = "episode_000000",
    ) -> Episode:
        robot, urdf = make_robot(limbs), make_urdf(limbs)
        leader = LeaderInfo(limbs=("hand",), look_ahead=look_ahead, is_human=False)
        layout = make_layout(robot, leader)
        ticks, gate = fill(layout, robot, urdf, n, delay, motion_delay)
        if change is not None:
            change(SimpleNamespace(ticks=ticks, gate=gate))
        return Episode(
            path=Path(f"{name}.mcap"),
            header={
                "leader": "offline",
                "follower": "trial",
                "env": "kinematic",
                "robot": robot_to_dict(robot),
                "leader_info": leader_to_dict(leader),
                "gate_period": H_NS * 1e-9,
                "wall_offset_ns": 0,
            },
            config={"session": {"rate": 200.0}},
            urdf=urdf,
            layout=layout,
            ticks=ticks[rows],
            gate=gate[rows],
            events=(),
            manifest={"end_reason": "leader_end"},
            is_complete=True,
            note="",
        )

    return make
