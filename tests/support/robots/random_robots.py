"""Robots that nobody has seen: any arms, of any joints and bodies, made by seed."""

from __future__ import annotations

import numpy as np

from paprle.robot import RobotModel

KINDS = ("revolute", "revolute", "revolute", "continuous", "prismatic")


def make_random_robot(folder, seed):
    """Return a robot of one to three arms of two to seven joints each.

    Links are boxes, balls and cylinders, some offset, some none; joints turn or slide
    along any axis, each with limits of its own; some follow others.
    """
    path = folder / f"stranger_{seed}.urdf"
    path.write_text(_write(np.random.default_rng(seed)))
    return RobotModel.from_urdf(path)


def _write(rng):
    base = _body(rng, "base", 0.08)
    arms = "".join(_arm(rng, k) for k in range(rng.integers(1, 4)))
    return f"<robot name='stranger'>{base}{arms}</robot>"


def _arm(rng, k):
    text, parent, movable = "", "base", []
    n, length = rng.integers(2, 8), rng.uniform(0.08, 0.3)
    mount = f"{rng.uniform(-0.3, 0.3)} {0.3 * (k - 1)} 0.15"
    for j in range(n):
        child, name = f"a{k}_l{j}", f"a{k}_j{j}"
        kind = rng.choice(KINDS)
        low, high = -rng.uniform(0.3, 3.0), rng.uniform(0.3, 3.0)
        if kind == "prismatic":
            low, high = 0.1 * low, 0.1 * high
        place = mount if j == 0 else f"{length} 0 {rng.normal(0, 0.03)}"
        follows = j == n - 1 and len(movable) > 1 and rng.random() < 0.3
        source = movable[-1] if follows else ""
        mimic = f"<mimic joint='{source}' multiplier='-0.6' offset='0.1'/>"
        text += (
            f"{_body(rng, child, length)}<joint name='{name}' type='{kind}'>"
            f"<parent link='{parent}'/><child link='{child}'/>"
            f"<origin xyz='{place}' rpy='{_triple(rng.normal(0, 0.4, 3))}'/>"
            f"<axis xyz='{_triple(_draw_axis(rng))}'/>"
            f"<limit lower='{low}' upper='{high}' velocity='{rng.uniform(0.2, 6)}' "
            f"effort='1'/>{mimic if follows else ''}</joint>"
        )
        parent = child
        if not follows:
            movable.append(name)
    return (
        f"{text}<link name='a{k}_tip'/><joint name='a{k}_tip' type='fixed'>"
        f"<parent link='{parent}'/><child link='a{k}_tip'/>"
        f"<origin xyz='{length} 0 0'/></joint>"
    )


def _body(rng, name, length):
    wide = rng.uniform(0.015, 0.05)
    shapes = (
        f"<sphere radius='{wide}'/>",
        f"<box size='{0.8 * length} {wide} {2 * wide}'/>",
        f"<cylinder radius='{wide}' length='{0.7 * length}'/>",
    )
    kind = rng.integers(4)
    if kind == 3:  # it has none
        return f"<link name='{name}'/>"
    turn = "0 1.5707963 0" if kind == 2 else _triple(rng.normal(0, 0.2, 3))
    return (
        f"<link name='{name}'><collision><origin xyz='{length / 2} 0 0' rpy='{turn}'/>"
        f"<geometry>{shapes[kind]}</geometry></collision></link>"
    )


def _draw_axis(rng):
    if rng.random() < 0.7:
        return rng.choice([-1, 1]) * np.eye(3)[rng.integers(3)]
    axis = rng.normal(size=3)
    return axis / np.linalg.norm(axis)


def _triple(values):
    return " ".join(str(float(value)) for value in values)
