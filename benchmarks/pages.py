"""What four pages cost the robot: sessions with and without, in turn.

``python -m benchmarks.pages [PAIRS] [KEY=VALUE …]``: four sockets of a page, which take
all that a page is told, beside a session of 200 Hz with two cameras that is recorded;
one of them takes 20 kB/s. A browser's own drawing is left out: it runs on the machine
of whoever watches. Figures as of ``benchmarks.cameras``, and live as they are.
"""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from benchmarks.cameras import (
    NAMES,
    WORDS,
    describe_ratios,
    draw,
    list_cameras,
    read_figures,
)
from paprle.ipc.process import WORKSPACE

N_PAGES = 4
_SLOW = 20_000  # [bytes/s] chosen: a phone at the edge of its network
_PAGE = ("console=on", "observers.view.port=18980")


def watch(address: str, name: str, rate: float, taken: Counter[str]) -> None:
    """Be a page until the session is gone.

    Args:
        address: Of the session's page, with its token.
        name: Of this page.
        rate: How much it takes a second, [bytes/s].
        taken: Counts its messages, by page.
    """
    base, _, token = address.partition("/#")
    options = {"origin": base, "subprotocols": ["paprle", token], "compression": None}
    with contextlib.suppress(ConnectionClosed, OSError), connect(
        base.replace("http", "ws") + "/console", max_size=None, max_queue=1,
        **options,
    ) as socket:  # fmt: skip
        socket.send(json.dumps({"type": "hello", "version": 1, "page": name}))
        for message in socket:
            taken[name] += 1
            time.sleep(len(message) / rate)


def measure(words: list[str], n_pages: int) -> tuple[list[float], str]:
    """Return the figures of ``NAMES`` of one session, and what pages took of it."""
    taken: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.txt"
        run = [sys.executable, "run.py", *WORDS, *_PAGE, *words]
        with log.open("w") as out:
            session = subprocess.Popen(
                [*run, f"record.dir={folder}/out"], cwd=WORKSPACE, stdout=out,
                stderr=out, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        while not (found := re.search(r"open (http\S+)", log.read_text())):
            if session.poll() is not None:
                raise RuntimeError(log.read_text())
            time.sleep(0.05)
        for k in range(n_pages):
            rate = _SLOW if k == 0 else np.inf
            args = (found[1], f"page{k}", rate, taken)
            threading.Thread(target=watch, args=args, daemon=True).start()
        if session.wait() != 0:
            raise RuntimeError(log.read_text())
        figures, pictures = read_figures(Path(folder) / "out")
    told = ", ".join(f"{name}: {n} messages" for name, n in sorted(taken.items()))
    return figures, f"{pictures}; {told}" if told else pictures


def main(words: list[str]) -> None:
    """Print a line for each session, and the medians with and without."""
    pairs, rest = 5, words
    if words and words[0].isdigit():
        pairs, rest = int(words[0]), words[1:]
    found: dict[int, list[list[float]]] = {0: [], N_PAGES: []}
    with tempfile.TemporaryDirectory() as folder:
        draw(Path(folder))
        asked = list_cameras(Path(folder), 2)
        for k in range(pairs):
            for n_pages in list(found)[:: 1 if k % 2 else -1]:
                figures, told = measure([*asked, *rest], n_pages)
                found[n_pages].append(figures)
                print(f"{n_pages} pages   {describe(figures)}   {told}", flush=True)
    for n_pages, rows in found.items():
        medians = np.median(np.array(rows), axis=0)
        print(f"{n_pages} pages   median: {describe(list(medians))}")
    print(describe_ratios(found[N_PAGES], found[0]))


def describe(figures: list[float]) -> str:
    """Return figures with their names."""
    return "   ".join(f"{n} {x:.3f}" for n, x in zip(NAMES, figures, strict=True))


if __name__ == "__main__":
    main(sys.argv[1:])
