"""How fast the viewer opens recordings, and jumps in a long one.

python -m benchmarks.processes.viewer          # 20 episodes of 5 minutes
python -m benchmarks.processes.viewer --hour   # one of an hour; making it takes minutes
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

_VIEW = "import sys; from paprle.cli import main; sys.exit(main())"
_N_JUMPS = 200


class _Viewer:
    def __init__(self, folder: Path) -> None:
        begin = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-u", "-c", _VIEW, "view", str(folder)],
            stdout=subprocess.PIPE,
            text=True,
        )
        lines = iter(self.process.stdout.readline, "")  # type: ignore[union-attr]
        address = next(line for line in lines if "open http" in line)
        self.seconds = time.perf_counter() - begin
        root, _, token = address.split()[-1].partition("#")
        self._place, self._token = urlsplit(root).netloc, token

    def ask(self, path: str) -> bytes:
        server = http.client.HTTPConnection(self._place, timeout=60)
        server.request("GET", f"/film/{self._token}/{path}")
        answer = server.getresponse().read()
        server.close()
        return answer

    def open(self) -> tuple[float, float]:
        """Open the first film; return seconds and length."""
        begin = time.perf_counter()
        while "share" in (film := json.loads(self.ask("open?film=0"))):
            pass
        return time.perf_counter() - begin, film["length"]

    def jump(self, t: float) -> float:
        """Go to a time; return seconds until drawn."""
        begin = time.perf_counter()
        self.ask(f"move?film=0&t={t}")
        if not self.ask(f"picture?film=0&camera=front&t={t}&w=640"):
            raise SystemExit(f"no picture at {t:.2f} s")
        return time.perf_counter() - begin

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(30)


def main() -> None:
    """Make and open recordings; print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hour", action="store_true")
    seconds, n = (3600.0, 1) if parser.parse_args().hour else (300.0, 20)
    from filmed import write_episode  # noqa: PLC0415 - of the tests

    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        folder = Path(name)
        first = write_episode(folder, seconds, cameras=("front", "side"))
        for k in range(1, n):
            for path in (first, first.with_suffix(".json")):
                shutil.copy(path, folder / f"episode_{k:06d}{path.suffix}")
        viewer = _Viewer(folder)
        try:
            begin = time.perf_counter()
            entries = json.loads(viewer.ask("list"))["entries"]
            listed = time.perf_counter() - begin
            opened, length = viewer.open()
            while not viewer.ask("picture?film=0&camera=front&t=1&w=640"):
                pass  # pictures are read after the signals
            pictures = time.perf_counter() - begin
            rng = random.Random(1)
            jumps = [viewer.jump(rng.uniform(1.0, length)) for _ in range(_N_JUMPS)]
        finally:
            viewer.close()
    print(f"{len(entries)} of {seconds:.0f} s: served {viewer.seconds:.2f} s")
    print(f"list {listed:.3f} s, first open {opened:.2f} s, pictures {pictures:.2f} s")
    median, late = np.percentile(jumps, [50, 99])
    print(f"jumps: median {1e3 * median:.0f} ms, p99 {1e3 * late:.0f} ms")


if __name__ == "__main__":
    main()
