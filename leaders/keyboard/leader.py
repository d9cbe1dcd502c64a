"""Keyboard as seven axes."""

from __future__ import annotations

import logging
import os
import select
import stat

import numpy as np

from paprle.contracts.axes import FREEDOMS, N_FREEDOMS, AxisSpeeds
from paprle.contracts.errors import DeviceError, opening
from paprle.contracts.kit.cue_output import choose_amplitudes
from paprle.contracts.plugins import Clock, Leader
from paprle.contracts.types import (
    Feedback,
    LeaderInfo,
    LeaderSample,
    LimbCommand,
    SessionState,
    readonly,
)
from paprle.hardware.sound.errors import SoundError
from paprle.hardware.sound.speaker import Speaker
from paprle.leaders.keyboard.config import KeyboardConfig
from paprle.leaders.keyboard.keys import HELP, MODES, KeyParser
from paprle.leaders.keyboard.rates import Rates

_LOG = logging.getLogger(__name__)
_LIMB = "hand"
_INSTALL = "pip install 'paprle[sound]'"
_STANDARD_INPUT = 0  # what the session passes keys on to
_MOST_AT_ONCE = 5  # chosen: what a key at 30 Hz repeats in a sixth of a second
_CHUNK = 4096  # [bytes] chosen: more than anybody types in a period


class Keyboard(Leader):
    """Emits axes, integrated since the last sample."""

    _parser: KeyParser
    _rates: Rates
    _sample: LeaderSample | None
    _seq: int
    _mode: int
    _is_lost: bool
    _is_stopped: bool

    def __init__(self, config: KeyboardConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._speaker = Speaker()
        self._start()

    @property
    def info(self) -> LeaderInfo:
        """One hand with seven axes."""
        c = self.config
        return LeaderInfo(
            limbs=(_LIMB,),
            emits="axes",
            axes={_LIMB: FREEDOMS},
            axis_speeds=AxisSpeeds(c.speed, c.turn_speed, c.gripper_speed),
            renders=c.renders,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Help on the keys."""
        return (f"keyboard: {HELP}",)

    def preflight(self) -> tuple[str, ...]:
        """Report a session without a terminal."""
        if self.config.fd != _STANDARD_INPUT or os.isatty(_STANDARD_INPUT):
            return ()
        return (str(self._nobody("a session that was not started from one")),)

    def open(self) -> None:
        """Start with all keys up.

        Raises:
            DeviceError: Without input or sound output.
            MissingDependency: If sound is wanted without pygame.
        """
        try:
            mode = os.fstat(self.config.fd).st_mode
        except OSError as err:
            raise self._nobody(str(err)) from err
        if stat.S_ISREG(mode) or (stat.S_ISCHR(mode) and not os.isatty(self.config.fd)):
            raise self._nobody("a session that was not started from one")
        self._start()
        self._read()
        if self.config.sound > 0.0:
            with opening("leader 'keyboard'", _INSTALL, SoundError):
                self._speaker.open()

    def latest(self) -> LeaderSample | None:
        """Read new keys; return the effect of earlier ones."""
        now_ns = self.clock()
        data = self._read()
        if self._is_lost:
            return self._sample
        moved = np.zeros(N_FREEDOMS)
        for axes, dt in self._rates.advance(now_ns):
            moved += axes * dt
        elapsed = 0.0 if self._sample is None else now_ns - self._sample.stamp_ns
        mean = moved / (elapsed * 1e-9) if elapsed > 0.0 else np.zeros(N_FREEDOMS)
        keys = list(self._parser.parse(data))
        # typed while the terminal stalled, by a hand that may have let go: they stop
        for key in keys if len(keys) <= _MOST_AT_ONCE else ("",):
            self._press(key)
        self._seq += 1
        self._sample = LeaderSample(
            stamp_ns=now_ns,
            seq=self._seq,
            limbs={
                _LIMB: LimbCommand(
                    axes=readonly(np.clip(mean, -1.0, 1.0)), mode=self._mode
                )
            },
            engaged=self._rates.is_moving or not self._is_stopped,
        )
        return self._sample

    def apply(self, feedback: Feedback) -> None:
        """Take a Stop, which releases keys; sound cues."""
        self._is_stopped = feedback.state is SessionState.STOPPED
        loudness = choose_amplitudes(feedback, self.config.sound, self.clock())
        self._speaker.tell(*loudness)

    def close(self) -> None:
        """Stop."""
        self._rates.stop()
        self._speaker.close()

    def _start(self) -> None:
        self._parser = KeyParser()
        self._rates = Rates(self.config)
        self._sample = None
        self._seq = self._mode = 0
        self._is_lost = False
        self._is_stopped = False

    def _read(self) -> bytes:
        if self._is_lost or not select.select([self.config.fd], [], [], 0)[0]:
            return b""
        try:
            data = os.read(self.config.fd, _CHUNK)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        self._is_lost = not data
        return data

    def _press(self, key: str) -> None:
        self._rates.press(key)
        self._mode += MODES.get(key, 0)
        if key == "?":
            # The level is what is shown without any logging set up.
            _LOG.warning(HELP)

    def _nobody(self, got: str) -> DeviceError:
        return DeviceError(
            f"leader 'keyboard': expected a terminal to take keys from, got {got}; "
            "start the session in a terminal (ssh -t over SSH)"
        )
