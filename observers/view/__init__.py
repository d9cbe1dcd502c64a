"""Browser page of a session."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="The robot as measured, as asked for, and its trail, in a browser.",
    config="paprle.observers.view.config:ViewConfig",
    factory="paprle.observers.view.observer:View",
    verified="simulator",
    install="pip install 'paprle[page]'",
    packages=("viser",),
)
