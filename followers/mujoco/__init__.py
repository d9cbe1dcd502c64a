"""A dynamic robot in MuJoCo, built from its URDF."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Dynamic robot in MuJoCo: servos, gravity, contact, a block to grasp.",
    config="paprle.followers.mujoco.config:MujocoConfig",
    factory="paprle.followers.mujoco.follower:MujocoFollower",
    verified="simulator",
    install="pip install 'paprle[sim]'",
)
