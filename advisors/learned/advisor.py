"""Advisor: columns of D from a provider."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paprle.advisors.learned.columns import Columns
from paprle.advisors.learned.config import LearnedConfig
from paprle.advisors.learned.numbers import read_numbers
from paprle.contracts.axes import N_FREEDOMS, compute_difference
from paprle.contracts.errors import CommandError, ConfigError, DeviceError, opening
from paprle.contracts.images import EXACT
from paprle.contracts.kit.callables import load_callable
from paprle.contracts.kit.named_objects import find_object
from paprle.contracts.plugins import (
    Advisor,
    CameraInfo,
    Clock,
    Frame,
    Record,
    SessionView,
    make_advice_dtype,
)
from paprle.contracts.types import LimbInfo, RobotInfo, Vec
from paprle.contracts.urdf.link_poses import LinkPoses
from paprle.hardware.onnx.network import Network, NetworkError

if TYPE_CHECKING:
    from paprle.observation.live import Images

Provider = Callable[[Mapping[str, Any]], Any]
"""Returns a covariance, shape (7, 7), or it and a mean, shape (7,); None: no advice."""

ADVICE = make_advice_dtype(
    ("D", "f8", (N_FREEDOMS, N_FREEDOMS)),  # in the eef's axes, best first
    ("variances", "f8", (N_FREEDOMS,)),  # of the columns
    ("difference", "f8"),  # of the best from what is in use; NaN: nothing is
    ("n_refused", "i8"),  # answers that could not be used
)

_TRAINED = Path(__file__).with_name("grasp.onnx")
_DOWN = np.array([0.0, 0.0, -1.0])
_INSTALL = "install it with: pip install 'paprle[policy]'"
_WHERE = "advisors.learned"


class Learned(Advisor):
    """Suggestions by the variation of demonstrated motions."""

    config: LearnedConfig
    _links: LinkPoses | None
    _provider: Provider | None
    _warnings: list[str]

    def __init__(
        self,
        config: LearnedConfig,
        robot: RobotInfo,
        cameras: Mapping[str, CameraInfo],
        clock: Clock,
    ) -> None:
        """Raise ConfigError for a missing limb or camera."""
        super().__init__(config, robot, cameras, clock)
        self._limb = _find(robot.limbs, config.limb)
        unknown = [name for name in config.cameras if name not in cameras]
        if unknown:
            raise ConfigError(
                f"{_WHERE}.cameras: expected cameras of the session "
                f"({', '.join(cameras) or 'none'}), got {', '.join(unknown)}"
            )
        self._links = self._provider = None
        self._images: dict[str, Images] = {}
        self._start()

    @property
    def advice(self) -> np.dtype[np.void]:
        """Layout: seven columns, variances, distance from the active one."""
        return ADVICE

    def open(self) -> None:
        """Load the provider and the URDF.

        Raises:
            DeviceError: If one cannot be read.
        """
        from paprle.observation.live import Images  # noqa: PLC0415 - loads the robot's kernels

        self._start()
        self._images = {
            name: Images(self.cameras[name])
            for name in self.config.cameras
            if self.cameras[name].encoding not in EXACT
        }
        if self.config.function:
            key = f"{_WHERE}.function"
            self._provider = load_callable(self.config.function, key)
        else:
            with opening(f"{_WHERE}.path", _INSTALL, NetworkError):
                self._provider = Network(Path(self.config.path or _TRAINED))
        try:
            self._links = LinkPoses(self.robot)
        except ValueError as err:
            raise DeviceError(f"{_WHERE}: {err}") from err

    def advise(self, view: SessionView, frames: Mapping[str, Frame]) -> Record | None:
        """Return suggestions; invalid without a usable answer."""
        if self._links is None or self._provider is None:
            return None
        record = self.make_advice(view.measured_ns, valid=False)
        seen = self._see(view, frames, self._links)
        if seen is not None:
            try:
                said = self._provider(seen)
                if said is not None:
                    self._fill(record, *_unpack(said))
                    self._compare(record, view.mappings.get(self._limb.name))
            except Exception as err:  # noqa: BLE001 - it is anybody's code
                self._refuse(f"{type(err).__name__}: {err}")
        record["n_refused"] = self._n_refused
        return record

    def take_warnings(self) -> Sequence[str]:
        """Return the first refusal of each series."""
        told, self._warnings = self._warnings, []
        return told

    def close(self) -> None:
        """Release the provider; may be called twice."""
        self._links = self._provider = None

    def _start(self) -> None:
        self._columns, self._n_refused = Columns(self.config.alike), 0
        self._warnings, self._is_told = [], False

    def _see(
        self, view: SessionView, frames: Mapping[str, Frame], links: LinkPoses
    ) -> dict[str, Any] | None:
        if not np.isfinite(view.q).all():
            return None
        seen: dict[str, Any] = {"q": view.q.astype(np.float32)}
        for name in self.config.cameras:
            if name not in frames:
                return None
            try:
                seen |= self._read_image(name, frames[name])
            except CommandError as err:
                self._refuse(str(err))
                return None
        links.update(view.q)
        thing = find_object(view, self.config.object)
        place = find_object(view, self.config.target)
        if thing is not None and place is not None:
            T = links.place(self._limb.eef_link)
            state = [
                T.actInv(thing.pose[:3]),
                T.actInv(place.pose[:3]),
                T.rotation.T @ _DOWN,
            ]
            seen["state"] = np.concatenate([*state, self._read_openings(view)]).astype(
                np.float32
            )
        elif not self.config.cameras:
            return None
        return seen

    def _read_image(self, name: str, frame: Frame) -> dict[str, Any]:
        info = self.cameras[name]
        if fault := info.find_fault(frame):
            raise CommandError(f"camera '{name}': {fault}")
        images = self._images.get(name)
        picture = {} if images is None else {name: images.decode(name, frame)}
        return picture | read_numbers(name, frame, info)

    def _read_openings(self, view: SessionView) -> Vec:
        gripper = self._limb.gripper
        if gripper is None:
            return np.ones(2)
        joint = self.robot.joint_names.index(gripper.joint)
        pair = view.q[joint], view.q_cmd[joint]
        return np.array([gripper.measure(float(q)) for q in pair])

    def _fill(self, record: Record, covariance: Vec, mean: Vec | None) -> None:
        record["D"], record["variances"] = self._columns.step(covariance, mean)
        record["valid"], self._is_told = True, False

    def _refuse(self, why: str) -> None:
        self._n_refused += 1
        if not self._is_told:
            self._is_told = True
            self._warnings.append(f"{_WHERE}: no suggestion: {why}")

    def _compare(self, record: Record, active: Vec | None) -> None:
        record["difference"] = float("nan")
        if active is not None:
            record["difference"] = compute_difference(active[:, 0], record["D"][:, 0])


def _unpack(said: Any) -> tuple[Vec, Vec | None]:
    if not isinstance(said, tuple):
        return np.asarray(said, dtype=np.float64), None
    covariance, *rest = (np.asarray(one, dtype=np.float64) for one in said)
    return covariance, rest[0] if rest else None


def _find(limbs: tuple[LimbInfo, ...], name: str) -> LimbInfo:
    for limb in limbs:
        if name in {"", limb.name}:
            return limb
    known = ", ".join(limb.name for limb in limbs)
    raise ConfigError(
        f"{_WHERE}.limb: expected a limb of the robot ({known}), got '{name}'"
    )
