"""The process that has a port open is found in the table of processes."""

import os

from paprle.hardware.serial_bus.holders import describe_holders


def test_a_process_that_has_a_file_open_is_named(tmp_path):
    path = tmp_path / "port"
    with path.open("w"):
        found = describe_holders(str(path))

    assert str(os.getpid()) in found
    assert "python" in found
    assert describe_holders(str(path)) == ""


def test_a_table_that_cannot_be_read_names_none(tmp_path):
    (tmp_path / "12").mkdir()

    assert describe_holders("/dev/ttyACM0", tmp_path) == ""
