"""Game controllers as a leader: sticks set speeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from paprle.contracts.errors import ConfigError, opening
from paprle.contracts.kit.cue_output import SILENT, choose_amplitudes
from paprle.contracts.plugins import Clock, Leader
from paprle.contracts.types import (
    Actions,
    Feedback,
    LeaderInfo,
    LeaderSample,
    LimbCommand,
    SessionState,
)
from paprle.hardware.gamepad.errors import PadError
from paprle.hardware.gamepad.rack import Rack
from paprle.hardware.sound.errors import SoundError
from paprle.hardware.sound.speaker import Speaker
from paprle.leaders.gamepad.checks import find_mistakes
from paprle.leaders.gamepad.config import GamepadConfig
from paprle.leaders.gamepad.hand import PadState
from paprle.leaders.gamepad.rumble import LASTS, Refresher

_INSTALL = "pip install 'paprle[gamepad]'"


class Gamepad(Leader):
    """Emits pads' axes; unplugged pads count as released."""

    _hands: dict[str, PadState]
    _warnings: list[str]
    _sample: LeaderSample | None

    def __init__(self, config: GamepadConfig, clock: Clock) -> None:
        """Raise ConfigError with all mistakes."""
        super().__init__(config, clock)
        mistakes = find_mistakes(config)
        if mistakes:
            raise ConfigError(mistakes)
        devices = [pad.device for pad in config.pads.values()]
        self._rack = Rack(devices, config.database)
        self._speaker = Speaker()
        self._limbs = self.info.limbs
        self._start()

    @property
    def info(self) -> LeaderInfo:
        """Limbs of all pads with their axes."""
        pads = self.config.pads.values()
        axes = {limb: tuple(pad.axes) for pad in pads for limb in pad.limbs}
        roles = {role for pad in pads for role in pad.buttons.values()}
        return LeaderInfo(
            limbs=tuple(axes),
            emits="axes",
            axes=axes,
            axis_speeds=self.config.axis_speeds,
            has_deadman=all("deadman" in pad.buttons.values() for pad in pads),
            has_buttons=bool(roles & set(Actions._fields)),
            renders="rumble" if self.config.rumble > 0.0 else self.config.renders,
            engage_hint=f"hold {self._name_deadman()}" if "deadman" in roles else "",
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Name, buttons and missing features of each pad."""
        notes = []
        for row, (name, pad) in enumerate(self.config.pads.items()):
            told = ", ".join(
                f"{button}: {role}" for button, role in pad.buttons.items()
            )
            motors = "" if self._rack.can_rumble[row] else "; it has no motors"
            device = self._rack.names[row] or "not opened yet"
            has = self._rack.has[row]
            absent = [c for c in self._hands[name].controls if has and c not in has]
            lacks = f"; SDL finds no {', '.join(absent)}" if absent else ""
            notes.append(f"gamepad '{name}' ({device}): {told}{motors}{lacks}")
        return tuple(notes)

    @property
    def unchecked(self) -> str:
        """Checks that need SDL."""
        return "whether the pads are plugged in, and rumble"

    def preflight(self) -> tuple[str, ...]:
        """Report a missing database file, ignored by SDL."""
        path = self.config.database
        if not path or Path(path).is_file():
            return ()
        return (f"leader.database: expected a file at '{path}', got nothing",)

    def open(self) -> None:
        """Find every pad; held buttons do not count.

        Raises:
            DeviceError: If a pad is missing.
            MissingDependency: Without pygame.
        """
        self._start()
        with opening("leader 'gamepad'", _INSTALL, PadError, SoundError):
            self._rack.open()
            if self.config.sound > 0.0:
                self._speaker.open()
        self._is_open = True

    def latest(self) -> LeaderSample | None:
        """Return the deflections since the last call."""
        if not self._is_open:
            return self._sample
        now_ns = self.clock()
        readings = self._rack.read(now_ns)
        for (name, hand), raw in zip(self._hands.items(), readings, strict=True):
            if raw is None:
                hand.forget()
            else:
                hand.update(raw, now_ns)
            self._watch(name, hand, is_there=raw is not None)
        self._seq += 1
        self._sample = self._make_sample(now_ns, is_valid=None not in readings)
        return self._sample

    def apply(self, feedback: Feedback) -> None:
        """Take the state, rumble, and sound cues."""
        now_ns = self.clock()
        self._speaker.tell(*choose_amplitudes(feedback, self.config.sound, now_ns))
        self._state = feedback.state
        motors = choose_amplitudes(feedback, self.config.rumble, now_ns)
        for row, refresher in enumerate(self._refreshers):
            mine = motors if self._drives(row, feedback.drives) else SILENT
            if refresher.must_tell(mine, now_ns):
                self._rack.rumble(row, *mine, LASTS)

    def take_warnings(self) -> list[str]:
        """Return pads that left, returned or are doubted."""
        told, self._warnings = self._warnings, []
        return told

    def close(self) -> None:
        """Stop the motors and close the pads."""
        self._is_open = False
        self._speaker.close()
        self._rack.close()

    def _start(self) -> None:
        self._hands = {
            name: PadState(pad, self.config) for name, pad in self.config.pads.items()
        }
        self._refreshers = [Refresher() for _ in self._hands]
        self._was_there = dict.fromkeys(self._hands, True)
        self._was_doubted = dict.fromkeys(self._hands, False)
        self._warnings = []
        self._sample, self._seq, self._is_open = None, 0, False
        self._state = SessionState.INIT

    def _make_sample(self, now_ns: int, *, is_valid: bool) -> LeaderSample:
        hands = self._hands.values()
        limbs = {
            limb: LimbCommand(axes=hand.read_axes(limb), mode=mode)
            for hand in hands
            for limb, mode in hand.modes.items()
        }
        is_held = is_valid and self._is_held()
        pressed: Counter[str] = sum((hand.pressed for hand in hands), Counter())
        return LeaderSample(
            stamp_ns=now_ns,
            seq=self._seq,
            limbs=limbs,
            engaged=is_held,
            valid=is_valid,
            start=is_held and self.info.has_deadman,
            actions=Actions(
                **{name: pressed[name] for name in Actions._fields if name in pressed}
            ),
        )

    def _is_held(self) -> bool:
        is_stopped = self._state is SessionState.STOPPED
        return any(
            hand.is_held and (hand.is_moving or hand.has_deadman or not is_stopped)
            for hand in self._hands.values()
        )

    def _drives(self, row: int, drives: Sequence[bool] | None) -> bool:
        if drives is None:
            return True
        own = list(self.config.pads.values())[row].limbs
        return any(
            is_driving
            for limb, is_driving in zip(self._limbs, drives, strict=False)
            if limb in own
        )

    def _watch(self, name: str, hand: PadState, *, is_there: bool) -> None:
        if is_there != self._was_there[name]:
            what = (
                "is there again; let go of its dead-man, then hold it to go on"
                if is_there
                else "is unplugged or out of reach; the robot is let go of"
            )
            self._warnings.append(f"gamepad '{name}' {what}")
            self._was_there[name] = is_there
        if hand.is_doubted and not self._was_doubted[name]:
            self._warnings.append(
                f"gamepad '{name}' has said the same for {self.config.longest:g} s "
                "(leader.longest) and is not believed; let go of it and press anew"
            )
        self._was_doubted[name] = hand.is_doubted

    def _name_deadman(self) -> str:
        names = (
            button
            for pad in self.config.pads.values()
            for button, role in pad.buttons.items()
            if role == "deadman"
        )
        return next(names, "")
