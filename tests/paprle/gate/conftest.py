"""What the gate's tests share."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def numba_errors():
    """Let division by zero give inf or NaN uncompiled, too, as it does compiled."""
    with np.errstate(all="ignore"):
        yield
