"""AgileX PiPER arms on CAN, by the vendor's SDK."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="AgileX PiPER on its own CAN bus: socketcan, slcan, or the emulated arm.",
    config="paprle.followers.piper.config:PiperConfig",
    factory="paprle.followers.piper.follower:PiperFollower",
    verified="emulator",
    install="pip install 'paprle[piper]'",
)
