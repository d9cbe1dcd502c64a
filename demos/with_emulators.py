"""Run a session beside emulated devices, each in a process of its own.

    python demos/with_emulators.py EMULATOR [key=value …] [+ EMULATOR …] -- SETTINGS …

An emulator is a folder of ``hardware`` (``dynamixel``, ``piper``, ``ros``) with its own
``key=value``. Each prints how it is reached; those settings go to ``run.py`` before the
ones given here. The session's exit code is returned; the emulators end with it.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_SHUTDOWN_TIMEOUT = 5.0  # [s] chosen: an emulator that takes longer is killed


def main(words: Sequence[str]) -> int:
    """Start the emulators, run the session, end the emulators."""
    if "--" not in words or words[0] in {"--", "-h", "--help"}:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    # a Ctrl-C goes to the whole group: the session takes it, this only waits
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    cut = list(words).index("--")
    running: list[subprocess.Popen[str]] = []
    try:
        settings = []
        for emulator in _split(words[:cut]):
            running.append(_start(emulator))
            settings += _read_settings(running[-1], emulator)
        command = [sys.executable, str(ROOT / "run.py"), *settings, *words[cut + 1 :]]
        sys.stdout.write(f"run.py {' '.join(command[2:])}\n")
        sys.stdout.flush()
        return subprocess.run(command, check=False).returncode
    finally:
        for process in running:
            process.terminate()
        for process in running:
            _wait(process)


def _split(words: Sequence[str]) -> list[list[str]]:
    """Return the words of each emulator."""
    parts: list[list[str]] = [[]]
    for word in words:
        if word == "+":
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _start(words: list[str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", f"hardware.{words[0]}.emulator", *words[1:]]
    return subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip


def _read_settings(process: subprocess.Popen[str], words: list[str]) -> list[str]:
    """Return the settings with which a session reaches it.

    Raises:
        SystemExit: If it did not start; it has said why.
    """
    line = process.stdout.readline() if process.stdout else ""
    if not line:
        raise SystemExit(f"emulator '{' '.join(words)}': it did not start")
    return list(json.loads(line)["overrides"])


def _wait(process: subprocess.Popen[str]) -> None:
    try:
        process.wait(_SHUTDOWN_TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
