"""The observer tells what is sent, and its listener may go."""

import json
import socket

import pytest
from lock_step import load_piper

from paprle.contracts.errors import DeviceError
from paprle.observers.socket.config import SocketConfig
from paprle.observers.socket.observer import SocketObserver
from paprle.testing import ManualClock
from paprle.testing.observers import ObserverContract
from paprle.testing.views import make_session_view


@pytest.fixture
def listener(tmp_path):
    path = tmp_path / "s.sock"
    one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    one.bind(str(path))
    one.listen(8)
    yield path, one
    one.close()


class TestContract(ObserverContract):
    robot = load_piper().info

    @pytest.fixture(autouse=True)
    def _listen(self, listener):
        self.path = listener[0]

    def make_observer(self, clock):
        return SocketObserver(SocketConfig(path=str(self.path)), self.robot, clock)


def test_the_observer_sends_commands_in_the_units_of_data_sets_until_nobody_listens(
    listener,
):
    robot = load_piper().info
    path, one = listener
    observer = SocketObserver(SocketConfig(path=str(path)), robot, ManualClock())
    observer.open()
    theirs, _ = one.accept()

    observer.observe(make_session_view(robot))

    told = json.loads(theirs.recv(4096))
    assert told["is_driven"]
    assert told["action"]["joint2.pos"] == pytest.approx(85.94, abs=0.01)
    theirs.close()
    for _ in range(3):
        observer.observe(make_session_view(robot))
    observer.close()


def test_without_a_listener_it_says_so(tmp_path):
    config = SocketConfig(path=str(tmp_path / "none.sock"))
    observer = SocketObserver(config, load_piper().info, ManualClock())

    with pytest.raises(DeviceError, match="observers.socket: .*that listens"):
        observer.open()
