"""Robots of two joints and few bodies: whatever they do can be worked out by hand."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter

from paprle.contracts.settings.core import RobotSettings
from paprle.robot import RobotModel

BALL = 0.05  # [m] radius


def _link(name, body=""):
    return f"<link name='{name}'>{body}</link>"


def _body(shape, xyz="0 0 0", rpy="0 0 0"):
    return (
        f"<collision><origin xyz='{xyz}' rpy='{rpy}'/>"
        f"<geometry>{shape}</geometry></collision>"
    )


def _joint(name, kind, parent, child, xyz, axis, follow=""):
    return (
        f"<joint name='{name}' type='{kind}'><parent link='{parent}'/>"
        f"<child link='{child}'/><origin xyz='{xyz}'/><axis xyz='{axis}'/>"
        f"<limit lower='-2' upper='2' velocity='1.25' effort='1'/>{follow}</joint>"
    )


def _load(text, limbs, **limits):
    settings = {"urdf": "toy.urdf", "limbs": limbs, "limits": limits}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "toy.urdf").write_text(f"<robot name='toy'>{text}</robot>")
        made = TypeAdapter(RobotSettings).validate_json(json.dumps(settings))
        return RobotModel.from_settings(made, "toy", Path(folder))


@cache
def make_sliders():
    """Two balls on rails, 1 m apart at home, each pushed towards +x of the other."""
    ball = _body(f"<sphere radius='{BALL}'/>")
    text = (
        _link("base")
        + _link("one", ball)
        + _link("two", ball)
        + _joint("x1", "prismatic", "base", "one", "0 0 0", "1 0 0")
        + _joint("x2", "prismatic", "base", "two", "1 0 0", "-1 0 0")
    )
    limbs = {
        name: {"base_link": "base", "eef_link": name, "joints": [joint], "home": [0.0]}
        for name, joint in (("one", "x1"), ("two", "x2"))
    }
    return _load(text, limbs, ddq_max=5.0)


def gap(q):
    """Distance of the sliders' balls, [m]."""
    return 1.0 - q[..., 0] - q[..., 1] - 2 * BALL


@cache
def make_crane(ball=BALL):
    """A ball that slides along x and y, and another that stands in its way."""
    text = (
        _link("base", _body(f"<sphere radius='{ball}'/>", "0.5 0 0"))
        + _link("rail")
        + _link("hook", _body(f"<sphere radius='{ball}'/>"))
        + _joint("x", "prismatic", "base", "rail", "0 0 0", "1 0 0")
        + _joint("y", "prismatic", "rail", "hook", "0 0 0", "0 1 0")
    )
    limbs = {
        "arm": {
            "base_link": "base",
            "eef_link": "hook",
            "joints": ["x", "y"],
            "home": [0.0, 0.0],
        }
    }
    return _load(text, limbs, ddq_max=5.0)


@cache
def make_swing(mount=""):
    """Two rods in a plane, and a post beside them; mounted somewhere, if told where."""
    rod = _body("<cylinder radius='0.02' length='0.3'/>", "0.2 0 0", "0 1.5707963 0")
    text = (
        _link("base", _body(f"<sphere radius='{BALL}'/>", "0.3 0.35 0"))
        + _link("upper", rod)
        + _link("lower", rod)
        + _link("tip")
        + _joint("a", "revolute", "base", "upper", "0 0 0", "0 0 1")
        + _joint("b", "revolute", "upper", "lower", "0.4 0 0", "0 0 1")
        + "<joint name='tip' type='fixed'><parent link='lower'/><child link='tip'/>"
        "<origin xyz='0.4 0 0'/></joint>"
    )
    if mount:
        text += _link("world") + (
            "<joint name='mount' type='fixed'><parent link='world'/>"
            f"<child link='base'/><origin {mount}/></joint>"
        )
    limbs = {
        "arm": {
            "base_link": "base",
            "eef_link": "tip",
            "joints": ["a", "b"],
            "home": [-0.5, 0.5],
        }
    }
    return _load(text, limbs, ddq_max=5.0)


@cache
def make_elbow():
    """An arm in space: it turns about z, bends twice, and slides out its hand."""
    names = ["turn", "lift", "bend", "slide"]
    text = (
        "".join(_link(name) for name in ("base", "one", "two", "three", "hand"))
        + _joint("turn", "revolute", "base", "one", "0 0 0.2", "0 0 1")
        + _joint("lift", "revolute", "one", "two", "0 0 0", "0 1 0")
        + _joint("bend", "revolute", "two", "three", "0.4 0 0", "0 1 0")
        + _joint("slide", "prismatic", "three", "hand", "0.3 0.02 0.01", "1 0 0")
    )
    limbs = {
        "arm": {
            "base_link": "base",
            "eef_link": "hand",
            "joints": names,
            "home": [0.0, -0.5, 1.0, 0.0],
        }
    }
    return _load(text, limbs, ddq_max=5.0)


@cache
def make_crooked():
    """Two balls on joints of whatever axes: one turns, slides and turns, one turns."""
    ball = _body(f"<sphere radius='{BALL}'/>", "0.2 0.1 0.05")
    text = (
        "".join(_link(name) for name in ("base", "one", "two"))
        + _link("hand", ball)
        + _link("other", ball)
        + _joint("turn", "revolute", "base", "one", "0.1 0.2 0.3", "0.6 0 0.8")
        + _joint("slide", "prismatic", "one", "two", "0.2 0.1 0", "0 0.8 0.6")
        + _joint("bend", "revolute", "two", "hand", "0.3 0 0.1", "0 0.6 -0.8")
        + _joint("lean", "revolute", "base", "other", "-0.3 0.1 0.9", "0.8 0.6 0")
    )
    limbs = {
        name: {
            "base_link": "base",
            "eef_link": name,
            "joints": joints,
            "home": [0.0] * len(joints),
        }
        for name, joints in {
            "hand": ["turn", "slide", "bend"],
            "other": ["lean"],
        }.items()
    }
    return _load(text, limbs, ddq_max=5.0)


@cache
def make_zigzag():
    """An arm that turns about z and slides out; as it does, its tip goes aside."""
    text = (
        "".join(_link(name) for name in ("base", "arm", "slide", "tip"))
        + _joint("turn", "revolute", "base", "arm", "0 0 0", "0 0 1")
        + _joint("out", "prismatic", "arm", "slide", "0.3 0 0", "1 0 0")
        + _joint(
            "aside",
            "prismatic",
            "slide",
            "tip",
            "0.1 0 0",
            "0 1 0",
            "<mimic joint='out' multiplier='-0.7' offset='0.1'/>",
        )
    )
    limbs = {
        "arm": {
            "base_link": "base",
            "eef_link": "tip",
            "joints": ["turn", "out"],
            "home": [0.0, 0.0],
        }
    }
    return _load(text, limbs, ddq_max=5.0)


def draw_near(make, judge, rng):
    """Yield postures with less than 10 cm to spare, [rad], and speeds up to 1, [rad/s].

    Args:
        make: ``make_sliders``, ``make_crane`` or ``make_swing``.
        judge: Tells how near they are.
        rng: Where they come from.
    """
    low, high = ((0.2, -0.5), (1.2, 1.5)) if make is make_swing else ((-0.2, -0.5), 0.9)
    while True:
        q, v = rng.uniform(low, high, 2), rng.uniform(-1.0, 1.0, 2)
        if 0.0 < -judge.miss(q) < 0.1:
            yield q, v


@cache
def make_crane_and_slider():
    """A ball on rails along x and y, another limb's 1 m along x, and one that stands.

    That is 1 m along y.
    """
    ball = _body(f"<sphere radius='{BALL}'/>")
    text = (
        _link("base", _body(f"<sphere radius='{BALL}'/>", "0 1 0"))
        + _link("rail")
        + _link("hook", ball)
        + _link("other", ball)
        + _joint("x", "prismatic", "base", "rail", "0 0 0", "1 0 0")
        + _joint("y", "prismatic", "rail", "hook", "0 0 0", "0 1 0")
        + _joint("z", "prismatic", "base", "other", "1 0 0", "-1 0 0")
    )
    limbs = {
        name: {"base_link": "base", "eef_link": eef, "joints": joints}
        for name, eef, joints in (("arm", "hook", ["x", "y"]), ("two", "other", ["z"]))
    }
    for limb in limbs.values():
        limb["home"] = [0.0] * len(limb["joints"])
    return _load(text, limbs, ddq_max=5.0)
