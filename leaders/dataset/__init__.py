"""Plays datasets' episodes."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Plays datasets, episode by episode: LeRobot v3, UMI zarr, ALOHA HDF5.",
    config="paprle.leaders.dataset.config:DatasetConfig",
    factory="paprle.leaders.dataset.leader:Dataset",
    verified="simulator",
    install="pip install 'paprle[data]'",
)
