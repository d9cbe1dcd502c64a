"""Columns of a limb by config or name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from paprle.contracts.errors import ConfigError, suggest
from paprle.leaders.offline.config import OfflineConfig
from paprle.leaders.offline.units import ANGLE, LENGTH, TIME, split_unit

_STAMPS = ("capture_timestamp", "timestamp", "time", "t")
_OPENINGS = ("opening", "gripper")
_ARBOT, _EUROC = "target_pos_{}", "p_rs_r_{}"
_POSES = {  # name of a position's column → name of a quaternion's
    _ARBOT: "target_orient_{}",
    "{}": "q{}",
    "t{}": "q{}",
    _EUROC: "q_rs_{}",
}
_POSE_NAMES = {
    name.format(axis)
    for position, quat in _POSES.items()
    for name, axes in ((position, "xyz"), (quat, "xyzw"))
    for axis in axes
}
_ANGLES = {"roll", "pitch", "yaw", "rx", "ry", "rz", "alpha", "beta", "gamma"}
_EXAMPLE = (
    "name them: leader.columns.position=[x,y,z] leader.columns.euler=[roll,pitch,yaw] "
    "leader.columns.euler_order=xyz_extrinsic (or quat_xyzw, or position alone)"
)
TUM = ("t", "tx", "ty", "tz", "qx", "qy", "qz", "qw")
TUM_WXYZ = ("t", "tx", "ty", "tz", "qw", "qx", "qy", "qz")


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Columns of one limb.

    Attributes:
        euler: Angles, in their order.
        scale: Factor by column.
        told: Columns and units.
        assumed: Roles with assumed units.
    """

    stamp: int | None
    position: tuple[int, ...] = ()
    quat_xyzw: tuple[int, ...] = ()
    euler: tuple[int, ...] = ()
    joints: tuple[int, ...] = ()
    joint_names: tuple[str, ...] = ()
    opening: int | None = None
    is_absolute: bool = False
    scale: Mapping[int, float] = field(default_factory=dict)
    told: str = ""
    assumed: frozenset[str] = frozenset()

    def used(self) -> tuple[int, ...]:
        """Return the indices of all columns."""
        single = tuple(i for i in (self.stamp, self.opening) if i is not None)
        return single + self.position + self.quat_xyzw + self.euler + self.joints


def find_columns(
    path: Path, header: tuple[str, ...], prefix: str, config: OfflineConfig
) -> Columns:
    """Return the columns of a limb with a prefix.

    Raises:
        ConfigError: If stamps, poses or joints are missing.
    """
    return _Finder(path, header, prefix, config).find()


class _Finder:
    def __init__(
        self, path: Path, header: tuple[str, ...], prefix: str, config: OfflineConfig
    ) -> None:
        self._path = path
        self._header = header
        self._prefix = prefix
        self._config = config
        self._given = config.columns
        plain = [split_unit(name) for name in header]
        self._names = [name for name, _ in plain]
        self._units = [unit for _, unit in plain]
        own = [(i, _strip(self._names[i], prefix)) for i, _ in _of(header, prefix)]
        self._index = {name.lower(): i for i, name in own}
        self._shared = {name.lower(): i for i, name in enumerate(self._names)}
        self._assumed: set[str] = set()
        self._scale: dict[int, float] = {}
        self._told: list[str] = []
        self._is_known = set(map(str.lower, header)) >= {*TUM[1:]}

    def find(self) -> Columns:
        stamp = self._find_stamp()
        opening = self._find_opening()
        family = self._find_family()
        if self._given.position or family is not None:
            return self._find_pose(stamp, opening, family)
        joints = self._find_joints({stamp, opening})
        self._use(joints, "joints", ANGLE, self._config.units.angle, "rad")
        return Columns(
            stamp=stamp,
            joints=joints,
            joint_names=tuple(self._names[i] for i in joints),
            opening=opening,
            scale=self._scale,
            told=self._tell(),
            assumed=frozenset(self._assumed),
        )

    def _find_stamp(self) -> int | None:
        given = self._given.time
        if given is not None:
            stamp: int | None = self._take("time", (given,), self._shared)[0]
        else:
            places = (self._index, self._shared)
            names = (own[n] for own in places for n in _STAMPS if n in own)
            stamp = next(names, None)
        if stamp is None:
            if self._config.dt is None:
                raise ConfigError(
                    f"{self._path}: expected a column of stamps named "
                    f"{' or '.join(_STAMPS)}, got {shown(self._header)}; name it "
                    "(leader.columns.time=…), or set leader.dt"
                )
            return None
        self._use((stamp,), "time", TIME, self._config.units.time, "s")
        return stamp

    def _find_opening(self) -> int | None:
        if self._given.opening is not None:
            return self._take("opening", (self._given.opening,))[0]
        return next((self._index[n] for n in _OPENINGS if n in self._index), None)

    def _find_family(self) -> str | None:
        if self._config.joints:
            return None
        turn = self._given.quat_xyzw or self._given.quat_wxyz or self._given.euler
        for position, quat in _POSES.items():
            wanted = {position.format(a) for a in "xyz"}
            wanted |= set() if turn else {quat.format(a) for a in "xyzw"}
            if wanted <= set(self._index):
                return position
        return None

    def _find_pose(
        self, stamp: int | None, opening: int | None, family: str | None
    ) -> Columns:
        given, usual = self._given, family or "{}"
        names = given.position or tuple(usual.format(a) for a in "xyz")
        position = self._take("position", names)
        self._is_known = family not in {None, "{}"}
        self._use(position, "position", LENGTH, self._config.units.length, "m")
        quat, euler = self._find_turn(family)
        if family == _EUROC and stamp is not None and stamp not in self._scale:
            self._told = [text for text in self._told if "time from" not in text]
            self._use((stamp,), "time", TIME, "ns", "s")
        return Columns(
            stamp=stamp,
            position=position,
            quat_xyzw=quat,
            euler=euler,
            opening=opening,
            is_absolute=family == _ARBOT,
            scale=self._scale,
            told=self._tell(),
            assumed=frozenset(self._assumed),
        )

    def _find_turn(self, family: str | None) -> tuple[tuple[int, ...], tuple[int, ...]]:
        given = self._given
        if given.euler:
            euler = self._take("euler", given.euler)
            what = f"euler ({given.euler_order})"
            self._is_known = False
            self._use(euler, what, ANGLE, self._config.units.angle, "rad")
            return (), euler
        if given.quat_wxyz:
            w, *xyz = self._take("quat_wxyz", given.quat_wxyz)
            return (*xyz, w), ()
        if given.quat_xyzw:
            return self._take("quat_xyzw", given.quat_xyzw), ()
        if family is not None:
            quat = _POSES[family]
            return tuple(self._index[quat.format(a)] for a in "xyzw"), ()
        self._told.append("no orientation, which stays as it is")
        return (), ()

    def _find_joints(self, others: set[int | None]) -> tuple[int, ...]:
        pairs = _of(self._header, self._prefix)
        own = [i for i, name in pairs if i not in others and name]
        header = shown(self._header)
        if not self._config.joints:
            names = {_strip(self._names[i], self._prefix).lower() for i in own}
            if names & (_POSE_NAMES | _ANGLES) or not own:
                raise ConfigError(
                    f"{self._path}: expected a pose (x … qw, ARBot's or EuRoC's names) "
                    f"or joints{f' of limb {self._prefix!r}' if self._prefix else ''}, "
                    f"got {header}; {_EXAMPLE}; or the joints with leader.joints"
                )
            return tuple(own)
        missing = [name for name in self._config.joints if name not in self._names]
        if missing:
            raise ConfigError(
                f"{self._path}: expected columns {missing} of leader.joints, got "
                f"{header}"
            )
        return tuple(i for i in map(self._names.index, self._config.joints) if i in own)

    def _take(
        self,
        role: str,
        names: Iterable[str],
        index: Mapping[str, int] | None = None,
    ) -> tuple[int, ...]:
        found = []
        for name in names:
            plain = split_unit(name)[0].lower()
            place = (index or self._index).get(plain)
            if place is None:
                raise ConfigError(
                    f"{self._path}: expected the column '{name}' of "
                    f"leader.columns.{role}, got none; "
                    f"{suggest(name, [n for n in self._names if n], 'columns')}"
                )
            found.append(place)
        return tuple(found)

    def _use(
        self,
        columns: tuple[int, ...],
        what: str,
        units: Mapping[str, float],
        given: str | None,
        usual: str,
    ) -> None:
        said = [given or self._units[i] for i in columns]
        for i, unit in zip(columns, said, strict=True):
            if units.get(unit, 1.0) != 1.0:
                self._scale[i] = units[unit]
        written = list(dict.fromkeys(unit for unit in said if unit in units))
        is_assumed = not self._is_known and not all(unit in units for unit in said)
        if is_assumed:
            self._assumed.add(what.partition(" ")[0])
        if len(written) < len(set(said)) or not written:
            written.append(usual)
        names = " ".join(f"'{self._header[i]}'" for i in columns)
        unit = ", ".join(dict.fromkeys(written))
        self._told.append(
            f"{what} from {names} in [{unit}]{' (assumed)' if is_assumed else ''}"
        )

    def _tell(self) -> str:
        return ", ".join(self._told)


def _of(header: tuple[str, ...], prefix: str) -> Iterable[tuple[int, str]]:
    return (
        (i, n) for i, n in enumerate(header) if not prefix or _strip(n, prefix) != n
    )


def _strip(name: str, prefix: str) -> str:
    if prefix and name.startswith(prefix) and name[len(prefix) :][:1] in {*"_./"}:
        return name[len(prefix) + 1 :]
    return name


def shown(header: tuple[str, ...], n_letters: int = 200) -> str:
    """Return at most ``n_letters`` of the header."""
    text = ", ".join(header)[:n_letters]
    return "'" + "".join(c if c.isprintable() else "?" for c in text) + "'"
