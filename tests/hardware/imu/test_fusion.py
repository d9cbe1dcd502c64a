"""Orientation from raw measurements, beside the filter itself on the same data."""

import struct

import numpy as np
import pytest
import vqf
from shared_data import find_shared

from paprle.hardware.imu.fusion import Orientation
from paprle.hardware.imu.packets import Packet, PacketDecoder
from paprle_emulators.imu.packets import encode

G = 9.81


def measure_error(a, b):
    """Return angles between rotations, [rad], and without what heading differs by."""
    d = multiply(conjugate(a), b)
    total = 2 * np.arccos(np.clip(np.abs(d[:, 0]), 0, 1))
    w = multiply(a, conjugate(b))
    inclination = 2 * np.arccos(np.clip(np.hypot(w[:, 0], w[:, 3]), 0, 1))
    return total, inclination


def conjugate(q):
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def multiply(a, b):
    w, x, y, z = a.T
    W, X, Y, Z = b.T
    return np.array([
        w * W - x * X - y * Y - z * Z,
        w * X + x * W + y * Z - z * Y,
        w * Y - x * Z + y * W + z * X,
        w * Z + x * Y - y * X + z * W,
    ]).T  # fmt: skip


def rms(values):
    return float(np.sqrt(np.nanmean(values**2)))


def fuse(t_us, gyr, acc, rate, keep=None):
    """Return orientations of all samples, through bytes; NaN where lost."""
    frames = [
        encode("inertial", t, (*g, *a))
        for t, g, a in zip(t_us, gyr.tolist(), acc.tolist(), strict=True)
    ]
    decoder, fusion = PacketDecoder("inertial"), Orientation(rate)
    row = {t: k for k, t in enumerate(t_us)}
    out = np.full((len(gyr), 4), np.nan)
    for k, frame in enumerate(frames):
        if keep is not None and not keep[k]:
            continue
        for packet in decoder.feed(frame):
            out[row[packet.t_us]] = fusion.update(packet)
    return out


def make_motion(n, rate):
    """A turn about all axes with known orientation, and what a sensor shows of it."""
    q = np.array([[1.0, 0.0, 0.0, 0.0]])
    qs, gyr = [], []
    for k in range(n):
        t = k / rate
        w = np.array([np.sin(t), 0.7 * np.cos(1.3 * t), 0.5 * np.sin(0.4 * t)])
        angle = np.linalg.norm(w) / rate
        axis = w / np.linalg.norm(w)
        step = np.array([[np.cos(angle / 2), *(np.sin(angle / 2) * axis)]])
        q = multiply(q, step)
        qs.append(q[0])
        gyr.append(w)
    qs = np.array(qs)
    up = np.tile([0.0, 0.0, 0.0, G], (n, 1))
    acc = multiply(multiply(conjugate(qs), up), qs)[:, 1:]
    return qs, np.array(gyr), acc


@pytest.mark.parametrize("share", [0.0, 0.3], ids=["all", "30 % lost"])
def test_a_known_turn_is_followed_though_packets_are_lost(share):
    rate, n = 200.0, 2000
    true, gyr, acc = make_motion(n, rate)
    keep = np.random.default_rng(0).random(n) >= share
    keep[:2] = True

    out = fuse([round(k * 5000) for k in range(n)], gyr, acc, rate, keep)

    there = ~np.isnan(out[:, 0])
    total, _ = measure_error(true[there], out[there])
    total -= total[5]
    assert np.abs(total).max() < 0.02


def test_a_sensor_slower_than_told_turns_no_less():
    true, gyr, acc = make_motion(2000, 190.0)

    out = fuse([round(k * 1e6 / 190.0) for k in range(2000)], gyr, acc, 200.0)

    total, _ = measure_error(true[5:], out[5:])
    assert total.max() < 0.03


def test_another_run_begins_anew_and_has_to_settle():
    fusion = Orientation(200.0)
    for k in range(300):
        fusion.update(Packet(k * 5000, 1, (0.0, 0.0, 1.0, 0.0, 0.0, G)))
    assert fusion.is_settled

    q = fusion.update(Packet(0, 2, (0.0, 0.0, 0.0, 0.0, 0.0, G)))

    assert not fusion.is_settled
    assert q == pytest.approx([1, 0, 0, 0], abs=1e-6)


@pytest.mark.nightly
@pytest.mark.parametrize("share", [0.0, 0.02], ids=["all", "2 % lost"])
def test_error_on_recorded_motion_is_that_of_the_filter(share):
    h5py = pytest.importorskip("h5py")
    with h5py.File(find_shared("imu/broad_03_slow_rotation_C.hdf5")) as file:
        gyr, acc, true = (file[k][:] for k in ("imu_gyr", "imu_acc", "opt_quat"))
        movement, rate = file["movement"][:], float(file.attrs["sampling_rate"])
    whole = vqf.VQF(1.0 / rate).updateBatch(
        np.ascontiguousarray(gyr), np.ascontiguousarray(acc)
    )["quat6D"]
    keep = np.random.default_rng(0).random(len(gyr)) >= share
    keep[:2] = True

    ours = fuse([round(k * 1e6 / rate) for k in range(len(gyr))], gyr, acc, rate, keep)

    rows = movement & ~np.isnan(true[:, 0]) & ~np.isnan(ours[:, 0])
    errors = []
    for q in (ours, whole):
        _, inclination = measure_error(q[rows], true[rows])
        heading = 2 * np.arctan2(*multiply(true[rows], conjugate(q[rows]))[:, [3, 0]].T)
        heading = np.angle(np.exp(1j * (heading - heading[0])))
        errors.append((rms(inclination), rms(heading)))
    (tilt, heading), (tilt_vqf, heading_vqf) = errors
    assert tilt <= 1.5 * tilt_vqf
    assert heading <= 1.5 * heading_vqf
    assert tilt < np.deg2rad(1.5)


@pytest.mark.nightly
def test_a_recording_of_another_sensor_is_fused_as_the_filter_does():
    path = find_shared("imu/xio_sensor_data.csv")
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    t_us = np.round(table[:, 0] * 1e6).astype(int).tolist()
    gyr, acc = np.deg2rad(table[:, 1:4]), table[:, 4:7] * G
    whole = vqf.VQF(float(np.median(np.diff(table[:, 0])))).updateBatch(
        np.ascontiguousarray(gyr), np.ascontiguousarray(acc)
    )["quat6D"]

    ours = fuse(t_us, gyr, acc, 100.0)

    there = ~np.isnan(ours[:, 0])
    assert there.mean() > 0.999
    _, inclination = measure_error(ours[there], whole[there])
    assert rms(inclination) < np.deg2rad(1.0)


def test_values_keep_what_float32_holds():
    values = (0.1, -0.2, 0.3, 1.0, 2.0, 9.81)
    (first,) = PacketDecoder("inertial").feed(
        encode("inertial", 0, values) + encode("inertial", 5000, values)
    )[:1]

    assert first.values == struct.unpack("<6f", struct.pack("<6f", *values))
