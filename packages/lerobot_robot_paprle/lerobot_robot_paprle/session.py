"""A session of PAPRLE as a child process, and lines of JSON to and from it."""

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
    """One run of ``paprle run``, which connects to a socket of ours.

    Attributes:
        message: The newest that it told; None before the first.
    """

    def __init__(self, command, key, words, timeout):
        """Start it, and wait until it has told something.

        Args:
            command: Starts PAPRLE.
            key: Of the setting that takes the socket's path.
            words: The other words of its command line.
            timeout: How long to wait, [s].

        Raises:
            DeviceNotConnectedError: If it ended, or told nothing.
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
        """Whether its robot follows; a leader has no such news."""
        told = self.message
        return told is not None and told.get("session.state", _FOLLOWS) == _FOLLOWS

    @property
    def is_alive(self):
        """Whether it runs."""
        return self._process.poll() is None

    def read(self):
        """Return the newest message.

        Raises:
            DeviceNotConnectedError: If it has gone, or tells nothing more.
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
            DeviceNotConnectedError: If it has gone.
        """
        try:
            self._connection.sendall(json.dumps(message).encode() + b"\n")
        except OSError as err:
            raise DeviceNotConnectedError(
                f"paprle: expected a session, got {err}:\n{self.read_log()}"
            ) from err

    def read_log(self):
        """Return the end of what it said."""
        self._log.flush()
        return Path(self._log.name).read_text(errors="replace")[-2000:]

    def close(self):
        """Let it brake, and end it."""
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
    """The session behind a robot or a teleoperator of LeRobot.

    Attributes:
        config: With ``command`` and ``timeout``.
    """

    _session = None

    @property
    def is_connected(self):
        """Whether its session runs."""
        return self._session is not None and self._session.is_alive

    @property
    def is_calibrated(self):
        """True: PAPRLE calibrates its devices."""
        return True

    def calibrate(self):
        """Do nothing: ``paprle calibrate`` does."""

    def configure(self):
        """Do nothing: the session's YAML does."""

    def disconnect(self):
        """Let the robot brake, and end the session."""
        if self._session is not None:
            self._session.close()
        self._session = None

    def _start(self, key, words):
        """Start a session, or another after one that has ended.

        Raises:
            DeviceAlreadyConnectedError: If one runs.
            DeviceNotConnectedError: If none comes to run.
        """
        if self.is_connected:
            raise DeviceAlreadyConnectedError(f"{self} is already connected.")
        self.disconnect()
        words = ["session.status=false", *words]
        self._session = Session(self.config.command, key, words, self.config.timeout)

    def _meet(self):
        """Return its session.

        Raises:
            DeviceNotConnectedError: If it was not connected.
        """
        if self._session is None:
            raise DeviceNotConnectedError(
                f"{self} is not connected. Run `.connect()` first."
            )
        return self._session


def read_columns(command, words):
    """Return names of joints and objects, and sizes of images, of such a session.

    Args:
        command: Starts PAPRLE.
        words: Of its command line.

    Raises:
        ValueError: If it makes no session of these words.
    """
    line = [*shlex.split(command), "dataset", "columns", *words]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(f"paprle: {done.stderr or done.stdout}")
    return json.loads(done.stdout.splitlines()[-1])
