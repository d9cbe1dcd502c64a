"""Sources of hands: devices or a recording."""

from __future__ import annotations

import bisect
from pathlib import Path
from typing import Protocol

from paprle.contracts.errors import DeviceError, MissingDependency
from paprle.contracts.plugins import Clock
from paprle.hardware.hand.errors import HandError
from paprle.hardware.hand.frames import HandFrame
from paprle.hardware.hand.recording import Recording, read_recording
from paprle.hardware.hand.tracker_process import TrackerProcess, TrackerSettings
from paprle.hardware.imu.errors import ImuError
from paprle.hardware.imu.reader import Attitude, ImuPort, ImuReader
from paprle.leaders.hand_imu.config import CameraConfig, HandImuConfig, ImuConfig

_WAITING_NS = 33_333_333  # [ns] chosen: a camera's period


class HandSource(Protocol):
    """Source of hands and wrist orientation."""

    @property
    def frame(self) -> HandFrame | None:
        """The newest image's hands, or None."""

    @property
    def attitude(self) -> Attitude | None:
        """The wrist's newest orientation, or None."""

    @property
    def has_imu(self) -> bool:
        """Whether the wrist has a sensor."""

    def begin(self) -> None:
        """Start a recording."""

    @property
    def is_over(self) -> bool:
        """Whether the source has ended."""

    @property
    def faults(self) -> tuple[str, ...]:
        """The current faults."""

    @property
    def counts(self) -> tuple[str, ...]:
        """Counts of readings by outcome."""

    def close(self) -> None:
        """Close the source."""


class Recorded:
    """Plays a recording once; its first image repeats before."""

    def __init__(self, path: str, clock: Clock) -> None:
        """Read a file.

        Raises:
            DeviceError: If it cannot be read.
        """
        try:
            self._recording: Recording = read_recording(Path(path))
        except HandError as err:
            raise DeviceError(f"leader 'hand_imu': {err}") from err
        self._clock = clock
        self._stamps = [frame.stamp_ns for frame in self._recording.frames]
        self._opened_ns = clock()
        self._begin_ns: int | None = None
        self._n_waiting = 0
        self._imu_ns = [round(t * 1e9) for t in self._recording.imu_t]

    @property
    def frame(self) -> HandFrame | None:
        """The last due image."""
        if self._begin_ns is None:
            n = self._count_waiting()
            stamp_ns = self._opened_ns + n * _WAITING_NS
            return self._recording.frames[0]._replace(stamp_ns=stamp_ns, seq=n + 1)
        k = max(0, bisect.bisect_right(self._stamps, self._compute_time()) - 1)
        return self._recording.frames[k]._replace(
            stamp_ns=self._stamps[k] - self._stamps[0] + self._begin_ns,
            seq=k + 1 + self._n_waiting,
        )

    @property
    def attitude(self) -> Attitude | None:
        """The last due orientation."""
        if not self._imu_ns:
            return None
        quats = self._recording.imu_quat_wxyz
        if self._begin_ns is None:
            n = self._count_waiting()
            stamp_ns = self._opened_ns + n * _WAITING_NS
            return Attitude(stamp_ns, quats[0], n + 1, 1, True)
        k = max(0, bisect.bisect_right(self._imu_ns, self._compute_time()) - 1)
        stamp_ns = max(self._imu_ns[k] - self._stamps[0], 0) + self._begin_ns
        return Attitude(stamp_ns, quats[k], k + 1 + self._n_waiting, 1, True)

    @property
    def has_imu(self) -> bool:
        """Whether it holds orientations."""
        return bool(self._imu_ns)

    @property
    def is_over(self) -> bool:
        """Whether its last image was due."""
        return self._begin_ns is not None and self._compute_time() > self._stamps[-1]

    def begin(self) -> None:
        """Play from the first image on."""
        if self._begin_ns is None:
            self._n_waiting, self._begin_ns = self._count_waiting() + 1, self._clock()

    @property
    def faults(self) -> tuple[str, ...]:
        """None."""
        return ()

    @property
    def counts(self) -> tuple[str, ...]:
        """Always empty."""
        return ()

    def close(self) -> None:
        """Do nothing."""

    def _compute_time(self) -> int:
        return self._clock() - (self._begin_ns or 0) + self._stamps[0]

    def _count_waiting(self) -> int:
        return (self._clock() - self._opened_ns) // _WAITING_NS


class Devices:
    """A camera's tracker, and an optional sensor."""

    def __init__(self, config: HandImuConfig, clock: Clock) -> None:
        """Connect the devices of a config.

        Raises:
            DeviceError: With all unreachable devices.
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
                "it with: pip install 'paprle[hand-imu]'"
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
        """The newest frame."""
        return self._tracker.newest

    @property
    def attitude(self) -> Attitude | None:
        """The newest orientation, or None."""
        return None if self._imu is None else self._imu.newest

    @property
    def has_imu(self) -> bool:
        """Whether there is a sensor."""
        return self._imu is not None

    def begin(self) -> None:
        """Do nothing."""

    @property
    def is_over(self) -> bool:
        """Always False."""
        return False

    @property
    def faults(self) -> tuple[str, ...]:
        """Faults of the tracker and the sensor."""
        told = (self._tracker.fault, "" if self._imu is None else self._imu.fault)
        return tuple(text for text in told if text)

    @property
    def counts(self) -> tuple[str, ...]:
        """Damaged packets and restarts."""
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
        """Close both."""
        self._tracker.close()
        if self._imu is not None:
            self._imu.close()


def make_imu(config: ImuConfig, clock: Clock) -> ImuReader:
    """Return a sensor's unopened reader."""
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
    """Return the tracker's settings."""
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
