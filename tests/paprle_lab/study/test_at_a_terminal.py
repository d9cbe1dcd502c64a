"""A participant at a terminal: asked, led, hung up on, and led on to the tables."""

from __future__ import annotations

import contextlib
import csv
import os
import pty
import re
import select
import subprocess
import sys
import time

import pytest
from studies import PLAN, answer_all

from paprle.cli import main
from paprle.ipc.process import WORKSPACE
from paprle_lab.study.plan import open_study

START = "import sys; from paprle.cli import main; sys.exit(main())"
ASKED = re.compile(r"(?:\d+/\d+ [^\r\n]*|which did you like best[^\r\n]*): $")


class Participant:
    """Reads what a terminal of its own shows, and answers when asked."""

    def __init__(self, folder, name):
        self._master, slave = pty.openpty()
        self.shown = ""
        self._process = subprocess.Popen(
            [sys.executable, "-c", START, "study", "run", str(folder), name],
            stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            cwd=WORKSPACE,
        )  # fmt: skip
        os.close(slave)

    def answer(self, words):
        """Type each answer after its question."""
        for word in words:
            seen = len(self.shown)
            self._read_until(lambda seen=seen: ASKED.search(self.shown[seen:]))
            os.write(self._master, f"{word}\n".encode())

    def leave(self):
        """Close the terminal while a question stands there."""
        seen = len(self.shown)
        self._read_until(lambda: ASKED.search(self.shown[seen:]))
        os.close(self._master)
        return self._process.wait(20)

    def stay(self):
        """Read on until the program has ended by itself."""
        self._read_until(lambda: self._process.poll() is not None)
        os.close(self._master)
        return self._process.returncode

    def _read_until(self, is_there):
        end = time.monotonic() + 60.0
        while not is_there():
            assert time.monotonic() < end, self.shown
            if select.select([self._master], [], [], 0.05)[0]:
                with contextlib.suppress(OSError):  # nobody has it open any more
                    self.shown += os.read(self._master, 1 << 16).decode()


@pytest.mark.process
@pytest.mark.nightly
def test_an_interrupted_participant_continues_at_the_same_place(tmp_path):
    plan, folder = tmp_path / "study.yaml", tmp_path / "S"
    plan.write_text(PLAN)
    assert main(["study", "plan", str(plan), "--out", str(folder)]) == 0
    name, order = next(iter(open_study(folder).orders.items()))
    answers = list(answer_all(order, 1))
    whole = 2 + 6  # experience and TLX of the first condition

    first = Participant(folder, name)
    first.answer(answers[: whole + 3])  # three of SUS, which are asked again
    assert first.leave() != 0
    again = Participant(folder, name)
    again.answer(answers[whole:])

    assert again.stay() == 0, again.shown
    assert f"participant {name} has done all 10 steps" in again.shown
    assert main(["study", "export", str(folder), "--out", str(tmp_path / "T")]) == 0
    rows = list(csv.DictReader((tmp_path / "T/scores.csv").read_text().splitlines()))
    sus = {row["condition"]: row["score"] for row in rows if row["scale"] == "sus"}
    assert {k: float(v) for k, v in sus.items()} == {"slow": 55.0, "fast": 100.0}


@pytest.mark.process
@pytest.mark.nightly
def test_a_participant_is_not_led_at_two_terminals(tmp_path):
    plan, folder = tmp_path / "study.yaml", tmp_path / "S"
    plan.write_text(PLAN)
    assert main(["study", "plan", str(plan), "--out", str(folder)]) == 0
    name = next(iter(open_study(folder).orders))

    first = Participant(folder, name)
    first.answer(["3"])
    second = Participant(folder, name)

    assert second.stay() == 1
    assert f"expected one terminal for participant '{name}'" in second.shown
    assert first.leave() != 0
