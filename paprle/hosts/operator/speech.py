"""Spoken prompts at the terminal, by espeak-ng."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

PROGRAM = "espeak-ng"
_MOST_WAITING = 3  # chosen: prompts that are older than these are of no use
_NUMBER = re.compile(r"(\d+)\.[^.]*$")


class _Situation(NamedTuple):
    state: str
    recording: str
    marks: Mapping[str, str]


class Speech:
    """Announces recordings, resets and stops."""

    def __init__(self, *, is_on: bool) -> None:
        self.is_on = is_on
        self._program = shutil.which(PROGRAM)
        self._before: _Situation | None = None
        self._waiting: deque[str] = deque(maxlen=_MOST_WAITING)
        self._speaking: subprocess.Popen[bytes] | None = None

    def toggle(self) -> str:
        """Switch speech; return an answer for the operator."""
        if self._program is None:
            return f"no speech: expected the program {PROGRAM}, got none"
        self.is_on = not self.is_on
        self._waiting.clear()
        if self.is_on:
            self._waiting.append("speech on")
        return f"speech {'on' if self.is_on else 'off'}"

    def look(
        self,
        state: str,
        recording: str,
        episodes: Sequence[Mapping[str, Any]],
        *,
        is_watched: bool = False,
    ) -> None:
        """Announce changes; called several times a second.

        Args:
            state: Name of the session's state.
            recording: State of the recorder.
            episodes: Recorded episodes as JSON.
            is_watched: A page is open, which announces them itself.
        """
        marks = {str(one["path"]): str(one["mark"]) for one in episodes}
        now = _Situation(state, recording, marks)
        if self._before is not None and self.is_on and not is_watched:
            self._waiting.extend(_list_prompts(self._before, now))
        self._before = now
        self._go_on()

    def close(self) -> None:
        """Finish the present word at most."""
        self._waiting.clear()
        if self._speaking is not None:
            self._speaking.terminate()
            self._speaking.wait()
            self._speaking = None

    def _go_on(self) -> None:
        if self._speaking is not None and self._speaking.poll() is None:
            return
        self._speaking = None
        if not self._waiting or self._program is None:
            return
        try:
            self._speaking = subprocess.Popen(
                [self._program, "--", self._waiting.popleft()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # a Ctrl-C is for the session
            )
        except OSError:  # the status line, which calls this, goes on
            self._program = None


def _list_prompts(was: _Situation, now: _Situation) -> Iterator[str]:
    if now.state == "STOPPED" != was.state:
        yield "stopped"
    for path, mark in now.marks.items():
        number = _NUMBER.search(path)
        if number and was.marks.get(path) != mark:
            yield f"episode {int(number[1])} {mark}"
    if now.state == "RESETTING" != was.state:
        yield "reset the scene"
    if now.recording == "REC" != was.recording:
        yield "recording"
