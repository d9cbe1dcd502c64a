"""The dashboard's text commands, port 29999.

Source: Universal Robots, "Dashboard server e-series, port 29999".
"""

from __future__ import annotations

from collections.abc import Callable

from paprle_emulators.ur.controller import (
    VERSION,
    Controller,
    RobotMode,
    Runtime,
    SafetyMode,
)

GREETING = b"Connected: Universal Robots Dashboard Server\n"
_LOCAL = "Command is not allowed due to safety reasons in local control"
_VERSION_TEXT = f"URSoftware {'.'.join(map(str, VERSION))} (Feb 25 2025)"
_WHEN_LOCAL = {
    "robotmode",
    "running",
    "get loaded program",
    "programstate",
    "polyscopeversion",
    "version",
    "safetymode",
    "safetystatus",
    "get serial number",
    "get robot model",
    "is in remote control",
    "close popup",
    "close safety popup",
    "quit",
}
"""Commands that are answered in local control, too. spec: the table of the source."""


class Dashboard:
    """Executes commands of all clients."""

    def __init__(self, controller: Controller, name: str) -> None:
        self._controller, self._name = controller, name
        self._answers: dict[str, Callable[[], str]] = {
            "robotmode": lambda: f"Robotmode: {self._find_mode()}",
            "running": lambda: f"Program running: {str(self._is_playing()).lower()}",
            "programstate": self._find_program_state,
            "get loaded program": lambda: "No program loaded",
            "polyscopeversion": lambda: _VERSION_TEXT,
            "version": lambda: _VERSION_TEXT,
            "safetymode": lambda: f"Safetymode: {controller.safety_mode.name}",
            "safetystatus": lambda: f"Safetystatus: {controller.safety_mode.name}",
            "get serial number": lambda: controller.model.serial,
            "get robot model": lambda: name.upper().rstrip("E"),
            "is in remote control": lambda: str(controller.is_remote).lower(),
            "power on": self._power_on,
            "power off": self._power_off,
            "brake release": self._release_brakes,
            "play": self._play,
            "stop": self._stop,
            "pause": self._pause,
            "unlock protective stop": self._unlock,
            "close popup": lambda: "closing popup",
            "close safety popup": lambda: "closing safety popup",
            "restart safety": self._restart_safety,
            "quit": lambda: "Disconnected",
        }

    def answer(self, line: str) -> str:
        """Execute a line; return its answer."""
        words = line.strip()
        key = words.lower()
        if key.startswith(("popup ", "addtolog ", "setuserrole ")):
            return "showing popup" if key.startswith("popup") else "Added log message"
        if key not in self._answers:
            return f"could not understand: '{words}'"
        if not self._controller.is_remote and key not in _WHEN_LOCAL:
            return _LOCAL
        return self._answers[key]()

    def _find_mode(self) -> str:
        names = {
            RobotMode.POWER_OFF: "POWER_OFF",
            RobotMode.IDLE: "IDLE",
            RobotMode.RUNNING: "RUNNING",
        }
        return names[self._controller.robot_mode]

    def _is_playing(self) -> bool:
        return self._controller.runtime is Runtime.PLAYING

    def _find_program_state(self) -> str:
        program = self._controller.program
        name = "<unnamed>" if program is None else program.name
        return f"{self._controller.runtime.name} {name}"

    def _power_on(self) -> str:
        self._controller.switch_power(is_on=True)
        return "Powering on"

    def _power_off(self) -> str:
        self._controller.switch_power(is_on=False)
        return "Powering off"

    def _release_brakes(self) -> str:
        self._controller.release_brakes()
        return "Brake releasing"

    def _play(self) -> str:
        return (
            "Starting program" if self._controller.play() else "Failed to execute: play"
        )

    def _stop(self) -> str:
        self._controller.end_program("stopped at the dashboard")
        return "Stopped"

    def _pause(self) -> str:
        if not self._is_playing():
            return "Failed to execute: pause"
        self._controller.pause()
        return "Pausing program"

    def _restart_safety(self) -> str:
        return (
            "Restarting safety"
            if self._controller.restart_safety()
            else "Failed to execute: restart safety"
        )

    def _unlock(self) -> str:
        if self._controller.safety_mode is not SafetyMode.PROTECTIVE_STOP:
            return "Cannot unlock protective stop: no protective stop"
        self._controller.unlock()
        return "Protective stop releasing"
