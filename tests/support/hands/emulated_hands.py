"""Hands at the emulated device of each live leader."""

from __future__ import annotations

import contextlib
import json
import os
from collections import deque
from dataclasses import replace
from typing import ClassVar

import numpy as np
from hand_films import START, Stage
from puppeteer_step import SteppedBus

import paprle.leaders.puppeteer.rig
from paprle.hardware.gamepad.virtual import VirtualPad
from paprle.hardware.hand.frames import FrameStream, pack_frame
from paprle.hardware.web.errors import MessageError
from paprle.hardware.web.messages import parse_message
from paprle.testing import EmulatedHand
from paprle.testing.stepped import H
from paprle_emulators.dynamixel.config import read_rig
from paprle_emulators.dynamixel.faults import RigFaults
from paprle_emulators.dynamixel.rig import Rig
from paprle_emulators.hand.model import make_frame, make_hand

UNIT = [0.0, 0.0, 0.0, 1.0]
BAD = ["", "{", "[]", "NaN", "x" * 5000, '{"type": "sample"}', "[" * 3000,
       '{"type": "sample", "seq": 1e999}']  # fmt: skip


class PageHand(EmulatedHand):
    """A page's messages, by the code that reads them; no server is between."""

    faults = frozenset({
        "off", "late", "garbage", "leap", "lost", "repeats", "lapse", "reconnect",
    })  # fmt: skip
    every = 3  # ticks between messages: 67 Hz

    def __init__(self, leader, clock):
        super().__init__()
        self.device, self.clock = leader._station.device, clock
        self.limbs = leader.info.limbs
        self.device.begin(self)
        self.y, self.n, self.seq, self.press, self.was_held = 0.0, 0, 0, 0, False
        self.ahead_ms = 0.0  # of the device's clock
        self.kept, self.told = [], deque(maxlen=8)

    def tick(self):
        self.n += 1
        self.y += self.speed * H
        self.press += self.is_held and not self.was_held
        is_changed, self.was_held = self.is_held != self.was_held, self.is_held
        if self.fault == "reconnect":
            self.fault, self.seq = "", 0
            self.device.end(self)
            self.device.begin(self)
        if self.fault == "lapse":
            self.deliver(self.compose(tracked=False, held=False))
            self.fault, self.press = "", self.press + 1
            self.deliver(self.compose())
        if self.fault != "late" and self.kept:
            for text in self.kept:
                self.deliver(text)
            self.kept = []
        if self.fault == "off" or (self.n % self.every and not is_changed):
            return
        if self.fault == "garbage":
            self.deliver(BAD[self.n % len(BAD)])
            return
        text = self.compose()
        if self.fault == "late":
            self.kept.append(text)
        else:
            self.deliver(text)
        if self.fault == "repeats":
            self.deliver(text)
            self.deliver(self.told[0])
        self.told.append(text)

    def compose(self, **changes):
        self.seq += 1
        leap = 1.0 if self.fault == "leap" else 0.0
        hand = {
            "p": [leap, 0.0, -self.y], "q": UNIT, "tracked": self.fault != "lost",
            "held": self.is_held, "press": self.press, "opening": self.opening,
            **changes,
        }  # fmt: skip
        t = max(self.clock() * 1e-6 + self.ahead_ms, 0.0)
        return json.dumps({
            "type": "sample", "seq": self.seq, "t": t,
            "limbs": dict.fromkeys(self.limbs, hand),
        })  # fmt: skip

    def deliver(self, text):
        with contextlib.suppress(MessageError):
            self.device.accept(parse_message(text))


class PadHand(EmulatedHand):
    """SDL's virtual pad."""

    # SDL gives states and not messages: none is late, old or wrong in form, and any
    # deflection is one that a thumb may make
    faults = frozenset({"off"})

    def __init__(self, _leader, _clock, name="Faulty pad"):
        super().__init__()
        self.name, self.pad = name, PADS[name]

    def tick(self):
        if self.fault == "off" and self.pad is not None:
            self.pad.unplug()
            self.pad = None
        if self.fault != "off" and self.pad is None:
            self.pad = VirtualPad(self.name)
        if self.pad is not None:
            self.pad.move("leftshoulder", float(self.is_held))
            self.pad.move("leftx", 5.0 * self.speed)

    def close(self):
        if self.pad is not None:
            self.pad.unplug()


PADS = {}


def plug_pad(name="Faulty pad"):
    """Plug a pad in for a leader to find."""
    PADS[name] = VirtualPad(name)


class KeyHand(EmulatedHand):
    """Keys on a pipe: one that is held repeats."""

    # one that says nothing is a hand that rests, and the session stays engaged:
    # tests/leaders/keyboard/test_stalls.py; a pipe that ends never comes back:
    # test_keyboard.py
    faults = frozenset({"garbage"})

    def __init__(self, _leader, _clock, fd):
        super().__init__()
        self.fd, self.n = fd, 0

    def tick(self):
        self.n += 1
        if self.fault == "garbage":
            os.write(self.fd, bytes([(37 * self.n) % 32, 0xFF, 0x1B, 0x5B]))
        elif self.speed and self.n % 6 == 0:
            os.write(self.fd, b"w")


class MouseHand(EmulatedHand):
    """Reports of an emulated mouse, read by the real hidapi."""

    # reports are motions, none of which is old; a cap may be pushed in one report
    faults = frozenset({"off", "garbage"})

    def __init__(self, _leader, _clock, mouse):
        super().__init__()
        self.mouse, self.n, self.is_in = mouse, 0, True

    def tick(self):
        self.n += 1
        if self.is_in == (self.fault == "off"):
            self.is_in = not self.is_in
            (self.mouse.plug if self.is_in else self.mouse.unplug)()
        elif self.fault == "garbage":
            self.mouse.send(bytes((k * self.n) % 256 for k in range(self.n % 9)))
        elif self.n % 3 == 0:
            self.mouse.move((0.0, 5.0 * self.speed, 0.0))


class PuppeteerHand(EmulatedHand):
    """A hand at an emulated PAPRLE puppeteer: real bus code, servos in virtual time."""

    # a bus answers or does not, and its answers take time: none is late or old. Stuck
    # encoders and the rest of the matrix: tests/faults/test_puppeteer_matrix.py
    faults = frozenset({"off", "garbage", "lost"})
    CAUSES: ClassVar = {
        "off": {"fault": "lost", "p": 1.0},
        "garbage": {"fault": "corrupted", "p": 0.3},
        "lost": {"fault": "silent", "joint": "joint2"},
    }

    def __init__(self, leader, clock):
        super().__init__()
        self.buses, self.clock = list(leader._buses.values()), clock
        self.rig, self.motion = self.buses[0].rig, ""
        self.causes, self.caused = RigFaults(self.rig), ""
        self.was_held = False

    def play(self, motion):
        if motion != self.motion:
            self.motion = motion
            self.rig.play(motion)

    def spoil(self):
        """Let the rig have the fault that is asked for."""
        if self.fault == self.caused:
            return
        self.causes.clear()
        self.caused = self.fault
        if self.fault in self.CAUSES:
            self.causes.cause(dict(self.CAUSES[self.fault]))

    def tick(self):
        self.spoil()
        if self.is_held and not self.was_held:
            self.play("grasp_all")
        elif self.speed:
            self.play("sines")
        elif not self.is_held or self.motion == "sines":
            self.play("still")
        self.was_held = self.is_held
        for bus in self.buses:
            bus.run_to(self.clock() + round(H * 1e9))


def step_servos(monkeypatch, name):
    """Let a puppeteer's servos live in the session's time."""
    rig = Rig(replace(read_rig(name), watchdog="ideal"))
    monkeypatch.setattr(
        paprle.leaders.puppeteer.rig,
        "BusThread",
        lambda settings, clock: SteppedBus(settings, clock, rig, clock()),
    )


class BareHand(EmulatedHand):
    """A hand before a camera; what is told of images and of the wrist is a test's."""

    # packets of the wrist: tests/hardware/imu
    faults = frozenset({"off", "late", "garbage", "leap", "lost", "repeats"})
    every = 7  # ticks between images: 29 Hz

    def __init__(self, leader, clock):
        super().__init__()
        self.stage, self.clock = leader._source, clock
        assert isinstance(self.stage, Stage)
        self.p, self.n, self.n_images = START.copy(), 0, 0
        self.run, self.feels = 1, True
        self.spoil = lambda hand: hand
        self.stream, self.rng = FrameStream(), np.random.default_rng(0)
        self.kept, self.told = [], deque(maxlen=2)

    @property
    def n_refused(self):
        return self.stream.n_refused

    def tick(self):
        self.n += 1
        self.p = self.p + [self.speed * H, 0.0, 0.0]
        if self.fault != "late":
            for frame in self.kept:
                self.deliver(frame)
            self.kept = []
        if self.fault == "off":
            return
        if self.feels and self.fault != "late":
            self.stage.turn(run=self.run)
        if self.n % self.every == 0:
            self.look()
        elif self.fault == "repeats" and len(self.told) == 2:
            self.deliver(self.told[self.n % 2])

    def look(self):
        """Take an image."""
        frame = make_frame(self.clock() * 1e-9, 1, *self.find_hands())
        if self.fault == "garbage":
            for parsed in self.stream.feed(spoil_bytes(pack_frame(frame), self.rng)):
                self.deliver(parsed)
        if self.fault == "late":
            self.kept.append(frame)
        else:
            self.told.append(frame)
            self.deliver(frame)

    def find_hands(self):
        """Return what is seen of the hand, and of the other one, which lets go."""
        if self.fault == "garbage":  # what is no hand, seen anywhere
            p = [*self.rng.uniform(-0.3, 0.3, 2), self.rng.uniform(0.3, 1.5)]
            return [make_hand(np.array(p), curl=self.rng.uniform())]
        p = self.p + [0.0, 0.0, 0.4 * (self.fault == "leap")]
        pinch = float(self.opening < 0.75)  # of thumb and index, or none
        hand = make_hand(p, pinch=pinch)
        hands = [] if self.fault == "lost" else [self.spoil(hand)]
        if not self.is_held:
            hands.append(make_hand(p + [0.3, 0.0, 0.0], label="left"))
        return hands

    def deliver(self, frame):
        """Show an image as the tracker's process does: numbered, and never older."""
        before = self.stage.frame
        if before is not None:
            frame = frame._replace(stamp_ns=max(frame.stamp_ns, before.stamp_ns))
        self.n_images += 1
        self.stage.frame = frame._replace(seq=self.n_images)


def spoil_bytes(data, rng):
    """Return a record with a byte that is another one."""
    spoilt = bytearray(data)
    spoilt[rng.integers(len(spoilt))] ^= int(rng.integers(1, 256))
    return bytes(spoilt)
