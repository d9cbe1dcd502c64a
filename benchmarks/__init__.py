"""Measurements of speed, memory and accuracy (``docs/performance.md``)."""

import sys
from pathlib import Path

from paprle.ipc.threads import limit_threads

limit_threads()  # as in the processes of a session

# rigs that tests and measurements share
_SUPPORT = Path(__file__).resolve().parents[1] / "tests/support"
sys.path.extend(str(folder) for folder in sorted(_SUPPORT.iterdir()))
