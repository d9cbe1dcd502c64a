"""Joints of a limb from partial messages."""

from __future__ import annotations

import numpy as np

from paprle.contracts.kit.joint_streams import (
    Alternation,
    AmbiguousNamesError,
    match_names,
)
from paprle.contracts.types import LimbCommand
from paprle.hardware.ros.joints import Joints
from paprle.hardware.ros.messages import MessageError
from paprle.leaders.ros.captures import Captures
from paprle.leaders.ros.config import LimbConfig

_MOST_NAMES = 1000  # chosen: a sender that makes up names fills no memory


class LimbParts:
    """Newest position and times of each joint.

    Attributes:
        refusal: Reason against the topic, or empty.
    """

    def __init__(self, name: str, config: LimbConfig, longest: float) -> None:
        self._name, self._config = name, config
        gripper = config.gripper
        self._wanted = (*config.joints, *([gripper.joint] if gripper else []))
        self._seen: dict[str, None] = {}
        self._came: dict[str, str] = {}
        self._q = np.full(len(self._wanted), np.nan)
        self.times = Captures(len(self._wanted), longest)
        self._alternations = [Alternation() for _ in self._wanted]
        self.refusal = ""

    def find_missing(self) -> str:
        """Return the joints without a value."""
        missing = [n for n, q in zip(self._wanted, self._q, strict=True) if np.isnan(q)]
        if not missing:
            return ""
        heard = f" (joints there: {', '.join(self._seen)})" if self._seen else ""
        return f"joints {', '.join(missing)} on {self._config.topic}{heard}"

    def take(
        self, joints: Joints, now_ns: int, source_ns: int = 0
    ) -> LimbCommand | None:
        """Return the limb's command, once complete, after a message.

        Args:
            joints: The message.
            now_ns: Arrival, [ns].
            source_ns: Sending time, see ``Captures.note``.

        Raises:
            MessageError: If a position is not finite, names are ambiguous, or
                publishers contradict each other.
        """
        if any(name not in self._seen for name in joints.names):
            self._match(joints.names)
        if self.refusal:
            raise MessageError(self.refusal)
        by_name = dict(zip(joints.names, joints.q.tolist(), strict=True))
        told = [
            (k, by_name[came])
            for k, name in enumerate(self._wanted)
            if (came := self._came.get(name)) in by_name
        ]
        if not np.isfinite([q for _, q in told]).all():
            raise MessageError(f"{self._config.topic}: expected finite positions")
        for k, q in told:
            if self._alternations[k].add(now_ns * 1e-9, q):
                self.refusal = (
                    f"limb '{self._name}': positions of '{self._wanted[k]}' on "
                    f"{self._config.topic} alternate between two motions, as of two "
                    "publishers; end one of them and start again"
                )
                raise MessageError(self.refusal)
            self._q[k] = q
        if told:
            ours = [k for k, _ in told]
            self.times.note(ours, joints.stamp_ns, source_ns, now_ns)
        return self._make_command() if told and np.isfinite(self._q).all() else None

    def _match(self, names: tuple[str, ...]) -> None:
        if len(self._seen) < _MOST_NAMES:
            self._seen |= dict.fromkeys(names)
        try:
            came = match_names(self._wanted, self._seen, self._name)
        except AmbiguousNamesError as err:
            self.refusal = (
                f"limb '{self._name}': expected joints of one arm on "
                f"{self._config.topic}, got {err}; name those that are meant in "
                f"leader.limbs.{self._name}.joints"
            )
            return
        self._came = came

    def _make_command(self) -> LimbCommand:
        gripper, opening = self._config.gripper, None
        if gripper is not None:
            span = gripper.open - gripper.closed
            opening = float(np.clip((self._q[-1] - gripper.closed) / span, 0.0, 1.0))
        q = self._q[: len(self._config.joints)].copy()
        return LimbCommand(q=q, opening=opening)
