"""Where hands and orientations come from: devices, or a recording."""

from __future__ import annotations

import bisect
from pathlib import Path
from typing import Protocol

from hardware.hand.errors import HandError
from hardware.hand.frames import HandFrame
from hardware.hand.recording import Recording, read_recording
from hardware.hand.tracker_process import TrackerProcess, TrackerSettings
from hardware.imu.errors import ImuError
from hardware.imu.reader import Attitude, ImuPort, ImuReader
from leaders.hand_imu.config import CameraConfig, HandImuConfig, ImuConfig
from paprle.contracts.errors import DeviceError, MissingDependency
from paprle.contracts.plugins import Clock


class Source(Protocol):
    """What sees a hand, and what feels its wrist."""

    @property
    def frame(self) -> HandFrame | None:
        """The newest image's hands; None before the first."""

    @property
    def attitude(self) -> Attitude | None:
        """The wrist's newest orientation; None before the first, or without one."""

    @property
    def has_imu(self) -> bool:
        """There is a sensor on the wrist."""

    @property
    def is_over(self) -> bool:
        """Nothing will ever come again."""

    @property
    def faults(self) -> tuple[str, ...]:
        """What is wrong, in words."""

    @property
    def counts(self) -> tuple[str, ...]:
        """What became of what was read, in words."""

    def close(self) -> None:
        """Let go; may be called twice."""


class Recorded:
    """Plays a recording on the leader's clock, once."""

    def __init__(self, path: str, clock: Clock) -> None:
        """Read it.

        Args:
            path: The file.
            clock: Whose time it is played in.

        Raises:
            DeviceError: If it cannot be read.
        """
        try:
            self._recording: Recording = read_recording(Path(path))
        except HandError as err:
            raise DeviceError(f"leader 'hand_imu': {err}") from err
        self._clock = clock
        self._stamps = [frame.stamp_ns for frame in self._recording.frames]
        self._begin_ns = clock() - self._stamps[0]
        self._imu_ns = [round(t * 1e9) for t in self._recording.imu_t]

    @property
    def frame(self) -> HandFrame | None:
        """The last image whose time has come."""
        k = bisect.bisect_right(self._stamps, self._clock() - self._begin_ns) - 1
        if k < 0:
            return None
        stamp_ns = self._stamps[k] + self._begin_ns
        return self._recording.frames[k]._replace(stamp_ns=stamp_ns, seq=k + 1)

    @property
    def attitude(self) -> Attitude | None:
        """The last orientation whose time has come."""
        k = bisect.bisect_right(self._imu_ns, self._clock() - self._begin_ns) - 1
        if k < 0:
            return None
        quat = self._recording.imu_quat_wxyz[k]
        return Attitude(self._imu_ns[k] + self._begin_ns, quat, k + 1, 1, True)

    @property
    def has_imu(self) -> bool:
        """Whether it holds orientations."""
        return bool(self._imu_ns)

    @property
    def is_over(self) -> bool:
        """Whether its last image's time has come."""
        return self._clock() - self._begin_ns > self._stamps[-1]

    @property
    def faults(self) -> tuple[str, ...]:
        """None."""
        return ()

    @property
    def counts(self) -> tuple[str, ...]:
        """Nothing is lost of a recording."""
        return ()

    def close(self) -> None:
        """Nothing is held."""


class Devices:
    """A camera's tracker, and perhaps a sensor, each read by a thread."""

    def __init__(self, config: HandImuConfig, clock: Clock) -> None:
        """Connect.

        Args:
            config: Which ones.
            clock: Of the stamps.

        Raises:
            DeviceError: If one of them cannot be reached; says all that is wrong.
            MissingDependency: If a package is missing.
        """
        self._imu = None if config.imu is None else make_imu(config.imu, clock)
        self._tracker = TrackerProcess(make_settings(config.camera), clock)
        problems: list[str] = []
        try:
            if self._imu is not None:
                self._imu.open()
        except ImuError as err:
            problems.append(str(err))
        except ModuleNotFoundError as err:
            raise MissingDependency(
                f"leader 'hand_imu': expected the package 'vqf', got '{err}'; install "
                "it with: pip install 'paprle[hand]'"
            ) from err
        try:
            self._tracker.open()
        except HandError as err:
            problems.append(str(err))
        if problems:
            self.close()
            raise DeviceError("leader 'hand_imu': " + "; ".join(problems))

    @property
    def frame(self) -> HandFrame | None:
        """What the tracker said last."""
        return self._tracker.newest

    @property
    def attitude(self) -> Attitude | None:
        """What the sensor said last."""
        return None if self._imu is None else self._imu.newest

    @property
    def has_imu(self) -> bool:
        """There is one."""
        return self._imu is not None

    @property
    def is_over(self) -> bool:
        """Devices may come back."""
        return False

    @property
    def faults(self) -> tuple[str, ...]:
        """What keeps them silent."""
        told = (self._tracker.fault, "" if self._imu is None else self._imu.fault)
        return tuple(text for text in told if text)

    @property
    def counts(self) -> tuple[str, ...]:
        """Damaged packets, and how often a device was begun anew."""
        told = []
        if self._imu is not None:
            tally = self._imu.tally
            told.append(
                f"imu: {tally.n_accepted} packets, {tally.n_damaged} damaged, "
                f"{tally.n_refused} refused, reopened {self._imu.n_reopened} times"
            )
        if self._tracker.n_restarts:
            told.append(f"the tracker was started again: {self._tracker.n_restarts}")
        return tuple(told)

    def close(self) -> None:
        """Let go of both; may be called twice."""
        self._tracker.close()
        if self._imu is not None:
            self._imu.close()


def make_imu(config: ImuConfig, clock: Clock) -> ImuReader:
    """Return the reader of a sensor, not open yet."""
    return ImuReader(
        ImuPort(
            path=config.port,
            packet=config.packet,
            baud=config.baud,
            rate=config.rate,
            boot=config.boot,
        ),
        clock,
    )


def make_settings(config: CameraConfig) -> TrackerSettings:
    """Return what the tracker is told."""
    return TrackerSettings(
        kind=config.kind,
        device=config.device,
        python=config.python,
        model=config.model,
        size=(config.width, config.height),
        rate=config.rate,
        field_of_view=config.field_of_view,
        domain=config.domain,
    )
