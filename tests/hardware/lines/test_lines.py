"""Lines of JSON over a Unix socket, with a program that reads slowly or goes."""

import json
import socket

import pytest

from paprle.hardware.lines.lines import Lines


@pytest.fixture
def pair(tmp_path):
    """Return our end and theirs."""
    path = str(tmp_path / "s.sock")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(path)
    listener.listen(1)
    ours = Lines(path)
    theirs, _ = listener.accept()
    yield ours, theirs
    ours.close()
    theirs.close()
    listener.close()


def test_the_newest_whole_line_counts(pair):
    ours, theirs = pair

    assert ours.read() is None
    theirs.sendall(b'{"a": 1}\n{"a": 2}\n{"a"')
    assert ours.read() == {"a": 2}
    assert ours.read() is None
    theirs.sendall(b": 3}\n")
    assert ours.read() == {"a": 3}


def test_a_reader_that_stands_still_misses_messages_and_gets_whole_ones(pair):
    ours, theirs = pair
    large = {"data": "x" * 300_000}

    sent = [ours.send(large) for _ in range(3)]
    assert False in sent

    got = b""
    theirs.settimeout(1.0)
    while got.count(b"\n") < 1:
        got += theirs.recv(1 << 20)
        ours.send(large)
    assert json.loads(got.split(b"\n")[0]) == large


@pytest.mark.parametrize("data", [b"no json\n", b"[" * 100_000 + b"\n"])
def test_invalid_json_is_refused(pair, data):
    ours, theirs = pair
    theirs.sendall(data)

    with pytest.raises(ConnectionError, match="expected a line of JSON"):
        ours.read()


def test_a_closed_peer_is_reported(pair):
    ours, theirs = pair
    theirs.close()

    with pytest.raises(ConnectionError, match="has gone"):
        ours.read()


def test_a_missing_listener_is_reported(tmp_path):
    with pytest.raises(ConnectionError, match="expected a program that listens"):
        Lines(str(tmp_path / "none.sock"))
