"""A session as a child process."""

import json
import shlex
import signal
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from lerobot.utils.errors import DeviceAlreadyConnectedError, DeviceNotConnectedError

OLDEST = 1.0  # [s] chosen: LeRobot's loop is slower than a session's, at times
_FOLLOWS = "ENGAGED"
_GOODBYE = 20.0  # [s] chosen: the robot brakes and is left by its policy


class Session:
    """A ``paprle run`` at our socket."""

    def __init__(self, command, key, words, timeout):
        """Start ``command``, with the socket's path at ``key``; wait for a message.

        ``timeout`` is in [s].

        Raises:
            DeviceNotConnectedError: If ended or silent.
        """
        self.message, self._came = None, 0.0
        self._connection = None
        self._folder = tempfile.TemporaryDirectory(prefix="paprle-")
        path = Path(self._folder.name) / "session.sock"
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))  # in a folder that is this user's alone
        self._listener.listen(1)
        self._log = (Path(self._folder.name) / "log.txt").open("w+")
        self._process = subprocess.Popen(
            [*shlex.split(command), "run", f"{key}={path}", *words],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # a key of the terminal is LeRobot's
        )
        threading.Thread(target=self._hear, daemon=True).start()
        end = time.monotonic() + timeout
        while not self._is_ready():
            if self._process.poll() is not None or time.monotonic() > end:
                words = self.read_log()
                self.close()
                raise DeviceNotConnectedError(
                    f"paprle: expected a session, got:\n{words}"
                )
            time.sleep(0.01)

    def _is_ready(self):
        told = self.message
        return told is not None and told.get("session.state", _FOLLOWS) == _FOLLOWS

    @property
    def is_alive(self):
        """Whether it runs."""
        return self._process.poll() is None

    def read(self):
        """Return the newest message.

        Raises:
            DeviceNotConnectedError: If ended or silent.
        """
        age = time.monotonic() - self._came
        if not self.is_alive or age > OLDEST:
            raise DeviceNotConnectedError(
                f"paprle: expected news of the session, got none for {age:.1f} [s]:\n"
                f"{self.read_log()}"
            )
        return self.message

    def send(self, message):
        """Send a message.

        Raises:
            DeviceNotConnectedError: If ended.
        """
        try:
            self._connection.sendall(json.dumps(message).encode() + b"\n")
        except OSError as err:
            raise DeviceNotConnectedError(
                f"paprle: expected a session, got {err}:\n{self.read_log()}"
            ) from err

    def read_log(self):
        """Return the end of its log."""
        self._log.flush()
        return Path(self._log.name).read_text(errors="replace")[-2000:]

    def close(self):
        """End the session after braking."""
        if self.is_alive:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(_GOODBYE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._connection is not None:
            self._connection.close()
        self._listener.close()
        self._log.close()
        self._folder.cleanup()

    def _hear(self):
        try:
            self._connection, _ = self._listener.accept()
            with self._connection.makefile("rb") as lines:
                for line in lines:
                    self.message, self._came = json.loads(line), time.monotonic()
        except (OSError, ValueError):
            return  # ``read`` tells that nothing came


class Connected:
    """The session behind a LeRobot device."""

    _session = None

    @property
    def is_connected(self):
        """Whether the session runs."""
        return self._session is not None and self._session.is_alive

    @property
    def is_calibrated(self):
        """True: PAPRLE calibrates its devices."""
        return True

    def calibrate(self):
        """Do nothing: ``paprle calibrate`` does."""

    def configure(self):
        """Do nothing: YAML does."""

    def disconnect(self):
        """End the session after braking."""
        if self._session is not None:
            self._session.close()
        self._session = None

    def _start(self, key, words):
        if self.is_connected:
            raise DeviceAlreadyConnectedError(f"{self} is already connected.")
        self.disconnect()
        words = ["session.status=false", *words]
        self._session = Session(self.config.command, key, words, self.config.timeout)

    def _meet(self):
        if self._session is None:
            raise DeviceNotConnectedError(
                f"{self} is not connected. Run `.connect()` first."
            )
        return self._session


def read_columns(command, words):
    """Return a session's joint names, object names and image sizes.

    Raises:
        ValueError: If PAPRLE refuses the words.
    """
    line = [*shlex.split(command), "dataset", "columns", *words]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(f"paprle: {done.stderr or done.stdout}")
    return json.loads(done.stdout.splitlines()[-1])
