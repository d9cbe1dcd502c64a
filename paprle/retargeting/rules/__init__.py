"""The rules by which leaders drive limbs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paprle.retargeting.rules.axes import AxesRule
from paprle.retargeting.rules.base import LimbRule
from paprle.retargeting.rules.joints import JointsRule
from paprle.retargeting.rules.look_at import LookAtRule
from paprle.retargeting.rules.poses import AbsoluteRule, RelativeRule

RULES: Mapping[str, type[LimbRule[Any]]] = {
    "joints": JointsRule,
    "relative": RelativeRule,
    "absolute": AbsoluteRule,
    "axes": AxesRule,
    "look_at": LookAtRule,
}
"""Every rule there is; ``retarget.limbs.<limb>.rule`` names one of them, or ``hold``,
which is none."""
