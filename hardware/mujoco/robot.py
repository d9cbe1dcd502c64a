"""Robot from a URDF, with position servos.

kp = M ωₙ², kv = 2 ζ M ωₙ, M being the diagonal of SᵀM(q)S at home, with S from actuated
joints to all joints.
"""

from __future__ import annotations

import mujoco
import numpy as np

from paprle.hardware.mujoco.mechanism import (
    Mechanism,
    ModelOptions,
    Vec,
)
from paprle.hardware.mujoco.urdf import read_plain_urdf

DAMPING_RATIO = 1.0  # chosen: no overshoot

# spec: unitree_mujoco, G1's armature; a rotor of 4e-6 kg·m² behind a gear of 1:50.
_ARMATURE = 0.01  # [kg·m²]
_GRIPPER_ARMATURE = 0.001  # [kg·m²] chosen: a servo of a tenth of that size
_SLIDE_ARMATURE = 0.1  # [kg] chosen: the same rotor on a rack of 0.1 m radius, and less
_FRICTION = 2.0  # [rad/s²] chosen: dry friction that stops the joint at this rate

# chosen: a stiff gear, 2 steps of 1 ms; of longer steps MuJoCo takes 2, too (refsafe).
_MIMIC_SOLREF = (0.002, 1.0)
_MIMIC_SOLIMP = (0.99, 0.999, 0.001, 0.5, 2.0)
_SMALLEST_MASS = 1e-4  # [kg] chosen: frames without mass get this
_SMALLEST_INERTIA = 1e-7  # [kg·m²] chosen

_COLOURS = ((0.86, 0.87, 0.89, 1.0), (0.30, 0.33, 0.38, 1.0))


def make_robot_spec(mechanism: Mechanism, options: ModelOptions) -> mujoco.MjSpec:
    """Return the robot without servos."""
    spec = mujoco.MjSpec.from_string(read_plain_urdf(mechanism.urdf_path))
    spec.compiler.fusestatic = False
    spec.compiler.discardvisual = False
    spec.compiler.balanceinertia = True
    spec.compiler.boundmass = _SMALLEST_MASS
    spec.compiler.boundinertia = _SMALLEST_INERTIA
    _check_joints(spec, mechanism)
    for number, body in enumerate(b for b in spec.bodies if b.name != "world"):
        body.gravcomp = float(options.has_gravcomp)
        for geom in body.geoms:
            geom.rgba = _COLOURS[number % 2]
    for joint in spec.joints:
        joint.armature = _choose_armature(joint, mechanism, options.armature)
        joint.actgravcomp = int(joint.name in mechanism.joint_names)
    for mimic in mechanism.mimics:
        equality = spec.add_equality()
        equality.type = mujoco.mjtEq.mjEQ_JOINT
        equality.objtype = mujoco.mjtObj.mjOBJ_JOINT
        equality.name1, equality.name2 = mimic.joint, mimic.source
        equality.data[:2] = mimic.offset, mimic.multiplier
        equality.data[2:5] = 0.0
        equality.solref, equality.solimp = _MIMIC_SOLREF, _MIMIC_SOLIMP
    _add_payloads(spec, mechanism, options)
    return spec


def compute_lag(natural_frequency: float) -> float:
    """Return a servo's lag on a ramp, kv/kp, [s]."""
    return 2.0 * DAMPING_RATIO / natural_frequency


def set_home(model: mujoco.MjModel, data: mujoco.MjData, mechanism: Mechanism) -> None:
    """Put all joints at home, with kinematics."""
    q = dict(zip(mechanism.joint_names, mechanism.home, strict=True))
    for mimic in mechanism.mimics:
        q[mimic.joint] = mimic.multiplier * q[mimic.source] + mimic.offset
    for name, position in q.items():
        data.qpos[model.joint(name).qposadr[0]] = position
    mujoco.mj_forward(model, data)


def add_servos(
    spec: mujoco.MjSpec,
    mechanism: Mechanism,
    options: ModelOptions,
    inertias: Vec,
) -> None:
    """Add servos and dry friction.

    ``inertias`` have shape (n,), [kg·m²] or [kg].
    """
    scales = options.friction_scales or (1.0,) * len(mechanism.joint_names)
    joints = {joint.name: joint for joint in spec.joints}
    for name, inertia, scale in zip(
        mechanism.joint_names, inertias, scales, strict=True
    ):
        kp = inertia * options.natural_frequency**2
        kv = 2.0 * DAMPING_RATIO * inertia * options.natural_frequency
        joints[name].frictionloss = _FRICTION * inertia * scale
        servo = spec.add_actuator()
        servo.name, servo.target = name, name
        servo.trntype = mujoco.mjtTrn.mjTRN_JOINT
        servo.gaintype = mujoco.mjtGain.mjGAIN_FIXED
        servo.biastype = mujoco.mjtBias.mjBIAS_AFFINE
        servo.gainprm[0] = kp
        servo.biasprm[:3] = 0.0, -kp, -kv


def compute_inertias(
    model: mujoco.MjModel, data: mujoco.MjData, mechanism: Mechanism
) -> Vec:
    """Return each servo's inertia, shape (n,)."""
    columns = np.zeros((len(mechanism.joint_names), model.nv))
    for row, name in enumerate(mechanism.joint_names):
        columns[row, model.joint(name).dofadr[0]] = 1.0
        for mimic in mechanism.mimics:
            if mimic.source == name:
                dof = model.joint(mimic.joint).dofadr[0]
                columns[row, dof] = mimic.multiplier
    inertias = np.zeros(len(columns))
    momentum = np.zeros(model.nv)
    for row, column in enumerate(columns):
        mujoco.mj_mulM(model, data, momentum, column)
        inertias[row] = column @ momentum
    return inertias


def find_harmless_pairs(
    model: mujoco.MjModel, data: mujoco.MjData
) -> list[tuple[str, str]]:
    """Return overlapping links, and the base with its neighbours."""
    pairs = set()
    names = [model.body(k).name for k in range(model.nbody)]
    # The base is every body welded to the world.
    base = [k for k in range(1, model.nbody) if model.body_weldid[k] == 0]
    for k in range(1, model.nbody):
        root = model.body_weldid[k]
        is_next = root != 0 and model.body_weldid[model.body_parentid[root]] == 0
        if is_next and model.body_geomnum[k]:
            pairs |= {(names[b], names[k]) for b in base if model.body_geomnum[b]}
    for contact in data.contact:
        first, second = (model.geom_bodyid[g] for g in (contact.geom1, contact.geom2))
        if contact.dist < 0:
            pairs.add((names[min(first, second)], names[max(first, second)]))
    return sorted(pairs)


def _check_joints(spec: mujoco.MjSpec, mechanism: Mechanism) -> None:
    known = {joint.name for joint in spec.joints}
    asked = [*mechanism.joint_names, *(mimic.joint for mimic in mechanism.mimics)]
    missing = [name for name in asked if name not in known]
    if missing:
        raise ValueError(
            f"{mechanism.urdf_path}: expected joints {', '.join(missing)}, got "
            f"{', '.join(sorted(known))}"
        )


def _choose_armature(
    joint: mujoco.MjsJoint, mechanism: Mechanism, given: float | None
) -> float:
    if joint.type == mujoco.mjtJoint.mjJNT_SLIDE:
        return _SLIDE_ARMATURE
    if given is not None:
        return given
    followers = {m.joint for m in mechanism.mimics if m.source in mechanism.grippers}
    is_finger = joint.name in followers or joint.name in mechanism.grippers
    return _GRIPPER_ARMATURE if is_finger else _ARMATURE


def _add_payloads(
    spec: mujoco.MjSpec, mechanism: Mechanism, options: ModelOptions
) -> None:
    links = {body.name: body for body in spec.bodies}
    for link, mass in zip(mechanism.eef_links, options.payloads, strict=False):
        if mass > 0:
            body = links[link].add_body()
            body.name = f"payload_{link}"
            geom = body.add_geom()
            geom.type = mujoco.mjtGeom.mjGEOM_SPHERE
            geom.size[0] = 0.01
            geom.mass = mass
            geom.contype = geom.conaffinity = 0
