"""OpenArm and YAM as leaders, by CAN."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="OpenArm and YAM in a hand: they carry their weight and render torque.",
    config="paprle.leaders.damiao.config:DamiaoLeaderConfig",
    factory="paprle.leaders.damiao.leader:DamiaoLeader",
    verified="emulator",
    install="pip install 'paprle[damiao]'",
)
