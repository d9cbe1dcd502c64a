"""Settings of the core, one class a section."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields, replace
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, Le, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.settings.latency import LatencySettings
from paprle.contracts.settings.limits import LimitSettings


@settings
class GripperSettings:
    """A gripper: one actuated joint."""

    joint: Annotated[str, doc("URDF joint that opens and closes the gripper.")]
    closed: Annotated[float, Unit("rad or m"), doc("Joint position at opening 0.")]
    open: Annotated[float, Unit("rad or m"), doc("Joint position at opening 1.")]


@settings
class LimbSettings:
    """A limb: the chain between two links."""

    base_link: Annotated[str, doc("Link in which poses of this limb are expressed.")]
    eef_link: Annotated[str, doc("End-effector link.")]
    joints: Annotated[
        tuple[str, ...] | None,
        doc("Joints of the limb in order; all movable ones of the chain when absent."),
    ] = None
    home: Annotated[
        tuple[float, ...] | None, Unit("rad"), doc("Home position, one per joint.")
    ] = None
    gripper: Annotated[GripperSettings | None, doc("Its gripper, if it has one.")] = (
        None
    )


@settings
class RobotSettings:
    """A robot: a URDF, limbs by name, limits that only tighten the URDF's."""

    urdf: Annotated[
        str, Unit("path"), doc("URDF, relative to the workspace or absolute.")
    ]
    limbs: Annotated[
        Mapping[str, LimbSettings] | None, doc("Limbs by name; found when absent.")
    ] = None
    hold: Annotated[
        Mapping[str, float],
        Unit("rad"),
        doc("Where joints in no limb hold, by name; 0 (within limits) when absent."),
    ] = field(default_factory=dict)
    limits: Annotated[LimitSettings, doc("Limits.")] = field(
        default_factory=LimitSettings
    )
    ignore_collisions: Annotated[
        tuple[tuple[str, str], ...],
        doc("Pairs of links, or of named collision bodies, to leave out."),
    ] = ()
    envs: Annotated[
        Mapping[str, Any], doc("What this robot needs in an env, over the env's YAML.")
    ] = field(default_factory=dict)


@settings
class LimbIkSettings:
    """Inverse kinematics of one limb."""

    tol_pos: Annotated[float | None, Gt(0), Unit("m"), doc("As ik.tol_pos.")] = None
    tol_rot: Annotated[float | None, Gt(0), Unit("rad"), doc("As ik.tol_rot.")] = None
    max_iterations: Annotated[
        int | None, Ge(1), Le(1000), doc("As ik.max_iterations.")
    ] = None
    damping: Annotated[float | None, Gt(0), Unit("1"), doc("As ik.damping.")] = None
    sigma_min: Annotated[float | None, Gt(0), Unit("1"), doc("As ik.sigma_min.")] = None
    rotation_weight: Annotated[
        float | None, Ge(0), Unit("m/rad"), doc("As ik.rotation_weight.")
    ] = None
    max_step: Annotated[float | None, Gt(0), Unit("rad"), doc("As ik.max_step.")] = None
    free_axis: Annotated[
        Literal["none", "x", "y", "z"] | None, doc("As ik.free_axis.")
    ] = None


@settings
class IkSettings:
    """Inverse kinematics."""

    tol_pos: Annotated[float, Gt(0), Unit("m"), doc("Converged below this error.")] = (
        1e-6
    )
    tol_rot: Annotated[
        float, Gt(0), Unit("rad"), doc("Converged below this error.")
    ] = 1e-6
    max_iterations: Annotated[int, Ge(1), Le(1000), doc("Iterations a solve.")] = 20
    damping: Annotated[
        float, Gt(0), Unit("1"), doc("λ₀: the damping at a singularity.")
    ] = 0.05
    sigma_min: Annotated[
        float, Gt(0), Unit("1"), doc("ε: damping sets in below this singular value.")
    ] = 0.04
    rotation_weight: Annotated[
        float,
        Ge(0),
        Unit("m/rad"),
        doc("Weight of rotation against translation; 0: position alone."),
    ] = 0.2
    max_step: Annotated[
        float, Gt(0), Unit("rad"), doc("Largest joint change a solve may make.")
    ] = 0.2
    free_axis: Annotated[
        Literal["none", "x", "y", "z"],
        doc("Axis of the eef about which it may turn freely: a tool without a side."),
    ] = "none"
    mobility: Annotated[
        Mapping[str, Annotated[float, Ge(0)]],
        doc("Joint mobility weights W by joint; 1 where absent; lower moves less."),
    ] = field(default_factory=dict)
    limbs: Annotated[
        Mapping[str, LimbIkSettings], doc("What differs, by limb of the follower.")
    ] = field(default_factory=dict)

    def of_limb(self, limb: str) -> IkSettings:
        """Return the settings of one limb."""
        own = self.limbs.get(limb)
        if own is None:
            return self
        given = {f.name: getattr(own, f.name) for f in fields(own)}
        return replace(self, **{k: v for k, v in given.items() if v is not None})


@settings
class SceneBodySettings:
    """A body in the robot's root link."""

    shape: Annotated[
        Literal["box", "sphere", "cylinder", "capsule", "ground"],
        doc("What it is; a ground is all that is below its own xy plane."),
    ]
    size: Annotated[
        tuple[float, ...],
        Unit("m"),
        doc(
            "box: x, y, z; sphere: radius; cylinder: radius, length along z; capsule: "
            "radius, length along z without its ends; ground: none."
        ),
    ] = ()
    xyz: Annotated[
        tuple[float, float, float], Unit("m"), doc("Where its centre is.")
    ] = (0.0, 0.0, 0.0)
    rpy: Annotated[
        tuple[float, float, float],
        Unit("rad"),
        doc("How it is turned: about fixed x, then y, then z, as in a URDF."),
    ] = (0.0, 0.0, 0.0)


@settings
class GateSettings:
    """The safety gate (docs/SAFETY.md)."""

    position_margin: Annotated[
        float, Ge(0), Unit("rad"), doc("Kept from arm position limits (M2).")
    ] = 0.02
    clearance_self: Annotated[
        float,
        Ge(0),
        Le(0.5),
        Unit("m"),
        doc("Kept between bodies of the robot; less where home has less (C1)."),
    ] = 0.01
    clearance_scene: Annotated[
        float,
        Ge(0),
        Le(0.5),
        Unit("m"),
        doc("Kept between robot and scene; less where home has less (C1)."),
    ] = 0.02
    scene: Annotated[
        Mapping[str, SceneBodySettings], doc("Bodies beside the robot, by name.")
    ] = field(default_factory=dict)
    reduced_scale: Annotated[
        float, Gt(0), Le(1), Unit("1"), doc("Share of V in slow, reduced mode.")
    ] = 0.25
    tool_speed: Annotated[
        float | None,
        Gt(0),
        Unit("m/s"),
        doc("Speed limit of end-effectors (C2); null: none."),
    ] = 2.0  # chosen: a hand seldom moves faster, nor do arms made to work beside one
    reduced_tool_speed: Annotated[
        float, Gt(0), Unit("m/s"), doc("The same in slow, reduced mode.")
    ] = 0.25
    singularity: Annotated[
        float,
        Ge(0),
        Unit("1"),
        doc(
            "Motion towards a singularity is slowed below this smallest singular value "
            "(C3); 0: never. IK damps below ik.sigma_min."
        ),
    ] = 0.0
    solver: Annotated[
        Literal["daqp", "osqp"],
        doc("Solver of periods in which something is near; osqp is the reference."),
    ] = "daqp"
    accept_unattended: Annotated[
        bool,
        doc(
            "Drive a robot that goes on with its last command when nobody speaks to "
            "it any more: if the gate is killed, only a hardware stop ends it (K3)."
        ),
    ] = False
    stale_after: Annotated[
        float, Gt(0), Le(0.5), Unit("s"), doc("Commands older than this brake (A1).")
    ] = 0.1
    latch_after: Annotated[
        float, Gt(0), Unit("s"), doc("Commands older than this latch STOPPED (A1).")
    ] = 1.0
    state_latch_after: Annotated[
        float, Gt(0), Unit("s"), doc("Follower states older than this latch (L3).")
    ] = 0.25
    lag_bound: Annotated[
        float, Gt(0), Unit("rad"), doc("E: how far q_meas may stay behind (L1).")
    ] = 0.15
    lag_time: Annotated[
        float, Gt(0), Unit("s"), doc("For how long it may be farther than E (L1).")
    ] = 0.1
    overspeed_factor: Annotated[
        float, Gt(1), Unit("1"), doc("Measured over commanded speed that stops (L2).")
    ] = 1.2
    overspeed_margin: Annotated[
        float, Gt(0), Unit("rad/s"), doc("Added to the commanded speed in L2.")
    ] = 0.5
    implausible_time: Annotated[
        float, Gt(0), Unit("s"), doc("For how long motion may be implausible (L2).")
    ] = 0.05


@settings
class SessionSettings:
    """The session."""

    rate: Annotated[float, Ge(1), Le(1000), Unit("Hz"), doc("Rate of the tick.")] = (
        200.0
    )
    clock: Annotated[
        Literal["wall", "virtual"],
        doc("virtual: leader, tick, gate and a simulated follower in lock-step."),
    ] = "wall"
    episodes: Annotated[
        int | None,
        Ge(1),
        doc("End after this many kept episodes; absent: until quit."),
    ] = None
    duration: Annotated[
        float | None, Gt(0), Unit("s"), doc("End each episode after this time.")
    ] = None
    reset_time: Annotated[
        float,
        Ge(0),
        Le(600),
        Unit("s"),
        doc(
            "Time to set the scene up again between two episodes: a leader that "
            "starts by itself waits for it, or for Enter; a person sees and hears it."
        ),
    ] = 0.0
    speed: Annotated[
        float,
        Gt(0),
        Le(1),
        Unit("1"),
        doc("Share of V in slow moves; grippers: three times that."),
    ] = 0.2
    reduced: Annotated[
        bool,
        doc(
            "Engaged, too, the robot keeps to gate.reduced_scale of V and to "
            "gate.reduced_tool_speed (C2): for a first run with a robot."
        ),
    ] = False
    start_bound: Annotated[
        float,
        Gt(0),
        Unit("rad"),
        doc("Largest joint distance a human leader may start from (S1)."),
    ] = 0.8
    max_gap: Annotated[
        float, Gt(0), Unit("s"), doc("Leader samples older than this disengage (A1).")
    ] = 0.1
    status: Annotated[bool, doc("Show the live status line.")] = True
    view: Annotated[
        bool,
        doc(
            "Serve a page of this machine (observers.view) where the session has a "
            "terminal, or a leader is moved at the page; console=off switches it off."
        ),
    ] = True
    objects: Annotated[
        tuple[str, ...],
        doc("Names of objects that the operator places by hand, at the page."),
    ] = ()
    bell: Annotated[
        bool, doc("Ring the terminal's bell when an operator has to look or to act.")
    ] = True
    close_policy: Annotated[
        Literal["hold", "park", "off"], doc("How the follower is left at the end (K4).")
    ] = "hold"
    park_timeout: Annotated[
        float, Ge(0), Le(60), Unit("s"), doc("Longest time the park may take.")
    ] = 15.0


@settings
class RecordSettings:
    """The recording."""

    dir: Annotated[
        str | None,
        Unit("path"),
        doc("Folder of the episodes; nothing is recorded when absent."),
    ] = None
    flush: Annotated[
        float, Gt(0), Le(0.05), Unit("s"), doc("Chunks reach the kernel this often.")
    ] = 0.02
    planned_time: Annotated[
        float, Gt(0), Unit("s"), doc("Free space is asked for twice this much data.")
    ] = 600.0
    task: Annotated[str, doc("What the operator was told to do.")] = ""
    subtasks: Annotated[
        tuple[str, ...],
        doc("Parts of the task in order; the first begins with the episode."),
    ] = ()
    latency: Annotated[
        LatencySettings | None, doc("What `paprle latency` measured of this rig.")
    ] = None


@settings
class ObserverSettings:
    """Observers of a running session; one key for each observer there is."""

    rate: Annotated[
        float, Ge(1), Le(500), Unit("Hz"), doc("How often observers are told.")
    ] = 100.0


@settings
class LinkSettings:
    """A follower on another host (docs/remote.md); on this one without ``peer``."""

    peer: Annotated[
        str | None, doc("Address of the other host; absent: there is none.")
    ] = None
    key: Annotated[
        str | None, Unit("path"), doc("File with the secret that both hosts share.")
    ] = None
    type: Annotated[str, doc("What carries it: a plug-in of links.")] = "dds"
    interface: Annotated[
        str, doc("This host's network: auto, or an interface's name or address.")
    ] = "auto"
    domain: Annotated[
        int, Ge(0), Le(232), doc("DDS domain of both hosts; over UDP two ports.")
    ] = 0
    emulate: Annotated[
        str | None,
        doc(
            "A bad network that is played: a CSV of hardware/net, or 802.11ac, "
            "802.11b, 4g, 5g, acceptance, far, lossy. At one host, it is both ways; "
            "without peer a leader here is led over it."
        ),
    ] = None
    seed: Annotated[int, Ge(0), doc("What chances of emulate come from.")] = 0
    repeats: Annotated[
        int,
        Ge(0),
        Le(8),
        doc("Captures of a leader that share each datagram with the newest."),
    ] = 3
