"""Doubts about masses and inertias.

References:
    A body's principal moments are above 0, and none exceeds the sum of the others.
    A body of length L has a radius of gyration of at most L / 2; among bodies of one
    mass and density a ball has the smallest, sqrt(2/5) of its radius.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from paprle.robot.tree import Inertia, Primitive, Urdf

_HEAVIEST = 1000.0  # chosen: [kg] links of the largest industrial arms weigh less
_DENSEST = 1e5  # chosen: [kg/m³] five times tungsten: bodies may be thinner than links
_HEAVY = 2.0  # chosen: [kg] below, a body may be a token
_LIGHT = 0.1  # chosen: [kg] below, a link's body may be a mere point
_TOKEN = 0.005  # chosen: [kg] frames and sensors get less, with any inertia
_FOAM = 10.0  # chosen: [kg/m³] a third of foam: bodies may be wider than links
_LIGHTEST = 0.01  # chosen: [kg] above, a hollow link may be in a wide body
_TUNGSTEN = 2e4  # spec: [kg/m³] 19,300, rounded up
_COMPACT = 0.3  # chosen: of the radius of gyration of a ball of tungsten
_SMALLEST = 0.3  # chosen: [m] a robot of this size; smaller ones have small numbers
_ROUNDING = 0.02  # chosen: of the greatest moment; three decimals of a slender rod


@dataclass(frozen=True, slots=True, kw_only=True)
class _RigidBody:
    """Links joined by fixed joints; ``main`` has half of the mass or more, or is ""."""

    lead: str
    links: tuple[str, ...]
    mass: float
    volume: float
    main: str
    is_last: bool


def list_mass_doubts(urdf: Urdf) -> Iterator[str]:
    """Yield doubts, each with its links."""
    volumes: dict[str, float] = {}
    for shape in urdf.primitives:
        volumes[shape.link] = volumes.get(shape.link, 0.0) + _find_volume(shape)
    found: dict[str, list[str]] = {}
    for link, own in urdf.inertias.items():
        if doubt := _doubt_heavy(own, volumes.get(link, 0.0)):
            found.setdefault(doubt, []).append(f"{link} {own.mass:g} kg")
    size, bodies = _find_size(urdf), list(_find_bodies(urdf, volumes))
    for body in bodies:
        if doubt := _doubt_light(body, urdf):
            found.setdefault(doubt, []).append(f"{body.lead} {body.mass:g} kg")
        for link in body.links:
            if doubt := _doubt_inertia(urdf.inertias[link], size, link == body.main):
                moments = " ".join(
                    f"{one:.3g}" for one in urdf.inertias[link].find_moments()
                )
                found.setdefault(doubt, []).append(f"{link} {moments} kg m²")
    for doubt, links in found.items():
        what, _, advice = doubt.partition("|")
        yield f"{what}: {', '.join(links)}; {advice}"


def _doubt_heavy(own: Inertia, volume: float) -> str:
    density = own.mass / volume if volume > 0.0 else 0.0
    if own.mass > _HEAVIEST:
        return "heavier than a link of a robot|are these grams?"
    if density > _DENSEST and own.mass > _HEAVY:
        return "heavier than metal of the size of their bodies|are these grams?"
    return ""


def _doubt_light(body: _RigidBody, urdf: Urdf) -> str:
    if body.mass == 0.0:
        is_given = any(urdf.inertias[link].tensor.any() for link in body.links)
        is_given |= bool(body.links) and body.volume > 0.0
        text = "moving bodies without a mass|a simulator refuses or mends them"
        return text if is_given else ""
    density = body.mass / body.volume if body.volume > 0.0 else math.inf
    if body.mass < _LIGHTEST and density < _FOAM:
        return "lighter than foam of the size of their bodies|are these tonnes?"
    if body.mass < _TOKEN and not body.is_last:
        return "lighter than a link that carries others|are these tonnes?"
    return ""


def _doubt_inertia(own: Inertia, size: float, is_main: bool) -> str:
    least, middle, greatest = own.find_moments().tolist()
    if greatest > (0.5 * size) ** 2 * max(own.mass, _LIGHT):
        return (
            "inertia too great for the mass|is it in kg mm² or g mm²? A simulated "
            "robot hardly moves, as if something blocked it"
        )
    if not is_main or own.mass < _TOKEN:
        return ""
    if greatest < (_COMPACT * _find_least_gyration(own.mass)) ** 2 * own.mass:
        return (
            "inertia too small for the mass, smaller than that of a ball of metal|a "
            "simulated robot shakes"
        )
    slack = _ROUNDING * greatest
    if least < -slack or greatest > least + middle + slack:
        return (
            "principal moments that no body has, as one is negative or exceeds the sum "
            "of the others|a simulator refuses or mends them"
        )
    return ""


def _find_bodies(urdf: Urdf, volumes: dict[str, float]) -> Iterator[_RigidBody]:
    """Yield what moves behind each movable joint."""
    for joint in urdf.joints:
        if not joint.is_movable:
            continue
        links, stack, is_last = [], [joint.child], True
        while stack:
            links.append(stack.pop())
            for below in urdf.child_joints[links[-1]]:
                is_last &= not below.is_movable
                stack += [] if below.is_movable else [below.child]
        masses = {n: urdf.inertias[n].mass for n in links if n in urdf.inertias}
        mass = sum(masses.values())
        heaviest = max(masses, key=lambda name: masses[name], default="")
        yield _RigidBody(
            lead=joint.child,
            links=tuple(masses),
            mass=mass,
            volume=sum(volumes.get(name, 0.0) for name in links),
            main=heaviest if heaviest and masses[heaviest] >= 0.5 * mass else "",
            is_last=is_last,
        )


def _find_least_gyration(mass: float) -> float:
    radius = (3.0 * mass / (4.0 * math.pi * _TUNGSTEN)) ** (1.0 / 3.0)
    return math.sqrt(0.4) * float(radius)


def _find_size(urdf: Urdf) -> float:
    """Return an upper bound of the length of any link, [m]."""
    ways = {urdf.root: 0.0}
    for joint in urdf.joints:  # depth first
        ways[joint.child] = ways[joint.parent] + _measure(joint.T_parent_joint)
        if joint.kind == "prismatic" and math.isfinite(joint.upper - joint.lower):
            ways[joint.child] += joint.upper - joint.lower
    bodies = [
        _measure(body.T_link_body) + float(np.linalg.norm(body.size))
        for body in urdf.primitives
    ]
    return max(_SMALLEST, max(ways.values()) + max(bodies, default=0.0))


def _measure(T: pin.SE3) -> float:
    return float(np.linalg.norm(T.translation))


def _find_volume(body: Primitive) -> float:
    if body.shape == "box":
        return math.prod(body.size)
    radius = body.size[0]
    ball = 4.0 / 3.0 * math.pi * radius**3
    if body.shape == "sphere":
        return ball
    rod = math.pi * radius**2 * body.size[1]
    return rod if body.shape == "cylinder" else rod + ball
