"""Run a session beside emulated devices, each in a process of its own.

    python demos/with_emulators.py EMULATOR [key=value …] [+ EMULATOR …] -- SETTINGS …

An emulator is a package of ``paprle_emulators`` (``dynamixel``, ``piper``, ``ros``)
with its own ``key=value``. The session is ``run.py`` with the settings as they are
given here; it finds the emulators by their notices, in a runtime folder that only these
processes share. The session's exit code is returned; the emulators end with it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_SHUTDOWN_TIMEOUT = 5.0  # [s] chosen: an emulator that takes longer is killed


def main(words: Sequence[str]) -> int:
    """Run a session with emulators."""
    if "--" not in words or words[0] in {"--", "-h", "--help"}:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    # a Ctrl-C goes to the whole group: the session takes it, this only waits
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    cut = list(words).index("--")
    with tempfile.TemporaryDirectory(prefix="paprle-") as folder:
        return _run(_split(words[:cut]), words[cut + 1 :], folder)


def _run(emulators: list[list[str]], settings: Sequence[str], folder: str) -> int:
    env = os.environ | {"XDG_RUNTIME_DIR": folder}
    running: list[subprocess.Popen[str]] = []
    try:
        for emulator in emulators:
            running.append(_start(emulator, env))
            _wait_until_ready(running[-1], emulator)
        sys.stdout.write(f"run.py {' '.join(settings)}\n")
        sys.stdout.flush()
        command = [sys.executable, str(ROOT / "run.py"), *settings]
        return subprocess.run(command, env=env, check=False).returncode
    finally:
        for process in running:
            process.terminate()
        for process in running:
            _wait(process)


def _split(words: Sequence[str]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for word in words:
        if word == "+":
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _start(words: list[str], env: Mapping[str, str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", f"paprle_emulators.{words[0]}", *words[1:]]
    return subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        start_new_session=True, env=env,
    )  # fmt: skip


def _wait_until_ready(process: subprocess.Popen[str], words: list[str]) -> None:
    if not process.stdout or not process.stdout.readline():
        raise SystemExit(f"emulator '{' '.join(words)}': it did not start")


def _wait(process: subprocess.Popen[str]) -> None:
    try:
        process.wait(_SHUTDOWN_TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
