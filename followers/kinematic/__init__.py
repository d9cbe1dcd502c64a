"""A robot without dynamics, with an optional lag."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Ideal robot without dynamics, or with a stated lag and dead time.",
    config="paprle.followers.kinematic.config:KinematicConfig",
    factory="paprle.followers.kinematic.follower:KinematicFollower",
    verified="simulator",
)
