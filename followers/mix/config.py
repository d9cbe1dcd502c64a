"""YAML settings of an env made of others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Annotated, Any

from annotated_types import Gt, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.settings.plugin import FollowerSettings


@settings(slots=False)
class MixConfig(FollowerSettings):
    """The common rate, and a key for each limb's env."""

    rate: Annotated[
        float | None,
        Gt(0),
        Unit("Hz"),
        doc("How often all arms are written to; as the slowest one when absent."),
    ] = None

    @property
    def parts(self) -> Mapping[str, Any]:
        """Settings of each env, extending ``PartSettings``."""
        own = {field.name for field in fields(MixConfig)}
        names = [field.name for field in fields(self) if field.name not in own]
        return {name: getattr(self, name) for name in names}
