"""Measured delays of a rig."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Le, Unit, doc

from paprle.contracts.settings.base import settings


@settings
class LatencyOrigin:
    """Leader, follower and env to which a measurement applies."""

    leader: Annotated[str, doc("The leader.")]
    follower: Annotated[str, doc("The robot.")]
    env: Annotated[str, doc("Its environment.")]


Delay = Annotated[float, Ge(0), Le(10), Unit("s")]
"""A latency; the median unless its name says p99."""


@settings
class LatencySettings:
    """Results of ``paprle latency``, in the site's settings."""

    measured_with: Annotated[LatencyOrigin, doc("Whose latencies these are.")]
    capture_to_command: Annotated[
        Delay | None, doc("From a leader's sample to the command that rests on it.")
    ] = None
    capture_to_command_p99: Annotated[
        Delay | None, doc("Of 100 samples, one takes longer.")
    ] = None
    command_to_motion: Annotated[
        Delay | None, doc("From a command to the joints that do it.")
    ] = None
    sample_to_motion: Annotated[
        Delay | None, doc("From a leader's sample to the robot's motion.")
    ] = None
    photon_to_photon: Annotated[
        Delay | None, doc("Between two places that one camera saw.")
    ] = None
    photon_spread: Annotated[
        Delay | None, doc("Half of all windows of that film are within this.")
    ] = None
