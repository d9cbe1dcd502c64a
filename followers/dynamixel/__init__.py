"""Arms of Dynamixel servos: ViperX, WidowX, OpenMANIPULATOR-X."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Arms of Dynamixel servos on a serial bus: ViperX, WidowX, "
    "OpenMANIPULATOR-X.",
    config="paprle.followers.dynamixel.config:DynamixelConfig",
    factory="paprle.followers.dynamixel.follower:DynamixelFollower",
    verified="emulator",
    install="pip install 'paprle[dynamixel]'",
    packages=("dynamixel_sdk",),
)
