"""A policy as a leader."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Runs a policy on what the session shows: a callable, or an ONNX file.",
    config="paprle.leaders.policy.config:PolicyConfig",
    factory="paprle.leaders.policy.leader:Policy",
    verified="simulator",
    install="pip install 'paprle[policy]'",
)
