"""Sextant's arms."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Sextant S6 on the network, by goals at 200 Hz.",
    config="paprle_sextant.config:SextantConfig",
    factory="paprle_sextant.follower:SextantFollower",
    install="pip install sextant",
    packages=("sextant",),
)
