"""Packet faults of one line."""

from __future__ import annotations

import random
from dataclasses import replace

from paprle_emulators.servo_rig.answer import Answer

SEED = 4  # chosen: the same faults in every run
LATE = 0.05  # chosen: later than clients wait [s]
MOST_NOISE = 4  # chosen: bytes of a glitch
NOBODY = -1  # no servo's ID


class LineFaults:
    """Random faults of a line's packets, mostly probabilities.

    Attributes:
        late: By ``lateness``.
        lateness: [s].
        latency: Of every answer, as by USB adapters, [s].
        byte_time: [s].
        echo: Of a request.
        noise: Before an answer.
    """

    def __init__(self) -> None:
        self._random = random.Random(SEED)
        self.n_spoilt = 0
        self.reset()

    def reset(self) -> None:
        """End all faults."""
        self.lost = self.corrupted = self.duplicated = self.late = 0.0
        self.lateness = LATE
        self.latency = 0.0
        self.byte_time = 0.0
        self.echo = self.noise = 0.0

    def _happens(self, probability: float) -> bool:
        happens = probability > 0 and self._random.random() < probability
        self.n_spoilt += happens
        return happens

    def _turn_bit(self, data: bytes) -> bytes:
        spoilt = bytearray(data)
        spoilt[self._random.randrange(len(data))] ^= 1 << self._random.randrange(8)
        return bytes(spoilt)

    def spoil_request(self, data: bytes) -> bytes:
        """Return request bytes that reach the servos."""
        if not data or self._happens(self.lost):
            return b""
        return self._turn_bit(data) if self._happens(self.corrupted) else data

    def disturb(self, data: bytes) -> list[Answer]:
        """Return the adapter's additions."""
        added = []
        if data and self._happens(self.echo):
            added.append(Answer(0.0, data, NOBODY))
        if data and self._happens(self.noise):
            count = self._random.randint(1, MOST_NOISE)
            added.append(Answer(0.0, self._random.randbytes(count), NOBODY))
        return added

    def spoil(self, answers: list[Answer]) -> list[Answer]:
        """Return answers that reach a client."""
        if not (self.lost or self.corrupted or self.duplicated or self.late):
            return self._delay(answers)
        out = []
        for one in answers:
            if not one.data or self._happens(self.lost):
                continue
            if self._happens(self.corrupted):
                one = replace(one, data=self._turn_bit(one.data))  # noqa: PLW2901
            if self._happens(self.late):
                one = replace(one, delay=one.delay + self.lateness)  # noqa: PLW2901
            out.append(one)
            if self._happens(self.duplicated):
                out.append(one)
        return self._delay(out)

    def _delay(self, answers: list[Answer]) -> list[Answer]:
        if not answers or not (self.latency or self.byte_time):
            return answers
        timed = [
            replace(one, delay=one.delay + len(one.data) * self.byte_time)
            for one in answers
        ]
        timed[0] = replace(timed[0], delay=timed[0].delay + self.latency)
        return timed
