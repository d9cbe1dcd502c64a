"""The leader: what the phone's page says becomes one sample."""

from __future__ import annotations

from collections.abc import Iterator

import pinocchio as pin

from hardware.web.addresses import find_place
from hardware.web.conversation import Told
from hardware.web.device import DeviceState
from hardware.web.errors import WebError
from hardware.web.settings import AppSettings
from hardware.web.station import Reading, Station
from leaders.arpose.config import AppConfig, ArposeConfig
from paprle.contracts.errors import DeviceError
from paprle.contracts.plugins import Clock, Leader
from paprle.contracts.types import (
    Actions,
    Feedback,
    LeaderInfo,
    LeaderSample,
    LimbCommand,
)

_LIMB = "hand"


class Arpose(Leader):
    """One phone, one hand."""

    config: ArposeConfig

    def __init__(self, config: ArposeConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._station: Station | None = None
        self._sample: LeaderSample | None = None

    @property
    def info(self) -> LeaderInfo:
        """One hand with a gripper, whose pose is measured."""
        return LeaderInfo(
            limbs=(_LIMB,),
            is_measured=True,
            has_gripper=True,
            renders="rumble",
            rate=self.config.rate,
            engage_hint="hold the page's button",
        )

    @property
    def notes(self) -> list[str]:
        """How the operator reaches the page."""
        return [] if self._station is None else self._station.notes

    @property
    def unchecked(self) -> str:
        """A phone is there once somebody opens the page."""
        return "whether a phone opens its page"

    def find_obstacles(self) -> tuple[str, ...]:
        """Say that this machine has no such address."""
        try:
            find_place(self.config.listen)
        except WebError as err:
            return (f"leader 'arpose': {err}",)
        return ()

    def open(self) -> None:
        """Serve the page; the phone may come later.

        Raises:
            DeviceError: If nothing can be served.
        """
        self._sample = None
        try:
            app = self.config.app
            station = Station(
                self.config,
                "phone",
                (_LIMB,),
                self.clock,
                None if app is None else _make_app(app),
            )
            station.open()
        except WebError as err:
            raise DeviceError(f"leader 'arpose': {err}") from err
        self._station = station

    def latest(self) -> LeaderSample | None:
        """Return the newest pose; None until a phone has spoken."""
        reading = None if self._station is None else self._station.read()
        if reading is None:
            return self._sample
        if self._sample is None or reading.seq != self._sample.seq:
            self._sample = self._make_sample(reading)
        return self._sample

    def apply(self, feedback: Feedback) -> None:
        """Let the page show the state, and the phone vibrate."""
        if self._station is None:
            return
        drives = feedback.drives  # beside other leaders, only some limbs may
        self._station.tell(
            Told(
                state=feedback.state.name,
                drives=feedback.is_engaged if drives is None else any(drives),
                rumble=feedback.rumble,
                **feedback.cues._asdict(),
            )
        )

    def take_warnings(self) -> list[str]:
        """Return who was refused, and a battery that is low."""
        told = [] if self._station is None else self._station.take_warnings()
        return [f"leader 'arpose': {text}" for text in told]

    def diagnose(self) -> Iterator[tuple[bool, str]]:
        """Look whether its page could be served."""
        return Station(self.config, "phone", (_LIMB,), self.clock).diagnose()

    @property
    def last_words(self) -> list[str]:
        """What became of the phone's messages."""
        told = [] if self._station is None else self._station.last_words
        return [f"leader 'arpose': {text}" for text in told]

    def close(self) -> None:
        """Serve no more; may be called twice."""
        if self._station is not None:
            self._station.close()

    def _make_sample(self, reading: Reading) -> LeaderSample:
        state = reading.state
        counts = state.actions
        return LeaderSample(
            stamp_ns=state.stamp_ns,
            seq=reading.seq,
            limbs=_make_commands(state),
            engaged=reading.is_engaged,
            valid=state.is_tracked,
            start=reading.asks_to_start,
            actions=Actions(
                stop=counts.stop,
                next_episode=counts.next_episode,
                discard=counts.discard,
            ),
        )


def _make_commands(state: DeviceState) -> dict[str, LimbCommand]:
    return {
        name: LimbCommand(
            T_leader_base_leader_eef=pin.SE3(
                pin.Quaternion(hand.quat_xyzw).toRotationMatrix(), hand.p
            ),
            opening=hand.opening,
        )
        for name, hand in state.hands.items()
    }


def _make_app(config: AppConfig) -> AppSettings:
    address = find_place(config.address).address
    return AppSettings(address, config.port, config.phone, config.closed, config.open)
