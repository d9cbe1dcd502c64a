"""Arms of Feetech bus servos: SO-101 and SO-100."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Arms of Feetech STS3215 servos on a serial bus: SO-101, SO-100.",
    config="paprle.followers.feetech.config:FeetechConfig",
    factory="paprle.followers.feetech.follower:FeetechFollower",
    verified="emulator",
    install="pip install 'paprle[so101]'",
    packages=("scservo_sdk",),
)
