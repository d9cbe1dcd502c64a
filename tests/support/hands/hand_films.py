"""Recordings of a hand that moves as a test says."""

import numpy as np

from paprle.hardware.hand.recording import write_recording
from paprle.hardware.imu.reader import Attitude
from paprle_emulators.hand.model import make_frame, make_hand

FPS = 30.0
START = np.array([0.0, 0.0, 0.6])  # [m] before the camera


def still_then_circle(t, still):
    """A hand that stays, then draws circles of 10 cm, 0.2 turns a second."""
    a = 2 * np.pi * 0.2 * max(t - still, 0.0)
    return START + [0.05 * (np.cos(a) - 1.0), 0.05 * np.sin(a), 0.0]


def make_film(seconds, still=1.0, path=still_then_circle):
    """Return frames and the sensor's times and orientations."""
    frames = [
        make_frame(k / FPS, k + 1, make_hand(path(k / FPS, still)))
        for k in range(int(seconds * FPS))
    ]
    t = np.arange(int(seconds * 200)) / 200.0
    half = 0.2 * np.sin(np.maximum(t - still, 0.0))
    quat = np.column_stack([np.cos(half), 0 * t, 0 * t, np.sin(half)])
    return frames, t, quat


def write_film(path, seconds, still=1.0, *, imu=True):
    """Write a recording and return its path as text."""
    frames, t, quat = make_film(seconds, still)
    if imu:
        write_recording(path, frames, t, quat)
    else:
        write_recording(path, frames)
    return str(path)


class Stage:
    """Hands and a wrist that do as a test says; the source of a real leader."""

    def __init__(self, clock):
        self.clock = clock
        self.frame = self.attitude = None
        self.has_imu, self.is_over, self.faults, self.counts = True, False, (), ()
        self.n = 0

    def show(self, *hands):
        self.n += 1
        self.frame = make_frame(self.clock() * 1e-9, self.n, *hands)

    def turn(self, psi=0.0, run=1):
        seq = 1 if self.attitude is None else self.attitude.seq + 1
        quat = np.array([np.cos(psi / 2), 0.0, 0.0, np.sin(psi / 2)])
        self.attitude = Attitude(self.clock(), quat, seq, run, True)

    def begin(self):
        pass

    def close(self):
        pass
