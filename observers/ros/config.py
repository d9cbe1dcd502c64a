"""Settings below ``paprle.observers.ros``."""

from __future__ import annotations

from typing import Annotated

from annotated_types import doc

from paprle.contracts.kit.motion_cues import CueSettings
from paprle.contracts.settings.base import settings
from paprle.hardware.ros.transports.choice import NodeSettings


@settings
class RosObserverConfig(NodeSettings):
    """Settings of the node and its topics."""

    namespace: Annotated[str, doc("Before the topics that are ours alone.")] = "/paprle"
    evaluator: Annotated[
        bool,
        doc(
            "LIMB/target_pose, actual_pose, ik_delay_ms, target_metric and metrics, "
            "as ARBot's evaluator has them."
        ),
    ] = True
    command: Annotated[bool, doc("The gate's command, a JointState on command.")] = (
        False
    )
    joint_states: Annotated[
        bool, doc("The measured joints on /joint_states; not where the robot does so.")
    ] = False
    tf: Annotated[bool, doc("Measured links on /tf and /tf_static.")] = False
    cues: Annotated[
        CueSettings | None,
        doc("Where axes lead, and suggestions, a MarkerArray on cues; null: not."),
    ] = None
    frame_prefix: Annotated[str, doc("Before the names of links, in tf and poses.")] = (
        ""
    )
    description: Annotated[bool, doc("The URDF on /robot_description, latched.")] = (
        False
    )

    def __post_init__(self) -> None:
        if self.cues is not None and self.cues.attached == "view":
            raise ValueError(
                "cues attached to tool or world, not 'view': markers stand in a frame "
                "of the robot, and nobody tells where RViz looks from"
            )
