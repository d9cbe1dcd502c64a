"""GELLO's calibration values: YAML, JSON, or Python source, which is never run.

GELLO's joint is sign · (angle − offset) with the angle 0 at count 0 of the servo;
PAPRLE's angle is 0 at count 2048, half a turn further.

References:
    wuphilipp/gello_software, ``gello/robots/dynamixel.py`` and
    ``gello/agents/gello_agent.py``.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from paprle.config.yaml_text import read_yaml
from paprle.contracts.errors import ConfigError
from paprle_lab.onboarding.leader.imported import Imported

_KEYS = ("joint_ids", "joint_offsets", "joint_signs", "gripper_config")
_OPERATORS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def read_gello(path: Path, text: str) -> Imported:
    """Return the values of a file's text.

    Raises:
        ConfigError: If they are incomplete, wrong, or of several rigs.
    """
    is_source = path.suffix == ".py" or "DynamixelRobotConfig(" in text
    found = _read_source(path, text) if is_source else _read_tree(path)
    if len(found) != 1:
        raise ConfigError(
            f"{path}: expected joint_ids, joint_offsets, joint_signs and "
            f"gripper_config of one arm, got {len(found)} arms; leave one in the file"
        )
    return _convert(path, found[0])


def _read_tree(path: Path) -> list[dict[str, Any]]:
    problems: list[str] = []
    tree = read_yaml(path, str(path), problems)
    if problems:
        raise ConfigError(problems)
    found: list[dict[str, Any]] = []
    left: list[Any] = [tree]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            if "joint_offsets" in one and "joint_signs" in one:
                found.append({key: one.get(key) for key in _KEYS})
            left += one.values()
        elif isinstance(one, list):
            left += one
    return found


def _read_source(path: Path, text: str) -> list[dict[str, Any]]:
    try:
        tree = ast.parse(text.strip().rstrip(","))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as err:
        raise ConfigError(f"{path}: expected Python source, got {err}") from err
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).endswith("DynamixelRobotConfig")
    ]
    return [
        {
            word.arg: _evaluate(path, word.value)
            for word in call.keywords
            if word.arg in _KEYS
        }
        for call in calls
    ]


def _evaluate(path: Path, node: ast.expr) -> Any:
    if isinstance(node, (ast.Tuple, ast.List)):
        return [_evaluate(path, one) for one in node.elts]
    if isinstance(node, ast.Constant) and (
        node.value is None or type(node.value) in {int, float}
    ):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_number(path, node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        one, other = _number(path, node.left), _number(path, node.right)
        try:
            return _OPERATORS[type(node.op)](one, other)
        except (ZeroDivisionError, OverflowError) as err:
            raise ConfigError(f"{path}: expected a number, got {err}") from err
    if ast.unparse(node) in {"np.pi", "numpy.pi", "math.pi", "pi"}:
        return math.pi
    raise ConfigError(
        f"{path}: expected numbers, pi and + - * /, got "
        f"'{ast.unparse(node)[:60]}'; source is read, not run"
    )


def _number(path: Path, node: ast.expr) -> float:
    value = _evaluate(path, node)
    if not isinstance(value, (int, float)):
        raise ConfigError(f"{path}: expected a number, got '{ast.unparse(node)[:60]}'")
    return value


def _convert(path: Path, values: Mapping[str, Any]) -> Imported:
    offsets = _list_numbers(path, values, "joint_offsets")
    signs = _list_numbers(path, values, "joint_signs")
    ids: list[float] = list(range(1, len(offsets) + 1))
    if values.get("joint_ids") is not None:
        ids = _list_numbers(path, values, "joint_ids")
    if not len(ids) == len(offsets) == len(signs) > 0:
        raise ConfigError(
            f"{path}: expected as many joint_ids, joint_offsets and joint_signs, got "
            f"{len(ids)}, {len(offsets)} and {len(signs)}"
        )
    if not set(signs) <= {-1, 1}:
        raise ConfigError(f"{path}: joint_signs: expected 1 or -1, got {signs}")
    return Imported(
        ids=tuple(int(i) for i in ids),
        offsets=tuple(offset - math.pi for offset in offsets),
        signs=tuple(int(sign) for sign in signs),
        gripper=_convert_gripper(path, values),
    )


def _convert_gripper(
    path: Path, values: Mapping[str, Any]
) -> tuple[int, float, float] | None:
    if values.get("gripper_config") is None:
        return None
    gripper = _list_numbers(path, values, "gripper_config")
    if len(gripper) != 3:
        raise ConfigError(
            f"{path}: gripper_config: expected id, open and closed [deg], got {gripper}"
        )
    number, opened, closed = gripper
    to_angle = math.radians
    return int(number), to_angle(closed) - math.pi, to_angle(opened) - math.pi


def _list_numbers(path: Path, values: Mapping[str, Any], key: str) -> list[float]:
    found = values.get(key)
    if not isinstance(found, (list, tuple)):
        raise ConfigError(f"{path}: {key}: expected a list, got {found!r}")
    numbers = []
    for one in found:
        value = one
        if isinstance(one, str):
            try:
                value = _evaluate(path, ast.parse(one, mode="eval").body)
            except SyntaxError as err:
                raise ConfigError(f"{path}: {key}: {err}") from err
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ConfigError(f"{path}: {key}: expected numbers, got {one!r}")
        if not abs(value) < 1e4:
            raise ConfigError(f"{path}: {key}: expected numbers, got {value}")
        numbers.append(value)
    return numbers
