"""AdaptiX's five levels between real and virtual (X18).

Reference: Pascher et al., AdaptiX, PACM HCI 8, EICS 244, 2024, section 3.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

Level = Literal[1, 2, 3, 4, 5]
Side = Literal["off", "real", "simulated"]
"""Kind of a session's robot; off: the session has no levels."""


class Parts(NamedTuple):
    """Parts of a session that are on; ``cues`` None is the operator's choice."""

    real: bool
    simulated: bool
    environment: bool
    robot: bool
    cues: bool | None


LEVELS: Mapping[Level, Parts] = {
    1: Parts(real=True, simulated=False, environment=False, robot=False, cues=False),
    2: Parts(real=True, simulated=False, environment=False, robot=False, cues=True),
    3: Parts(real=False, simulated=True, environment=False, robot=True, cues=None),
    4: Parts(real=True, simulated=False, environment=True, robot=False, cues=None),
    5: Parts(real=False, simulated=True, environment=True, robot=True, cues=None),
}
"""Real alone; with cues; a virtual robot; a virtual environment; virtual alone."""

EVERYTHING = Parts(real=True, simulated=True, environment=True, robot=True, cues=True)
"""Parts that are on before a level is chosen."""


def find_parts(level: Level, *, has_cues: bool) -> Parts:
    """Return the parts of a level, with the operator's choice of cues."""
    parts = LEVELS[level]
    return parts._replace(cues=has_cues if parts.cues is None else parts.cues)


def is_driven(parts: Parts, side: Side) -> bool:
    """Return whether a robot follows its leader; a simulated one does."""
    return parts.real or side != "real"
