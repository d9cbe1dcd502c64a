"""Two tones in pieces of 50 ms, ending without commands."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from paprle.hardware.sound.errors import SoundError

_RATE = 44_100  # [Hz] spec: what every device plays
_PIECE = 0.05  # [s] chosen: two of them, one playing and one queued, are T_stale
_TONES = (220.0, 660.0)  # [Hz] chosen: low for contact, higher for a warning
_BUFFER = 512  # [samples] chosen: 12 ms of delay
_FULL = 0.5 * 32_767  # chosen: both tones together do not clip


class Speaker:
    """Audio output; ``loudness`` is contact and warning, 0 … 1."""

    def __init__(self) -> None:
        self.loudness = (0.0, 0.0)
        self._mixer: Any = None
        self._tones: list[Any] = []

    def open(self) -> None:
        """Open the default output.

        Raises:
            SoundError: No output.
            ImportError: Missing pygame.
        """
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        os.environ.setdefault("SDL_NO_SIGNAL_HANDLERS", "1")
        import pygame  # noqa: PLC0415 - a listing loads no SDK

        try:
            pygame.mixer.init(_RATE, -16, 1, _BUFFER, allowedchanges=0)
        except pygame.error as err:
            raise SoundError(
                f"sound: expected an output to play on, got {err}; plug one in, or "
                "leave it out (leader.sound=0)"
            ) from err
        self._mixer = pygame.mixer
        t = np.arange(round(_PIECE * _RATE)) / _RATE
        waves = (_FULL * np.sin(2.0 * np.pi * tone * t) for tone in _TONES)
        self._tones = [
            pygame.mixer.Sound(buffer=wave.astype(np.int16).tobytes()) for wave in waves
        ]

    def tell(self, contact: float, warning: float) -> None:
        """Play for up to 100 ms, 0 … 1 each; never waits."""
        self.loudness = (contact, warning)
        if self._mixer is None:
            return
        for number, (tone, loudness) in enumerate(
            zip(self._tones, self.loudness, strict=True)
        ):
            channel = self._mixer.Channel(number)
            channel.set_volume(loudness)
            if loudness <= 0.0:
                channel.stop()
            elif not channel.get_busy():
                channel.play(tone)
                channel.set_volume(loudness)  # playing sets it to 1
            elif channel.get_queue() is None:
                channel.queue(tone)

    def close(self) -> None:
        """Stop the sound."""
        if self._mixer is not None:
            self._mixer.quit()
        self._mixer = None
