"""WebXR leader: one sample of a page's hands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pinocchio as pin

from paprle.contracts.errors import ConfigError, DeviceError, MissingDependency
from paprle.contracts.kit.secret import read_secret
from paprle.contracts.plugins import Clock, Leader
from paprle.contracts.types import (
    Actions,
    Feedback,
    LeaderInfo,
    LeaderSample,
    LimbCommand,
)
from paprle.hardware.web.conversation import Told
from paprle.hardware.web.errors import WebError
from paprle.hardware.web.presses import Reading
from paprle.hardware.web.serving.addresses import find_place
from paprle.hardware.web.settings import AppSettings
from paprle.hardware.web.station import Station
from paprle.leaders.webxr.config import AppConfig, SightSettings, WebxrConfig


class Webxr(Leader):
    """One phone or headset, one or two hands, a common dead-man."""

    config: WebxrConfig

    def __init__(self, config: WebxrConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._station = Station(config, config.device, config.limbs, clock)
        self._sample: LeaderSample | None = None
        self._eye: Any = None

    @property
    def info(self) -> LeaderInfo:
        """Hands with grippers and measured poses."""
        return LeaderInfo(
            limbs=self.config.limbs,
            is_measured=True,
            has_deadman=self.config.app is None,  # the app has none
            has_gripper=True,
            has_trigger=self.config.device == "headset",
            renders="rumble",
            rate=self.config.rate,
            engage_hint=(
                "hold the page's button"
                if self.config.device == "phone"
                else "hold the grip of each hand"
            ),
        )

    @property
    def notes(self) -> list[str]:
        """Instructions for reaching the page."""
        return self._station.notes

    @property
    def unchecked(self) -> str:
        """Checks that need an open page."""
        return f"whether a {self.config.device} opens its page"

    def preflight(self) -> tuple[str, ...]:
        """Report that the configured address is not this machine's."""
        try:
            find_place(self.config.listen)
        except WebError as err:
            return (f"leader 'webxr': {err}",)
        return ()

    def open(self) -> None:
        """Serve the page.

        Raises:
            DeviceError: If nothing can be served, or the camera's host or key is
                invalid.
            MissingDependency: Without a package for pictures.
        """
        self.close()
        self._sample = None
        app, sight = self.config.app, self.config.sight
        eye = self._eye = None if sight is None else _open_eye(sight, self.clock)
        try:
            self._station.open(
                None if app is None else _make_app(app),
                None if eye is None else lambda: eye.newest,
                turns_with_head=sight is not None and sight.turns_with_head,
            )
        except WebError as err:
            self.close()
            raise DeviceError(f"leader 'webxr': {err}") from err

    def latest(self) -> LeaderSample | None:
        """Return the newest poses, or None."""
        reading = self._station.read()
        if reading is None:
            return self._sample
        if self._sample is None or reading.seq != self._sample.seq:
            self._sample = _make_sample(reading)
        return self._sample

    def apply(self, feedback: Feedback) -> None:
        """Show the state on the page, and vibrate."""
        drives = feedback.drives  # beside other leaders, only some limbs may
        self._station.tell(
            Told(
                state=feedback.state.name,
                drives=feedback.is_engaged if drives is None else any(drives),
                rumble=feedback.rumble,
                standing=feedback.standing,
                is_recorded=feedback.is_recorded,
                **feedback.cues._asdict(),
            )
        )

    def take_warnings(self) -> list[str]:
        """Return refusals and a low battery."""
        return [f"leader 'webxr': {text}" for text in self._station.take_warnings()]

    def diagnose(self) -> Iterator[tuple[bool, str]]:
        """Yield the checks of serving the page."""
        return self._station.diagnose()

    @property
    def closing_notes(self) -> list[str]:
        """Counts of messages and images."""
        words = list(self._station.closing_notes)
        if self._eye is not None:
            words.append(f"the robot's camera: {self._eye.closing_notes}")
        return [f"leader 'webxr': {text}" for text in words]

    def close(self) -> None:
        """Stop serving."""
        self._station.close()
        if self._eye is not None:
            self._eye.close()


def _make_sample(reading: Reading) -> LeaderSample:
    state, counts = reading.state, reading.state.actions
    return LeaderSample(
        stamp_ns=state.stamp_ns,
        seq=reading.seq,
        limbs={
            name: LimbCommand(
                T_leader_base_leader_eef=pin.SE3(
                    pin.Quaternion(hand.quat_xyzw).toRotationMatrix(), hand.p
                ),
                opening=hand.opening,
            )
            for name, hand in state.hands.items()
        },
        engaged=reading.is_engaged,
        valid=state.is_tracked,
        start=reading.is_engaged and reading.state.has_deadman,
        end=state.asks_to_end,
        actions=Actions(
            stop=counts.stop, next_episode=counts.next_episode, discard=counts.discard
        ),
    )


def _make_app(config: AppConfig) -> AppSettings:
    address = find_place(config.address).address
    return AppSettings(address, config.port, config.phone, config.closed, config.open)


def _open_eye(sight: SightSettings, clock: Clock) -> Any:
    try:
        # loaded here: a page without pictures needs no OpenCV
        from paprle.hardware.media.colour import ColourReceiver  # noqa: PLC0415
        from paprle.hardware.media.eye import Eye  # noqa: PLC0415
    except ImportError as err:
        raise MissingDependency(
            "leader.sight: expected OpenCV, got none: pip install 'paprle[sight]'"
        ) from err
    try:
        secret = read_secret(sight.key, "leader.sight.key")
        receiver = ColourReceiver(secret, sight.number)
        return Eye(sight.host, sight.udp_port, receiver, clock)
    except ConfigError as err:
        raise DeviceError(str(err)) from err
    except OSError as err:
        raise DeviceError(
            f"leader.sight: expected a host '{sight.host}', got {err.strerror or err}"
        ) from err
