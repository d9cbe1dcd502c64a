"""Six-axis mouse as a leader."""

from __future__ import annotations

from collections import Counter

from paprle.contracts.axes import FREEDOMS
from paprle.contracts.errors import ConfigError, opening
from paprle.contracts.kit.cue_output import choose_amplitudes
from paprle.contracts.plugins import Clock, Leader
from paprle.contracts.types import (
    Actions,
    Feedback,
    LeaderInfo,
    LeaderSample,
    LimbCommand,
    SessionState,
    readonly,
)
from paprle.hardware.sound.errors import SoundError
from paprle.hardware.sound.speaker import Speaker
from paprle.hardware.spacemouse.device import MouseDevice
from paprle.hardware.spacemouse.errors import MouseError
from paprle.leaders.spacemouse.config import SpacemouseConfig

_LIMB = "hand"
_MOST_BUTTONS = 32  # spec: the longest report of buttons
_INSTALL = "pip install 'paprle[spacemouse]'"


class Spacemouse(Leader):
    """Emits six axes, and two buttons for the gripper."""

    _axes: list[float]
    _pressed: Counter[str]
    _warnings: list[str]
    _sample: LeaderSample | None
    _seq: int

    def __init__(self, config: SpacemouseConfig, clock: Clock) -> None:
        """Raise ConfigError for an unnumbered button."""
        super().__init__(config, clock)
        wrong = [
            f"leader.buttons: expected numbers from 0 to {_MOST_BUTTONS - 1}, got "
            f"'{name}'"
            for name in config.buttons
            if not (name.isdecimal() and int(name) < _MOST_BUTTONS)
        ]
        if wrong:
            raise ConfigError(wrong)
        self._roles = {int(name): role for name, role in config.buttons.items()}
        self._speaker = Speaker()
        self._device = MouseDevice(config.path, config.serial)
        self._start()

    @property
    def info(self) -> LeaderInfo:
        """One hand with six axes."""
        return LeaderInfo(
            limbs=(_LIMB,),
            emits="axes",
            axes={_LIMB: FREEDOMS},
            axis_speeds=self.config.axis_speeds,
            renders=self.config.renders,
            has_buttons=bool(set(self._roles.values()) & set(Actions._fields)),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Functions of the cap and the buttons."""
        told = ", ".join(f"button {n}: {role}" for n, role in self._roles.items())
        return (f"spacemouse: push, lift and turn the cap; {told}",)

    def open(self) -> None:
        """Open the mouse.

        Raises:
            DeviceError: If it is missing or forbidden.
            MissingDependency: Without hidapi.
        """
        self._start()
        with opening("leader 'spacemouse'", _INSTALL, MouseError, SoundError):
            self._device.open()
            if self.config.sound > 0.0:
                self._speaker.open()
        self._is_open = True

    def latest(self) -> LeaderSample | None:
        """Return the deflections since the last call."""
        if not self._is_open:
            return self._sample
        now_ns = self.clock()
        self._device.read(now_ns)
        self._press()
        self._watch(now_ns)
        before, self._axes = self._axes, self._deflect()
        is_moving = any(self._axes)
        self._seq += 1
        self._sample = LeaderSample(
            stamp_ns=now_ns,
            seq=self._seq,
            limbs={
                _LIMB: LimbCommand(
                    # a straight line between two readings, whatever the rate
                    axes=readonly(
                        [0.5 * (a + b) for a, b in zip(before, self._axes, strict=True)]
                    ),
                    mode=self._pressed["mode"] - self._pressed["mode_back"],
                )
            },
            engaged=self._device.is_there and (is_moving or not self._is_stopped),
            valid=self._device.is_there,
            actions=Actions(
                **{n: k for n, k in self._pressed.items() if n in Actions._fields}
            ),
        )
        return self._sample

    def apply(self, feedback: Feedback) -> None:
        """Take a Stop, which releases a resting cap; sound cues."""
        self._is_stopped = feedback.state is SessionState.STOPPED
        loudness = choose_amplitudes(feedback, self.config.sound, self.clock())
        self._speaker.tell(*loudness)

    def take_warnings(self) -> list[str]:
        """Return departures, returns and silence."""
        told, self._warnings = self._warnings, []
        return told

    def close(self) -> None:
        """Close the mouse."""
        self._is_open = False
        self._speaker.close()
        self._device.close()

    def _start(self) -> None:
        self._axes = [0.0] * len(FREEDOMS)
        self._pressed = Counter()
        self._down = 0
        self._was_there = True
        self._warnings = []
        self._sample = None
        self._seq, self._is_open, self._is_stopped = 0, False, False

    def _press(self) -> None:
        down = self._device.mouse.buttons
        for number, role in self._roles.items():
            if down & ~self._down & (1 << number):
                self._pressed[role] += 1
        self._down = down

    def _watch(self, now_ns: int) -> None:
        device = self._device
        if device.is_there != self._was_there:
            self._was_there = device.is_there
            self._warnings.append(
                "spacemouse: it is there again"
                if device.is_there
                else "spacemouse: it is unplugged; the robot is let go of"
            )
        silence = 1e-9 * (now_ns - device.heard_ns)
        if device.mouse.is_deflected and silence > self.config.longest_silence:
            device.mouse.rest()
            self._warnings.append(
                f"spacemouse: deflected, but silent for {silence:.2f} s "
                "(leader.longest_silence); it counts as let go"
            )

    def _deflect(self) -> list[float]:
        mouse = self._device.mouse
        roles = {role for n, role in self._roles.items() if mouse.buttons & (1 << n)}
        gripper = float("open" in roles) - float("close" in roles)
        cap = (*mouse.translation, *mouse.rotation)
        return [*(self._shape(value) for value in cap), gripper]

    def _shape(self, value: float) -> float:
        c = self.config
        share = (min(abs(value), 1.0) - c.dead_zone) / (1.0 - c.dead_zone)
        size = float(max(share, 0.0) ** c.curve)
        return size if value > 0.0 else -size
