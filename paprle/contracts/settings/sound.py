"""Settings of leaders with sound."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Le, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.types import Renders


@settings
class SoundSettings:
    """Loudness of contact and warnings."""

    sound: Annotated[
        float,
        Ge(0),
        Le(1),
        Unit("1"),
        doc("Loudness of tones for contact and warnings (paprle[sound]); 0: none."),
    ] = 0.0

    @property
    def renders(self) -> Renders:
        """Kind of output that renders ``Feedback``: sound or none."""
        return "sound" if self.sound > 0.0 else "none"
