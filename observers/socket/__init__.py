"""Commands for a local program."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Commands in the units of data sets, to a program on a Unix socket.",
    config="paprle.observers.socket.config:SocketConfig",
    factory="paprle.observers.socket.observer:SocketObserver",
    verified="simulator",
)
