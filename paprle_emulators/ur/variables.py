"""RTDE's variables.

Names and types: Universal Robots, "Real-Time Data Exchange (RTDE) Guide".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from paprle_emulators.ur.controller import Controller, RobotMode
from paprle_emulators.ur.kinematics import to_pose_vector
from paprle_emulators.ur.models import compute_flange

FORMATS = {
    "BOOL": "?",
    "UINT8": "B",
    "UINT32": "I",
    "UINT64": "Q",
    "INT32": "i",
    "DOUBLE": "d",
    "VECTOR3D": "3d",
    "VECTOR6D": "6d",
    "VECTOR6INT32": "6i",
    "VECTOR6UINT32": "6I",
}
"""Formats of ``struct`` by type."""

Read = Callable[[Controller], Any]
_RUNNING, _IDLE, _OFF = 253, 255, 246  # spec: RTDE guide, joint_mode: 246 power off
_POWERED = 48.0  # [V]
_GRAVITY = (0.0, 0.0, 9.81)  # [m/s²] of a robot that stands


def _constant(values: object) -> Read:
    return lambda _: values


def _joint_modes(controller: Controller) -> list[int]:
    modes = {RobotMode.RUNNING: _RUNNING, RobotMode.IDLE: _IDLE}
    return [modes.get(controller.robot_mode, _OFF)] * 6


def _pose(controller: Controller) -> Any:
    flange = compute_flange(controller.model, controller.arm.q)
    return to_pose_vector(flange @ controller.arm.tool)


def _target_pose(controller: Controller) -> Any:
    return to_pose_vector(controller.arm.pose)


_ZEROS = (0.0,) * 6
OUTPUTS: dict[str, tuple[str, Read]] = {
    "timestamp": ("DOUBLE", lambda c: c.time),
    "target_q": ("VECTOR6D", lambda c: c.arm.q_target),
    "target_qd": ("VECTOR6D", lambda c: c.arm.dq_target),
    "target_qdd": ("VECTOR6D", _constant(_ZEROS)),
    "target_current": ("VECTOR6D", _constant(_ZEROS)),
    "target_moment": ("VECTOR6D", _constant(_ZEROS)),
    "actual_q": ("VECTOR6D", lambda c: c.arm.q),
    "actual_qd": ("VECTOR6D", lambda c: c.arm.dq),
    "actual_current": ("VECTOR6D", _constant(_ZEROS)),
    "actual_current_as_torque": ("VECTOR6D", _constant(_ZEROS)),
    "actual_moment": ("VECTOR6D", _constant(_ZEROS)),
    "joint_control_output": ("VECTOR6D", _constant(_ZEROS)),
    "actual_TCP_pose": ("VECTOR6D", _pose),
    "actual_TCP_speed": ("VECTOR6D", _constant(_ZEROS)),
    "actual_TCP_force": ("VECTOR6D", lambda c: c.felt),
    "ft_raw_wrench": ("VECTOR6D", lambda c: c.wrench),
    "target_TCP_pose": ("VECTOR6D", _target_pose),
    "target_TCP_speed": ("VECTOR6D", _constant(_ZEROS)),
    "actual_digital_input_bits": ("UINT64", lambda c: c.digital_in),
    "actual_digital_output_bits": ("UINT64", lambda c: c.digital_out),
    "joint_temperatures": ("VECTOR6D", _constant((30.0,) * 6)),
    "actual_execution_time": ("DOUBLE", _constant(0.4)),
    "robot_mode": ("INT32", lambda c: int(c.robot_mode)),
    "joint_mode": ("VECTOR6INT32", _joint_modes),
    "safety_mode": ("INT32", lambda c: int(c.safety_mode)),
    "safety_status": ("INT32", lambda c: int(c.safety_mode)),
    "actual_tool_accelerometer": ("VECTOR3D", _constant(_GRAVITY)),
    "speed_scaling": ("DOUBLE", lambda c: c.scaling),
    "target_speed_fraction": ("DOUBLE", lambda c: c.slider),
    "actual_momentum": ("DOUBLE", _constant(0.0)),
    "actual_main_voltage": ("DOUBLE", _constant(_POWERED)),
    "actual_robot_voltage": ("DOUBLE", _constant(_POWERED)),
    "actual_robot_current": ("DOUBLE", _constant(0.5)),
    "actual_joint_voltage": ("VECTOR6D", _constant((_POWERED,) * 6)),
    "runtime_state": ("UINT32", lambda c: int(c.runtime)),
    "robot_status_bits": ("UINT32", lambda c: c.status_bits),
    "safety_status_bits": ("UINT32", lambda c: c.safety_bits),
    "standard_analog_input0": ("DOUBLE", _constant(0.0)),
    "standard_analog_input1": ("DOUBLE", _constant(0.0)),
    "standard_analog_output0": ("DOUBLE", lambda c: c.analog_out[0]),
    "standard_analog_output1": ("DOUBLE", lambda c: c.analog_out[1]),
    "payload": ("DOUBLE", lambda c: c.payload),
    "payload_cog": ("VECTOR3D", _constant((0.0, 0.0, 0.0))),
    "payload_inertia": ("VECTOR6D", _constant(_ZEROS)),
    "output_bit_registers0_to_31": ("UINT32", _constant(0)),
    "output_bit_registers32_to_63": ("UINT32", _constant(0)),
    "joint_position_deviation_ratio": ("DOUBLE", _constant(0.0)),
    "collision_detection_ratio": ("DOUBLE", _constant(0.0)),
    "time_scale_source": ("INT32", _constant(0)),
    "elbow_position": ("VECTOR3D", _constant((0.0, 0.0, 0.0))),
    "elbow_velocity": ("VECTOR3D", _constant((0.0, 0.0, 0.0))),
    "tcp_force_scalar": ("DOUBLE", lambda c: float(np.linalg.norm(c.felt[:3]))),
    "tcp_offset": ("VECTOR6D", lambda c: to_pose_vector(c.arm.tool)),
    "script_control_line": ("UINT32", _constant(0)),
    "io_current": ("DOUBLE", _constant(0.0)),
    "tool_mode": ("UINT32", _constant(_RUNNING)),
    "tool_analog_input_types": ("UINT32", _constant(0)),
    "tool_analog_input0": ("DOUBLE", _constant(0.0)),
    "tool_analog_input1": ("DOUBLE", _constant(0.0)),
    "tool_output_voltage": ("INT32", _constant(0)),
    "tool_output_current": ("DOUBLE", _constant(0.0)),
    "tool_temperature": ("DOUBLE", _constant(30.0)),
}


def _read_int(register: int, controller: Controller) -> int:
    return controller.int_out[register]


def _read_double(register: int, controller: Controller) -> float:
    return controller.double_out[register]


for _number in range(48):
    OUTPUTS[f"output_int_register_{_number}"] = ("INT32", partial(_read_int, _number))
    OUTPUTS[f"output_double_register_{_number}"] = (
        "DOUBLE",
        partial(_read_double, _number),
    )

INPUTS: dict[str, str] = {
    "speed_slider_mask": "UINT32",
    "speed_slider_fraction": "DOUBLE",
    "standard_digital_output_mask": "UINT8",
    "standard_digital_output": "UINT8",
    "configurable_digital_output_mask": "UINT8",
    "configurable_digital_output": "UINT8",
    "tool_digital_output_mask": "UINT8",
    "tool_digital_output": "UINT8",
    "standard_analog_output_mask": "UINT8",
    "standard_analog_output_type": "UINT8",
    "standard_analog_output_0": "DOUBLE",
    "standard_analog_output_1": "DOUBLE",
    "input_bit_registers0_to_31": "UINT32",
    "input_bit_registers32_to_63": "UINT32",
    "external_force_torque": "VECTOR6D",
    **{f"input_bit_register_{n}": "BOOL" for n in range(64, 128)},
    **{f"input_int_register_{n}": "INT32" for n in range(48)},
    **{f"input_double_register_{n}": "DOUBLE" for n in range(48)},
}


def make_format(types: Sequence[str]) -> str:
    """Return a recipe's big-endian format without number."""
    return ">" + "".join(FORMATS[name] for name in types)


def read_values(names: Sequence[str], controller: Controller) -> list[Any]:
    """Return output variables, vectors laid out."""
    values: list[Any] = []
    for name in names:
        value = OUTPUTS[name][1](controller)
        if isinstance(value, list | tuple | np.ndarray):
            values.extend(value)
        else:
            values.append(value)
    return values


_DIGITAL = {
    "standard_digital_output": 0,
    "configurable_digital_output": 8,
    "tool_digital_output": 16,
}
"""First bits. spec: RTDE guide, actual_digital_output_bits."""


def write_values(names: Sequence[str], values: Sequence[Any], c: Controller) -> None:
    """Write a package of input variables, some without effect."""
    given = dict(zip(names, values, strict=True))
    for name, value in given.items():
        kind, _, number = name.rpartition("_register_")
        if kind == "input_int":
            c.write_int(int(number), value)
        elif kind == "input_double":
            c.double_in[int(number)] = value
        elif name == "speed_slider_fraction" and given.get("speed_slider_mask", 1):
            c.slider = min(max(value, 0.0), 1.0)
        elif name in _DIGITAL:
            mask = int(given.get(f"{name}_mask", 0)) << _DIGITAL[name]
            bits = int(value) << _DIGITAL[name]
            c.digital_out = c.digital_out & ~mask | bits & mask
        elif name in ("standard_analog_output_0", "standard_analog_output_1"):
            channel = int(name[-1])
            if int(given.get("standard_analog_output_mask", 0)) >> channel & 1:
                c.analog_out[channel] = min(max(value, 0.0), 1.0)
