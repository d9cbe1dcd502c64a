"""Emulated device as a process."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any

START_TIMEOUT = 60.0  # chosen: a busy machine that imports for the first time [s]
ANSWER_TIMEOUT = 30.0  # chosen: a busy machine; an order is executed at once [s]
_END_TIMEOUT = 5.0  # chosen: one that takes longer is killed [s]
_CHUNK = 65_536  # [bytes]


class EmulatorError(RuntimeError):
    """A device did not start, refused an order, or died."""


class Emulator:
    """A running device; a context manager that ends it."""

    def __init__(self, device: str, words: Sequence[str] = ()) -> None:
        """Start it, as ``paprle-emulate``, and wait until ready.

        Raises:
            EmulatorError: If it does not start; has its error.
        """
        self.device = device
        self._folder = tempfile.TemporaryDirectory(prefix="emulator-")
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - until stop
        self._rest = b""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "paprle_emulators", device, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=self._make_environment(),
        )
        try:
            self.endpoint = self._read_line(START_TIMEOUT)
        except BaseException:
            self.stop()
            raise

    def __enter__(self) -> Emulator:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        code = self.process.poll()
        errors = self.read_errors()
        self.stop()
        if kind is not None:
            sys.stderr.write(errors)
        elif code not in {None, 0}:
            raise EmulatorError(f"emulator '{self.device}': it died ({code})\n{errors}")

    @property
    def ports(self) -> dict[str, str]:
        """Ports by limb or part."""
        return dict(self.endpoint.get("ports", {}))

    @property
    def port(self) -> str:
        """The only port.

        Raises:
            EmulatorError: If not one.
        """
        if len(self.ports) != 1:
            known = ", ".join(self.ports) or "none"
            raise EmulatorError(
                f"emulator '{self.device}': expected one port, got {known}"
            )
        return next(iter(self.ports.values()))

    @property
    def overrides(self) -> list[str]:
        """A session's settings."""
        return list(self.endpoint.get("overrides", []))

    def order(self, order: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to an order such as ``{"cmd": "state"}``.

        Raises:
            EmulatorError: If refused, or the emulator died.
        """
        stdin = self.process.stdin
        try:
            if stdin is not None:
                stdin.write(json.dumps(order).encode() + b"\n")
                stdin.flush()
        except (BrokenPipeError, ValueError) as err:
            raise self._fail("it has ended") from err
        answer = self._read_line(ANSWER_TIMEOUT)
        if not answer.get("ok", "error" not in answer):
            raise EmulatorError(f"emulator '{self.device}': {answer.get('error')}")
        return answer

    def read_errors(self) -> str:
        """Return its standard error."""
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")

    def stop(self) -> int:
        """End it; return its exit code."""
        process = self.process
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(_END_TIMEOUT)
            except subprocess.TimeoutExpired:
                process.kill()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        code = process.wait()
        self._errors.close()
        self._folder.cleanup()
        return code

    def _make_environment(self) -> dict[str, str]:
        places = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        path = os.pathsep.join(filter(None, places))
        return os.environ | {"XDG_RUNTIME_DIR": self._folder.name, "PYTHONPATH": path}

    def _read_line(self, timeout: float) -> dict[str, Any]:
        out = self.process.stdout
        end = time.monotonic() + timeout
        with selectors.DefaultSelector() as selector:
            if out is not None:
                selector.register(out, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                if not selector.select(max(0.0, end - time.monotonic())):
                    raise self._fail(f"it said nothing for {timeout:g} [s]")
                data = b"" if out is None else os.read(out.fileno(), _CHUNK)
                if not data:
                    self.process.wait(_END_TIMEOUT)
                    raise self._fail("it has ended")
                self._rest += data
        line, self._rest = self._rest.split(b"\n", 1)
        found = json.loads(line)
        return found if isinstance(found, dict) else {"line": found}

    def _fail(self, why: str) -> EmulatorError:
        return EmulatorError(f"emulator '{self.device}': {why}\n{self.read_errors()}")


def start(
    device: str,
    *,
    ideal: bool = False,
    faults: Sequence[str | Mapping[str, Any]] = (),
    **settings: object,
) -> Emulator:
    """Return a started device, which ends with its context.

    Args:
        device: As ``paprle-emulate`` names it.
        ideal: Without reported vices.
        faults: As ``"lost,share=0.01"`` or a mapping.
        **settings: See ``paprle-emulate DEVICE --help``.

    Raises:
        EmulatorError: If it does not start.
    """
    words = [f"{key}={value}" for key, value in settings.items()]
    for fault in faults:
        words += ["--faults", fault if isinstance(fault, str) else json.dumps(fault)]
    return Emulator(device, [*words, *["--ideal"] * ideal])
