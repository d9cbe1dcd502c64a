"""The active feedback laws."""

from __future__ import annotations

from paprle.contracts.settings.feedback import FeedbackSettings
from paprle.haptics.stability.check import Weighted
from paprle.plugins import find_plugin, load_factory

_DAMPING = frozenset({"damping", "friction"})
"""Laws that are no springs: scaled down, they would not be more stable."""


def make_laws(settings: FeedbackSettings) -> tuple[Weighted, ...]:
    """Return the active laws; stiff ones at default gains are scalable."""
    laws = []
    for name in getattr(settings.laws, "__dataclass_fields__", ()):
        config = getattr(settings.laws, name)
        if config is not None and config.weight > 0.0:
            law = load_factory(find_plugin("feedback", name))(config)
            is_default = config == type(config)()
            is_scalable = is_default and name not in _DAMPING
            laws.append(Weighted(name, law, config.weight, is_scalable))
    return tuple(laws)
