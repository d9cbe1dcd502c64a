"""Arms that a test scripts, and a person whose answers it lists."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

import numpy as np

from paprle.contracts.errors import DeviceError
from paprle.contracts.searches.arm_search import ArmSearch, FoundArm
from paprle_lab.quickstart.dialogue import Dialogue

IDS = (1, 2, 3, 4, 5, 6)


def make_arm(path: str, **changes: object) -> FoundArm:
    """A whole, calibrated arm."""
    values = {
        "ids": IDS,
        "models": dict.fromkeys(IDS, "sts3215"),
        "voltage": 12.0,
        "is_calibrated": True,
    }
    return FoundArm(path=path, **values | changes)


class ScriptedSearch(ArmSearch):
    """Arms whose angles are functions of time, [s] → [rad].

    Attributes:
        t: Time of the clock below, [s].
        opened: Ports that are being watched.
    """

    def __init__(self, *arms: FoundArm, folder: Path | None = None, **motions) -> None:
        self.arms = {arm.path: arm for arm in arms}
        self.motions = {f"/dev/{name}": motion for name, motion in motions.items()}
        self.folder, self.t, self.opened = folder, 0.0, set()

    def clock(self) -> int:
        return round(1e9 * self.t)

    def sleep(self, duration: float) -> None:
        self.t += duration

    def list_ports(self):
        return tuple(self.arms)

    def look(self, path):
        return self.arms[path]

    @contextmanager
    def watch(self, path):
        def read():
            angles = np.zeros(len(IDS)) + self.motions[path](self.t)
            if np.isinf(angles).any():
                raise DeviceError(f"port '{path}': the device hung up")
            return angles

        self.opened.add(path)
        try:
            yield read
        finally:
            self.opened.remove(path)

    def list_calibrations(self, *, is_leader):
        return sorted((self.folder / _kind(is_leader)).glob("*.json"))


def _kind(is_leader: bool) -> str:
    return "leaders" if is_leader else "followers"


class Person(Dialogue):
    """Gives the listed answers; an exception among them is raised.

    Attributes:
        said: All that was printed or asked.
    """

    def __init__(self, *answers: str | type[BaseException], is_brief: bool = False):
        self.answers, self.said = list(answers), []
        super().__init__(is_brief=is_brief, read=self.reply, say=self.said.append)

    def reply(self, question: str) -> str:
        self.said.append(question)
        assert self.answers, f"asked unexpectedly: {self.text}"
        answer = self.answers.pop(0)
        if isinstance(answer, str):
            return answer
        raise answer

    @property
    def text(self) -> str:
        return "\n".join(self.said)
