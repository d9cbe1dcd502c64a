"""The compilation beside the dialogue ends with it."""

import time

from paprle_lab.quickstart import warm_up
from paprle_lab.quickstart.warm_up import compiling_beside

DEAF = "import signal, time; signal.signal(2, signal.SIG_IGN); time.sleep(60)"


def test_a_compiler_that_hears_no_ctrl_c_is_ended(monkeypatch):
    monkeypatch.setattr(warm_up, "_COMMAND", ("-c", DEAF))
    monkeypatch.setattr(warm_up, "_PATIENCE", 0.1)
    began = time.monotonic()

    with compiling_beside(print):
        time.sleep(0.5)  # it has begun to ignore it

    assert time.monotonic() - began < 30.0


def test_it_is_waited_for_with_a_word(monkeypatch):
    monkeypatch.setattr(warm_up, "_COMMAND", ("-c", "import time; time.sleep(0.5)"))
    said = []

    with compiling_beside(said.append) as wait:
        wait()

    assert "compiling" in said[0]
