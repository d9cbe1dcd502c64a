"""Uploaded programs: ur_rtde's control script, and others.

The control script takes commands in input registers and answers in output register 0,
1 ready and 2 done; numbers and registers are those of the script that ur_rtde 1.6
uploads, ``RTDE Control Script Loaded``. A command that is not emulated ends the program
as a runtime exception of URScript does; the real script answers numbers that it does
not know with done.
"""

from __future__ import annotations

import re
from collections import deque

from paprle_emulators.ur.actions import ACTIONS, ONGOING
from paprle_emulators.ur.commands import AT_ONCE, Command
from paprle_emulators.ur.path import Waypoint, read_path
from paprle_emulators.ur.script import Host, Script, ScriptError, Steps

_NAME = re.compile(r"def (\w+)\(")
_OFFSET = re.compile(r"# int register offset\n\s*(\d+)")
_READY, _DONE = 1, 2  # spec: signal_ready, signal_done_with_cmd
_HISTORY = 500  # [cycles] chosen: a second


class Program:
    """A script that plays until stopped."""

    def __init__(self, text: str) -> None:
        self.text = text
        found = _NAME.search(text)
        self.name = found[1] if found else "script"

    def step(self, _controller: Host) -> str:
        """Run a cycle; return a reason to end."""
        goes_on = "sleep" in self.text or "while" in self.text
        return "" if goes_on else "finished"

    def resume(self, _controller: Host) -> None:
        """Go on after a pause."""


class ControlProgram(Program):
    """The control script of ur_rtde."""

    def __init__(self, text: str, offset: int) -> None:
        super().__init__(text)
        self._offset = offset
        self._script: Script | None = None
        self._is_executing = False
        self._blocking: Steps | None = None

    @classmethod
    def read(cls, text: str) -> ControlProgram | None:
        """Return a control script's program, or None."""
        if "RTDE Control Script Loaded" not in text:
            return None
        found = _OFFSET.search(text)
        return cls(text, int(found[1]) if found else 0)

    def step(self, controller: Host) -> str:
        """Run a cycle; return a reason to end."""
        script = self._find_script(controller)
        age = controller.find_age(self._offset)
        if script.min_rate > 0.0 and age > 1.0 / script.min_rate:
            return "watchdog: no command came"
        number = controller.int_in[self._offset]
        if number == Command.STOP_SCRIPT and self._blocking is None:
            return "stopped by its client"
        try:
            self._run(script, number)
            script.step_threads()
        except ScriptError as err:
            controller.report_exception(str(err))
            return f"runtime exception: {err}"
        return ""

    def resume(self, controller: Host) -> None:
        """Resume the last motion with its last goal."""
        self._find_script(controller).resume()

    def _find_script(self, controller: Host) -> Script:
        if self._script is None:
            history = deque([controller.arm.q.copy()], maxlen=_HISTORY)
            path: list[Waypoint] | ValueError
            try:
                path = read_path(self.text)
            except ValueError as err:
                path = err
            self._script = Script(controller, self._offset, path, history)
        return self._script

    def _run(self, script: Script, number: int) -> None:
        script.history.append(script.arm.q.copy())
        if self._blocking is not None:
            self._go_on(script)
        elif number in AT_ONCE:
            self._begin(script, number)
            script.answer(0, _READY)
        elif number == Command.NONE:
            self._is_executing = False
            script.answer(0, _READY)
            if script.internal is not None:  # delegated by a thread
                self._blocking, script.internal = script.internal, None
        elif not self._is_executing:
            self._is_executing = True
            self._begin(script, number)
            self._go_on(script)

    def _begin(self, script: Script, number: int) -> None:
        if number in ACTIONS:
            ACTIONS[Command(number)](script)
        elif number in ONGOING:
            self._blocking = ONGOING[Command(number)](script)
        else:
            known = number in Command._value2member_map_
            name = Command(number).name.lower() if known else "unknown"
            raise ScriptError(f"command {number} ({name}) is not emulated")

    def _go_on(self, script: Script) -> None:
        if self._blocking is not None and next(self._blocking, True) is None:
            return
        self._blocking = None
        script.answer(0, _DONE)
