"""Active feedback laws."""

from __future__ import annotations

from collections.abc import Mapping

from paprle.contracts.settings.feedback import FeedbackSettings
from paprle.contracts.types import LeaderArm
from paprle.haptics.stability.check import Weighted
from paprle.plugins import find_plugin, load_factory

_DAMPING = frozenset({"damping", "friction"})
"""Laws that are no springs: scaled down, they would not be more stable."""

_ANY_SIZE = _DAMPING | {"effort", "gravity", "gripper"}
"""Laws whose gains suit arms of any size: ratios, and the grip of fingers."""

_OF_DRIVER = frozenset({"damping", "gravity"})
"""Laws that an arm's own driver renders, at once, where it carries the arm."""


def find_factors(
    laws: tuple[Weighted, ...], arm: LeaderArm | None
) -> Mapping[str, float]:
    """Return an arm's factors on laws; 0: not rendered."""
    if arm is None:
        return {}
    factors = {
        law.name: arm.law_scale
        for law in laws
        if law.is_scalable and law.name not in _ANY_SIZE
    }
    return factors | dict.fromkeys(_OF_DRIVER, 0.0) if arm.carries_itself else factors


def apply_factors(
    laws: tuple[Weighted, ...], factors: Mapping[str, float]
) -> tuple[Weighted, ...]:
    """Return the rendered laws with an arm's weights."""
    weighed = [(law, factors.get(law.name, 1.0)) for law in laws]
    return tuple(law._replace(weight=law.weight * f) for law, f in weighed if f)


def make_laws(settings: FeedbackSettings) -> tuple[Weighted, ...]:
    """Return active laws; stiff ones at defaults are scalable."""
    laws = []
    for name in getattr(settings.laws, "__dataclass_fields__", ()):
        config = getattr(settings.laws, name)
        if config is not None and config.weight > 0.0:
            law = load_factory(find_plugin("feedback", name))(config)
            is_default = config == type(config)()
            is_scalable = is_default and name not in _DAMPING
            laws.append(Weighted(name, law, config.weight, is_scalable))
    return tuple(laws)
