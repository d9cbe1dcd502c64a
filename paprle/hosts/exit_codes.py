"""Exit codes of a session; 128 + n: ended by signal n."""

from __future__ import annotations

FAILED = 1
"""An error that nobody foresaw, or an end that is none of those below."""
REFUSED = 2
"""Refused before anything moved."""
LOST = 3
"""A process or a device was lost."""
NOT_FOLLOWED = 5
"""In place of 0 where nobody held the leader, and the robot did not follow for most."""
NOT_RECORDED = 6
"""In place of 0 and 128 + n where a part of the recording asked for is missing."""
EXIT_CODES = {"done": 0, "quit": 0, "stopped": 4, "cannot align": 5, "stalled": 5}
"""Exit code by end reason."""
