"""The feedback laws that are on, made from their settings."""

from __future__ import annotations

from paprle.contracts.settings.feedback import FeedbackSettings
from paprle.haptics.stability.check import Weighted
from paprle.plugins import find_plugin, load_factory

_DAMPING = frozenset({"damping", "friction"})
"""Laws that are no springs: scaled down, they would not be more stable."""


def make_laws(settings: FeedbackSettings) -> tuple[Weighted, ...]:
    """Construct the laws that are on.

    Args:
        settings: Section ``feedback``.

    Returns:
        The laws; those at their default gains may be scaled, where they render
        something stiff.
    """
    laws = []
    for name in getattr(settings.laws, "__dataclass_fields__", ()):
        config = getattr(settings.laws, name)
        if config is not None and config.weight > 0.0:
            law = load_factory(find_plugin("feedback", name))(config)
            is_default = config == type(config)()
            is_scalable = is_default and name not in _DAMPING
            laws.append(Weighted(name, law, config.weight, is_scalable))
    return tuple(laws)
