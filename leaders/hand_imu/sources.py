"""Sources of hands and orientations: devices, or a recording."""

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
    """Source of hands from a camera and of the wrist's orientation."""

    @property
    def frame(self) -> HandFrame | None:
        """The newest image's hands; None before the first."""

    @property
    def attitude(self) -> Attitude | None:
        """The wrist's newest orientation; None before the first, or without one."""

    @property
    def has_imu(self) -> bool:
        """There is a sensor on the wrist."""

    def begin(self) -> None:
        """The session is ready; what is recorded begins."""

    @property
    def is_over(self) -> bool:
        """Nothing will ever come again."""

    @property
    def faults(self) -> tuple[str, ...]:
        """Descriptions of the current faults."""

    @property
    def counts(self) -> tuple[str, ...]:
        """Counts of readings by outcome, as text."""

    def close(self) -> None:
        """Let go; may be called twice."""


class Recorded:
    """Plays a recording on the leader's clock, once, when the session is ready.

    Until then it shows the first image again and again, at the rate of the others.
    """

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
        self._opened_ns = clock()
        self._begin_ns: int | None = None
        self._n_waiting = 0
        self._imu_ns = [round(t * 1e9) for t in self._recording.imu_t]

    @property
    def frame(self) -> HandFrame | None:
        """The last image whose time has come."""
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
        """The last orientation whose time has come."""
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
        """Whether its last image's time has come."""
        return self._begin_ns is not None and self._compute_time() > self._stamps[-1]

    def begin(self) -> None:
        """Play it from its first image on; once is enough."""
        if self._begin_ns is None:
            self._n_waiting, self._begin_ns = self._count_waiting() + 1, self._clock()

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

    def _compute_time(self) -> int:
        """Return how far it is, on the recording's clock, [ns]."""
        return self._clock() - (self._begin_ns or 0) + self._stamps[0]

    def _count_waiting(self) -> int:
        """Return how often the first image was shown again."""
        return (self._clock() - self._opened_ns) // _WAITING_NS


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
        """The tracker's newest frame."""
        return self._tracker.newest

    @property
    def attitude(self) -> Attitude | None:
        """The sensor's newest orientation; None without a sensor."""
        return None if self._imu is None else self._imu.newest

    @property
    def has_imu(self) -> bool:
        """There is one."""
        return self._imu is not None

    def begin(self) -> None:
        """They have begun."""

    @property
    def is_over(self) -> bool:
        """Devices may come back."""
        return False

    @property
    def faults(self) -> tuple[str, ...]:
        """Faults of the tracker and the sensor."""
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
