"""Cost of pages: sessions with and without, in turn.

``python -m benchmarks.processes.pages [demo] [PAIRS] [KEY=VALUE …]``: four page
sockets, one at 20 kB/s, beside a recorded session of 200 Hz with two cameras; or ``make
demo`` with page and 3-D picture. A browser's drawing runs elsewhere, and is left out.
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
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
from viser._messages import ViewerCameraMessage
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from benchmarks.processes.cameras import (
    NAMES,
    WORDS,
    describe_ratios,
    draw,
    list_cameras,
    read_figures,
)
from paprle.ipc.process import WORKSPACE
from paprle.observers.view.viser_proxy import name_protocol

N_PAGES = 4
_SLOW = 20_000  # [bytes/s] chosen: a phone at the edge of its network
_AGAIN = 0.5  # [s] chosen: as a browser waits
_PORT = "observers.view.port=18980"
_NONE = "session.view=false"

_SEEN = ViewerCameraMessage(  # which a browser says first; nothing moves before
    (1.0, 0.0, 0.0, 0.0), (1.0, 0.0, 0.5), 0.8, 0.01, 100.0, 800, 600,
    (0.0, 0.0, 0.0), (0.0, 0.0, 1.0),
)  # fmt: skip

Page = Callable[[str, Counter[str]], None]


def watch(address: str, taken: Counter[str], name: str, rate: float = np.inf) -> None:
    """Receive as a page, at ``rate`` [bytes/s], until the session ends."""
    base, _, token = address.partition("/#")
    options = {"origin": base, "subprotocols": ["paprle", token], "compression": None}
    with contextlib.suppress(WebSocketException, OSError), connect(
        base.replace("http", "ws") + "/console", max_size=None, max_queue=1,
        **options,
    ) as socket:  # fmt: skip
        socket.send(json.dumps({"type": "hello", "version": 1, "page": name}))
        for message in socket:
            taken[name] += 1
            time.sleep(len(message) / rate)


def watch_scene(address: str, taken: Counter[str]) -> None:
    """Receive as a 3-D picture until the session ends."""
    base, _, token = address.partition("/#")
    options = {"origin": base, "subprotocols": [name_protocol()], "compression": None}
    with contextlib.suppress(WebSocketException, OSError), connect(
        f"{base.replace('http', 'ws')}/scene/{token}?page", max_size=None, **options
    ) as socket:  # fmt: skip
        socket.send(msgspec.msgpack.encode(_SEEN.as_serializable_dict()))
        for _ in socket:
            taken["scene"] += 1


def keep_open(
    page: Page, session: subprocess.Popen[bytes], address: str, taken: Counter[str]
) -> None:
    """Receive as a page; retry refused connections."""
    while session.poll() is None:
        page(address, taken)
        time.sleep(_AGAIN)


def measure(words: Sequence[str], pages: Sequence[Page]) -> tuple[list[float], str]:
    """Return figures of ``NAMES`` of session and pages."""
    taken: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.txt"
        run = [sys.executable, "run.py", *WORDS, *words]
        with log.open("w") as out:
            session = subprocess.Popen(
                [*run, f"record.dir={folder}/out"], cwd=WORKSPACE, stdout=out,
                stderr=out, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        for page in pages:
            while not (found := re.search(r"open (http\S+)\n", log.read_text())):
                if session.poll() is not None:
                    raise RuntimeError(log.read_text())
                time.sleep(0.05)
            args = (page, session, found[1], taken)
            threading.Thread(target=keep_open, args=args, daemon=True).start()
        if session.wait() != 0:
            raise RuntimeError(log.read_text())
        figures, pictures = read_figures(Path(folder) / "out")
    told = [f"{name}: {n} messages" for name, n in sorted(taken.items())]
    return figures, "; ".join(filter(None, [pictures, ", ".join(told)]))


def compare(
    kinds: Mapping[str, tuple[Sequence[str], Sequence[Page]]],
    pairs: int,
    rest: Sequence[str],
) -> None:
    """Print sessions, medians and ratios."""
    found: dict[str, list[list[float]]] = {name: [] for name in kinds}
    for k in range(pairs):
        for name in list(kinds)[:: 1 if k % 2 else -1]:
            words, pages = kinds[name]
            figures, told = measure([*words, *rest], pages)
            found[name].append(figures)
            print(f"{name:<8}  {describe(figures)}   {told}", flush=True)
    for name, rows in found.items():
        medians = np.median(np.array(rows), axis=0)
        print(f"{name:<8}  median: {describe(list(medians))}")
    without, with_them = found.values()
    print(describe_ratios(with_them, without))


def main(words: list[str]) -> None:
    """Compare the demo, or four pages, with none."""
    is_demo = words[:1] == ["demo"]
    rest = words[is_demo:]
    pairs = 5
    if rest and rest[0].isdigit():
        pairs, rest = int(rest[0]), rest[1:]
    if is_demo:
        pages: list[Page] = [partial(watch, name="page"), watch_scene]
        compare({"no page": ([_NONE], []), "a page": ([_PORT], pages)}, pairs, rest)
        return
    four = [
        partial(watch, name=f"page{k}", rate=np.inf if k else _SLOW)
        for k in range(N_PAGES)
    ]
    with tempfile.TemporaryDirectory() as folder:
        draw(Path(folder))
        asked = ["console=on", _PORT, *list_cameras(Path(folder), 2)]
        compare({"0 pages": (asked, []), "4 pages": (asked, four)}, pairs, rest)


def describe(figures: list[float]) -> str:
    """Return figures with their names."""
    return "   ".join(f"{n} {x:.3f}" for n, x in zip(NAMES, figures, strict=True))


if __name__ == "__main__":
    main(sys.argv[1:])
