"""Makes the meshes of ``paprle meshes`` from a maker's URDF."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import numpy as np
import pinocchio as pin
import trimesh

from paprle.contracts.errors import ConfigError
from paprle.contracts.kit.work import UNSEEN, Work
from paprle.contracts.types import RobotInfo
from paprle.contracts.urdf.maker_meshes import MakerMesh, MakerMeshes
from paprle.contracts.urdf.models import make_pin_model
from paprle_lab.onboarding.makers.descriptions import Description
from paprle_lab.onboarding.makers.matching import Match, match_joints, pair_names
from paprle_lab.onboarding.makers.shapes import Color, load_parts, place, simplify

_FACES = 60_000  # chosen: a page loads them within a second
_FEWEST = 200  # chosen: of one part

_Parts = dict[tuple[str, str, Color | None], list[trimesh.Trimesh]]


def make_meshes(
    info: RobotInfo, description: Description, work: Work = UNSEEN
) -> tuple[MakerMeshes, list[str]]:
    """Return a maker's meshes on a robot's joints, and what could not be matched.

    Raises:
        ConfigError: If the two have no joint in common, or a mesh cannot be read.
    """
    ours = make_pin_model(info.urdf_path)
    theirs = description.model
    match = match_joints(ours, theirs, info.limbs[0].base_link)
    if len(match.places) < 2:
        raise ConfigError(
            f"meshes: expected a description of {info.name}, got {description.source}, "
            "whose joints move otherwise"
        )
    links = _find_links(ours, theirs, match)
    try:
        parts = _gather(theirs, description.geometry, match, links, work)
    except (ValueError, OSError) as err:
        raise ConfigError(f"meshes: {description.source}: {err}") from None
    meshes = _merge(parts, work)
    shown = frozenset(mesh.link for mesh in meshes)
    notes = [
        f"{name}: moves otherwise than in the description; its own bodies stay"
        for name in match.refused
    ]
    if match.apart:
        most = 1e3 * max(match.apart.values())
        notes.append(
            f"{len(match.apart)} joints lie up to {most:.0f} mm elsewhere in the "
            "description: it is of another version of the robot"
        )
    return MakerMeshes(description.source, shown, meshes), notes


def _find_links(
    ours: pin.Model, theirs: pin.Model, match: Match
) -> Mapping[str, tuple[str, str]]:
    """Return our joint and link by their link; the joint's first has no namesake."""
    mine = [frame.name for frame in ours.frames if frame.type == pin.BODY]
    bodies = [frame for frame in theirs.frames if frame.type == pin.BODY]
    named = {
        their: my for my, their in pair_names(mine, [b.name for b in bodies]).items()
    }
    joint_of = {their: my for my, (their, _) in match.places.items()}
    links = {}
    for body in bodies:
        joint = joint_of.get(theirs.names[body.parentJoint])
        if joint is None:
            continue
        own = [
            frame.name
            for frame in ours.frames
            if frame.type == pin.BODY and frame.parentJoint == ours.getJointId(joint)
        ]
        if own:
            link = named.get(body.name, own[0])
            links[body.name] = joint, link if link in own else own[0]
    return links


def _gather(
    theirs: pin.Model,
    geometry: pin.GeometryModel,
    match: Match,
    links: Mapping[str, tuple[str, str]],
    work: Work,
) -> _Parts:
    """Return parts in the frames of our joints, by joint, link and color."""
    parts: _Parts = defaultdict(list)
    shapes = list(geometry.geometryObjects)
    for k, shape in enumerate(shapes):
        work.count(k, len(shapes), "meshes")
        link = theirs.frames[shape.parentFrame].name
        if link not in links:
            continue
        joint, own = links[link]
        T_joint_shape = match.places[joint][1] * shape.placement
        for part, color in load_parts(shape):
            parts[joint, own, color].append(place(part, T_joint_shape))
    return parts


def _merge(parts: _Parts, work: Work) -> list[MakerMesh]:
    """Return one mesh for each joint, link and color, with few faces."""
    whole = {key: trimesh.util.concatenate(meshes) for key, meshes in parts.items()}
    n_all = sum(len(mesh.faces) for mesh in whole.values())
    share = min(1.0, _FACES / max(n_all, 1))
    made = []
    for k, ((joint, link, color), mesh) in enumerate(whole.items()):
        work.count(k, len(whole), "parts")
        small = simplify(mesh, max(_FEWEST, int(share * len(mesh.faces))))
        vertices = np.asarray(small.vertices, dtype=float)
        faces = np.asarray(small.faces, dtype=np.int64)
        made.append(MakerMesh(joint, link, vertices, faces, color))
    return made
