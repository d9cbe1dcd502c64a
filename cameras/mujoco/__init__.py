"""Robot and objects by MuJoCo."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Draws the robot and its objects as measured, anywhere on it or beside it.",
    config="paprle.cameras.mujoco.config:MujocoCameraConfig",
    factory="paprle.cameras.mujoco.camera:MujocoCamera",
    verified="simulator",
    install="pip install 'paprle[sim]'",
)
