"""Release of the operator's stages: free, in order, pinned.

``python -m benchmarks.remote.lead_order [ROUNDS] [BUSY]``: `paprle lead` and its page
lead a kinematic PiPER locally: ``free``, the page at its own pace; ``ordered``, after
the robot's prediction; ``pinned``, on own processors (the product); BUSY processes
beside. Prints medians of drawn pictures' age, drawings, repeats, and the page's CPU
time.
"""

from __future__ import annotations

import json
import mmap
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from paprle.ipc.process import WORKSPACE

WAYS = "free", "ordered", "pinned"
_SECONDS = 8.0  # [s] chosen: four hundred pictures
_WARM = 2.0  # [s] chosen: till then the order is learned
_START = 60.0  # [s] chosen: of a cold machine
_DOMAIN, _PORT = 87, 8497  # chosen: ports that no test uses
_FIELDS = "p50_ms", "p99_ms", "drawn_hz", "stale", "cpu"


class Drawn:
    """Observed pace of a page, in a forked process."""

    def __init__(self, pace: object, made: mmap.mmap, out: Path) -> None:
        self._pace, self._made, self._out = pace, made, out
        self._ages: list[int] = []
        self._n_stale, self._made_ns = 0, 0
        self._begin = self._cpu = 0.0

    def wait(self) -> bool:
        """Wait; note the available picture."""
        is_turn: bool = self._pace.wait()  # type: ignore[attr-defined]
        made_ns = int.from_bytes(self._made[:8], "little")
        if is_turn:
            self._n_stale += made_ns == self._made_ns and self._is_warm
            self._made_ns = made_ns
        return is_turn

    def end(self) -> None:
        """Note its age; write enough results."""
        self._pace.end()  # type: ignore[attr-defined]
        if not self._made_ns:
            return
        now = time.monotonic()
        if not self._begin:
            self._begin = now + _WARM
        if not self._is_warm:
            self._cpu = time.process_time()
        elif now - self._begin < _SECONDS:
            self._ages.append(time.monotonic_ns() - self._made_ns)
        elif not self._out.exists():
            p50, p99 = np.percentile(self._ages, [50, 99]) * 1e-6
            n = len(self._ages)
            cpu = (time.process_time() - self._cpu) / _SECONDS
            values = p50, p99, n / _SECONDS, self._n_stale / n, cpu
            self._out.write_text(json.dumps(values))

    @property
    def _is_warm(self) -> bool:
        return bool(self._begin) and time.monotonic() > self._begin


def run_lead(way: str, out: str, words: Sequence[str]) -> int:
    """Run an observed `paprle lead` in a process."""
    from paprle.cli import main as run  # noqa: PLC0415 - where nothing is watched none
    from paprle.hosts.processes import observer  # noqa: PLC0415
    from paprle.hosts.two_hosts import lead, lead_pages  # noqa: PLC0415

    made = mmap.mmap(-1, 8)
    make, show = observer.make_pace, lead_pages.LeadPages.show
    step = lead.Lead.step
    looked_ns = [0]

    def make_watched(role: object, resolved: object, name: str) -> Drawn:
        free = observer.Free(resolved.observers.rate)  # type: ignore[attr-defined]
        pace = free if way == "free" else make(role, resolved, name)  # type: ignore[arg-type]
        return Drawn(pace, made, Path(out))

    def step_watched(self: lead.Lead, now_ns: int) -> bool:
        looked_ns[0] = now_ns
        return step(self, now_ns)

    def show_watched(self: lead_pages.LeadPages, side: object, watch: object) -> None:
        if side.view is not None:  # type: ignore[attr-defined]
            made[:8] = looked_ns[0].to_bytes(8, "little")  # before a page is released
        show(self, side, watch)  # type: ignore[arg-type]

    observer.make_pace = make_watched  # type: ignore[assignment]
    lead.Lead.step = step_watched  # type: ignore[method-assign]
    lead_pages.LeadPages.show = show_watched  # type: ignore[method-assign]
    if way != "pinned":
        observer.pin = lead.pin = lambda **_: ""  # type: ignore[attr-defined]
    sys.argv = ["paprle", "lead", *words]
    return int(run())


def measure(way: str, words: Sequence[str], folder: Path) -> list[float]:
    """Return the results of one run.

    Raises:
        SystemExit: If nothing was drawn.
    """
    out = folder / "drawn.json"
    out.unlink(missing_ok=True)
    log = folder / "lead.txt"
    begin = [sys.executable, "-m", "benchmarks.remote.lead_order"]
    with log.open("w") as file:
        process = _start([*begin, "--lead", way, str(out), *words], file)
        is_there = _wait(out.exists, process)
        process.terminate()
        process.wait(20)
    if not is_there:
        raise SystemExit(log.read_text())
    values: list[float] = json.loads(out.read_text())
    return values


def _start(words: Sequence[str], log: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=log,  # type: ignore[arg-type]
        stderr=subprocess.STDOUT,
        cwd=WORKSPACE,
    )


def _wait(is_there: Callable[[], bool], process: subprocess.Popen[bytes]) -> bool:
    end = time.monotonic() + _START
    while time.monotonic() < end and process.poll() is None and not is_there():
        time.sleep(0.1)
    return is_there()


def main(words: Sequence[str]) -> int:
    """Print runs and medians."""
    rounds, n_busy = (int(word) for word in [*words, *["3", "0"][len(words) :]])
    busy = [_start([sys.executable, "-c", "while 1: 0"], None) for _ in range(n_busy)]
    found: dict[str, list[list[float]]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        key = folder / "link.key"
        key.write_text(os.urandom(32).hex())
        key.chmod(0o600)
        link = ["link.peer=127.0.0.1", f"link.key={key}", "link.type=udp"]
        link += [f"link.domain={_DOMAIN}"]
        robot = ["run.py", "leader=remote", "leader.human=false", *link]
        robot += ["leader.gripper=false", "follower=piper", "env=kinematic"]
        robot += ["session.view=false", f"record.dir={folder}"]
        leader = ["leader=autopilot", "leader.laps=1000", "leader.size=0.1", *link]
        leader += ["follower=piper", f"observers.view.port={_PORT}"]
        session = _start([sys.executable, *robot], subprocess.DEVNULL)
        try:
            for _ in range(rounds):
                for way in WAYS:
                    found[way].append(measure(way, leader, folder))
                    print(way, *_tell(found[way][-1]), flush=True)
        finally:
            for process in (session, *busy):
                process.terminate()
            session.wait(60)
    print(f"medians of {rounds}, {n_busy} busy beside")
    for way, values in found.items():
        print(f"{way:8}", *_tell(np.median(values, axis=0)))
    return 0


def _tell(values: Sequence[float]) -> list[str]:
    return [f"{name} {value:.2f}" for name, value in zip(_FIELDS, values, strict=True)]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--lead"]:
        sys.exit(run_lead(sys.argv[2], sys.argv[3], sys.argv[4:]))
    sys.exit(main(sys.argv[1:]))
