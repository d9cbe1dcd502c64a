"""In the place of a tracker's interpreter: writes frames of a hand as a test says."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

_PROGRAM = """#!{python}
import json, os, sys, threading, time
sys.path.insert(0, {root!r})
from paprle.hardware.hand.frames import pack_frame
from paprle_emulators.hand.model import make_frame, make_hand
fd = next(int(w.split("=")[1]) for w in sys.argv if w.startswith("--fd="))
def listen():
    while os.read(0, 4096):
        pass
    os._exit(0)
threading.Thread(target=listen, daemon=True).start()
k = 0
while True:
    try:
        told = json.loads(open({orders!r}).read())
    except (OSError, ValueError):
        time.sleep(0.01)
        continue
    if told.get("fail"):
        sys.stderr.write(told["fail"] + chr(10))
        sys.exit(1)
    if told.get("garbage"):
        os.write(fd, os.urandom(1000))
    if not told.get("hang"):
        k += 1
        frame = make_frame(time.monotonic(), k, make_hand(told["at"]))
        os.write(fd, pack_frame(frame))
    time.sleep(1 / 60)
"""


class EmulatedTracker:
    """A program in the place of the tracker's Python."""

    def __init__(self, folder: Path) -> None:
        self.orders = folder / "orders.json"
        self.python = str(folder / "python")
        self.tell('{"at": [0.0, 0.0, 0.6]}')
        root = str(Path(__file__).resolve().parents[3])
        program = _PROGRAM.format(
            python=sys.executable, root=root, orders=str(self.orders)
        )
        Path(self.python).write_text(program)
        Path(self.python).chmod(stat.S_IRWXU)

    def tell(self, orders: str) -> None:
        """Do this from the next image on."""
        beside = self.orders.with_suffix(".next")
        beside.write_text(orders)
        beside.replace(self.orders)
