"""Vision Pro leader: one sample of the streamed hands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pinocchio as pin

from paprle.contracts.errors import opening
from paprle.contracts.kit.cue_output import choose_amplitudes
from paprle.contracts.plugins import Clock, Leader
from paprle.contracts.types import Feedback, LeaderInfo, LeaderSample, LimbCommand
from paprle.hardware.sound.errors import SoundError
from paprle.hardware.sound.speaker import Speaker
from paprle.hardware.visionpro.errors import VisionProError
from paprle.leaders.visionpro.config import VisionproConfig

if TYPE_CHECKING:
    from paprle.hardware.visionpro.client import Headset
    from paprle.hardware.web.presses import PressReader

_INSTALL = "pip install 'paprle[vision-pro]'"
_SOUND = "pip install 'paprle[sound]'"


class Visionpro(Leader):
    """One headset, one or two hands, and their common dead-man."""

    config: VisionproConfig

    def __init__(self, config: VisionproConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._headset: Headset | None = None
        self._speaker = Speaker()
        self._presses: PressReader | None = None
        self._sample: LeaderSample | None = None
        self._fault = ""

    @property
    def info(self) -> LeaderInfo:
        """Hands with grippers and measured poses."""
        return LeaderInfo(
            limbs=self.config.hands,
            is_measured=True,
            is_stamped_on_arrival=True,
            has_deadman=True,
            has_gripper=True,
            has_trigger=True,
            renders=self.config.renders,
            rate=self.config.rate,
            engage_hint="close middle and ring finger of each hand",
        )

    @property
    def unchecked(self) -> str:
        """Checks that need the stream."""
        return "whether the headset's app answers"

    def open(self) -> None:
        """Connect to the headset's app.

        Raises:
            DeviceError: If it does not answer.
            MissingDependency: Without grpcio.
        """
        self._sample, self._fault = None, ""
        c = self.config
        if c.sound > 0.0:
            with opening("leader 'visionpro'", _SOUND, SoundError):
                self._speaker.open()
        with opening("leader 'visionpro'", _INSTALL, VisionProError):
            from paprle.hardware.visionpro.client import Headset  # noqa: PLC0415 - its extra
            from paprle.hardware.web.presses import PressReader  # noqa: PLC0415

            headset = Headset(f"{c.host}:{c.port}", c.hands, self.clock)
            headset.open(c.timeout)
        self._headset = headset
        self._presses = PressReader(headset.device, self.clock)

    def latest(self) -> LeaderSample | None:
        """Return the newest poses, or None."""
        reading = None if self._presses is None else self._presses.read()
        if reading is None:
            return self._sample
        state = reading.state
        if self._sample is None or reading.seq != self._sample.seq:
            self._sample = LeaderSample(
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
                start=reading.is_engaged,
                end=state.asks_to_end,
            )
        return self._sample

    def apply(self, feedback: Feedback) -> None:
        """Sound the cues."""
        loudness = choose_amplitudes(feedback, self.config.sound, self.clock())
        self._speaker.tell(*loudness)

    def take_warnings(self) -> list[str]:
        """Return new faults."""
        fault = "" if self._headset is None else self._headset.fault
        is_other, self._fault = fault != self._fault, fault
        return [f"leader 'visionpro': {fault}"] if fault and is_other else []

    @property
    def closing_notes(self) -> list[str]:
        """Counts of messages, jumps and refused hands."""
        if self._headset is None:
            return []
        device, n_refused = self._headset.device, self._headset.n_refused
        return [
            f"leader 'visionpro': {device.n_messages} messages, "
            f"{device.n_jumps} jumps, {n_refused} hands refused"
        ]

    def close(self) -> None:
        """Disconnect."""
        self._speaker.close()
        if self._headset is not None:
            self._headset.close()
