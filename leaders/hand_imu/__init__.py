"""A hand before a camera, with an optional wrist sensor."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="A bare hand before a camera (MediaPipe), an inertial sensor on its wrist.",
    config="paprle.leaders.hand_imu.config:HandImuConfig",
    factory="paprle.leaders.hand_imu.leader:HandImu",
    verified="emulator",
    install="pip install 'paprle[hand-imu]' # and see leaders/hand_imu/README.md",
)
