"""The reader of a sensor, through pyserial, on a pseudo-terminal that misbehaves."""

import time

import numpy as np
import pytest

from paprle.hardware.imu.errors import ImuError
from paprle.hardware.imu.reader import ImuPort, ImuReader
from paprle_emulators.imu.sensor import EmulatedImu

PATIENCE = 10.0  # [s] chosen: a busy machine


def wait_for(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.002)


@pytest.fixture
def imu(tmp_path):
    imu = EmulatedImu(str(tmp_path / "imu"))
    yield imu
    imu.close()


@pytest.fixture
def reader(imu):
    reader = ImuReader(ImuPort(path=imu.path, boot=0.0), time.monotonic_ns)
    reader.open()
    yield reader
    reader.close()


def until_started(imu):
    def is_started():
        imu.write(0)
        return imu.was_started

    wait_for(is_started)


def say(imu, reader, n):
    """Write packets and wait until all that may be passed on are."""
    before = 0 if reader.newest is None else reader.newest.seq
    imu.write(n)
    wait_for(lambda: reader.newest is not None and reader.newest.seq >= before + n)


def test_a_sensor_is_told_to_start_and_is_heard(imu, reader):
    until_started(imu)

    say(imu, reader, 20)

    newest = reader.newest
    assert newest.seq == 20
    assert np.linalg.norm(newest.quat_wxyz) == pytest.approx(1.0)
    assert abs(time.monotonic_ns() - newest.stamp_ns) < PATIENCE * 1e9
    assert reader.fault == ""


def test_damaged_packets_cost_themselves_alone(imu, reader):
    until_started(imu)
    say(imu, reader, 10)
    imu.set_fault("flip", 0.5)
    imu.write(40)
    imu.set_fault("flip", 0.0)
    imu.write(10)
    wait_for(lambda: reader.newest.seq >= 60 - imu.n_damaged)

    assert 10 < imu.n_damaged < 30
    assert reader.tally.n_accepted == 60 - imu.n_damaged
    assert reader.newest.run == 1


@pytest.mark.parametrize("fault", ["silent", "stuck", "not_finite"])
def test_unusable_frames_give_no_new_sample(imu, reader, fault):
    until_started(imu)
    say(imu, reader, 10)
    seq = reader.newest.seq

    imu.set_fault(fault)
    imu.write(50)
    time.sleep(0.1)

    assert reader.newest.seq == seq


def test_a_clock_that_begins_anew_is_another_run(imu, reader):
    until_started(imu)
    say(imu, reader, 10)

    imu.set_fault("restart")
    say(imu, reader, 10)

    assert reader.newest.run == 2


@pytest.mark.long
def test_unplugged_and_back_is_heard_again(imu, reader):
    until_started(imu)
    say(imu, reader, 10)

    imu.unplug()
    wait_for(lambda: reader.fault)
    imu.plug()
    until_started(imu)
    say(imu, reader, 10)

    assert reader.fault == ""
    assert reader.newest.run > 1


@pytest.mark.nightly
def test_a_sensor_that_is_silent_for_a_second_is_started_again(imu, reader):
    until_started(imu)
    say(imu, reader, 10)
    imu.was_started = False

    until_started(imu)

    assert reader.n_reopened >= 1


def test_no_such_port_says_what_to_do(tmp_path):
    reader = ImuReader(ImuPort(path=str(tmp_path / "none")), time.monotonic_ns)

    with pytest.raises(ImuError, match="expected a serial port.*plugged in"):
        reader.open()
