"""Validation of limb settings against a URDF."""

from __future__ import annotations

from collections.abc import Mapping

from paprle.contracts.errors import suggest
from paprle.contracts.settings.core import GripperSettings, LimbSettings
from paprle.contracts.types import GripperInfo, LimbInfo
from paprle.robot.chain import Step, chain_between
from paprle.robot.tree import Urdf, flat_mimics


class LimbResolver:
    """Validator of limb settings; ``steps`` lead from base to eef."""

    def __init__(self, urdf: Urdf, problems: list[str]) -> None:
        self.urdf = urdf
        self.problems = problems
        self.steps: dict[str, list[Step]] = {}
        self._actuated = {j.name: j for j in urdf.joints if j.is_actuated}
        self._owner: dict[str, str] = {}

    def resolve(self, limbs: Mapping[str, LimbSettings]) -> tuple[LimbInfo, ...]:
        """Return the limbs without mistakes; ``problems`` has the others'."""
        grippers = {s.gripper.joint for s in limbs.values() if s.gripper}
        found = [self._limb(name, s, grippers) for name, s in limbs.items()]
        return tuple(limb for limb in found if limb is not None)

    def _limb(
        self, name: str, settings: LimbSettings, grippers: set[str]
    ) -> LimbInfo | None:
        where = f"limbs.{name}"
        n_before = len(self.problems)
        for key in ("base_link", "eef_link"):
            link = getattr(settings, key)
            if link not in self.urdf.links:
                self.problems.append(
                    f"{where}.{key}: expected a link of {self.urdf.path.name}, got "
                    f"{link!r}; {suggest(link, self.urdf.links)}"
                )
        if len(self.problems) > n_before:
            return None
        steps = chain_between(self.urdf, settings.base_link, settings.eef_link)
        names = self._joints(where, settings, steps, grippers)
        self._check_copies(where, steps, names)
        gripper = self._gripper(where, settings.gripper)
        if gripper is not None and gripper.joint in names:
            self.problems.append(
                f"{where}.gripper.joint: expected a joint that is not in "
                f"{where}.joints, got {gripper.joint}"
            )
        for joint in (*names, *([gripper.joint] if gripper else [])):
            owner = self._owner.setdefault(joint, name)
            if owner != name:
                self.problems.append(
                    f"{where}: expected joints of no other limb, got {joint}, which "
                    f"limbs.{owner} has; name the joints of each limb"
                )
        if len(self.problems) > n_before:
            return None
        self.steps[name] = steps
        return LimbInfo(
            name=name,
            base_link=settings.base_link,
            eef_link=settings.eef_link,
            joint_names=names,
            gripper=gripper,
        )

    def _joints(
        self, where: str, settings: LimbSettings, steps: list[Step], grippers: set[str]
    ) -> tuple[str, ...]:
        on_way = [j.name for j, _ in steps if j.is_actuated]
        wanted = settings.joints
        if wanted is None:
            wanted = tuple(name for name in on_way if name not in grippers)
        for name in dict.fromkeys(wanted):
            if name not in on_way or wanted.count(name) > 1:
                self.problems.append(
                    f"{where}.joints: expected each joint between {settings.base_link} "
                    f"and {settings.eef_link} once, got {name!r}; "
                    f"{suggest(name, on_way)}"
                )
        if not wanted:
            self.problems.append(
                f"{where}: expected movable joints between {settings.base_link} and "
                f"{settings.eef_link}, got none"
            )
        if settings.home is not None and len(settings.home) != len(wanted):
            self.problems.append(
                f"{where}.home: expected {len(wanted)} positions "
                f"({', '.join(wanted)}), got {len(settings.home)}"
            )
        return tuple(name for name in on_way if name in wanted)

    def _check_copies(
        self, where: str, steps: list[Step], names: tuple[str, ...]
    ) -> None:
        """Refuse copies before their source: pinocchio cannot have them."""
        passed: set[str] = set()
        sources = {mimic.joint: mimic.source for mimic in flat_mimics(self.urdf)}
        for joint, _ in steps:
            source = sources.get(joint.name)
            if source in names and source not in passed:
                self.problems.append(
                    f"{where}: expected joints that are copied to come before their "
                    f"copies, got {joint.name} before {source}"
                )
            passed.add(joint.name)

    def _gripper(
        self, where: str, settings: GripperSettings | None
    ) -> GripperInfo | None:
        if settings is None:
            return None
        if settings.joint not in self._actuated:
            sources = {j.name: j.mimic.source for j in self.urdf.joints if j.mimic}
            hint = suggest(settings.joint, self._actuated)
            if settings.joint in sources:
                hint = f"it mimics {sources[settings.joint]}: name that one"
            self.problems.append(
                f"{where}.gripper.joint: expected an actuated joint, got "
                f"{settings.joint!r}; {hint}"
            )
        if settings.closed == settings.open:
            self.problems.append(
                f"{where}.gripper: expected closed and open to differ, got "
                f"{settings.open:g} twice"
            )
        return GripperInfo(
            joint=settings.joint, closed=settings.closed, open=settings.open
        )
