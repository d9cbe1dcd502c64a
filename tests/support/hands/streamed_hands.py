"""Hands whose devices send messages, and what a network does to those on their way."""

from __future__ import annotations

import json
import math
import queue
import random
import time
from abc import abstractmethod
from collections import deque
from typing import ClassVar

import numpy as np
import pinocchio as pin
from emulated_hands import PageHand

from paprle.contracts.types import LeaderSample, LimbCommand
from paprle.hardware.ros.joints import Joy, Pose, encode_joy, encode_pose
from paprle.hardware.ros.messages import JOY, POSE_STAMPED
from paprle.hardware.web.conversation import Conversation
from paprle.hardware.web.messages import VERSION
from paprle.link.remote_leader.operator_side import OperatorSide
from paprle.observers.view.messages import VERSION as VIEW_VERSION
from paprle.observers.view.page_socket import Talk
from paprle.observers.view.panel import Panel
from paprle.testing import EmulatedHand
from paprle.testing.stepped import H
from paprle_emulators.visionpro.headset import EmulatedVisionPro

UNIT = [0.0, 0.0, 0.0, 1.0]
DELAY = round(0.3 / H)  # ticks; spec: safety.md 4, row 5
SKEW_NS = 7_000_000_000_000  # [ns] between the clocks of two hosts
SPEEDS = 0.2, 1.0  # [m/s] and [rad/s] of a page's keys at full deflection
NUMBERS = (math.nan, math.inf, -math.inf, 1e30, -1e30, 7.0)
"""None of these is an element of a rotation."""


class Way:
    """From a device to whoever reads it: at once, late, twice.

    Args:
        deliver: Takes a message at its end.
    """

    def __init__(self, deliver):
        self.deliver, self.n = deliver, 0
        self._under_way, self._told = deque(), deque(maxlen=8)

    def carry(self, messages, fault):
        """Take what is sent in a tick; deliver what is due in it."""
        self.n += 1
        self._under_way += [(self.n, message) for message in messages]
        held_back = {"late": math.inf, "delayed": DELAY}.get(fault, 0)
        while self._under_way and self.n - self._under_way[0][0] >= held_back:
            _, message = self._under_way.popleft()
            self.deliver(message)
            if fault == "repeats":
                self.deliver(message)
                self.deliver(self._told[0] if self._told else message)
            self._told.append(message)


class StreamHand(EmulatedHand):
    """A device that says where the hand is, each time anew."""

    faults = frozenset({"off", "late", "delayed", "garbage", "leap"})
    every = 2  # ticks between messages: 100 Hz

    def __init__(self):
        super().__init__()
        self.x, self.n, self.way = 0.0, 0, Way(self.deliver)

    @property
    def place(self):
        """How far forward the device says that the hand is, [m]."""
        return self.x + (self.fault == "leap")

    def tick(self):
        self.n += 1
        self.x += self.speed * H
        messages = []
        if self.fault != "off" and (self.n - 1) % self.every == 0:
            messages = self.spoil() if self.fault == "garbage" else self.compose()
        self.way.carry(messages, self.fault)

    @abstractmethod
    def compose(self):
        """Return the messages of this moment."""

    @abstractmethod
    def spoil(self):
        """Return messages of nothing but garbage instead."""

    @abstractmethod
    def deliver(self, message):
        """Let a message arrive."""


class Socket:
    """The server's end of a socket; what reads it goes on whenever something comes."""

    def __init__(self, listen):
        self._texts, self._reading = deque(), listen(self)
        self._reading.send(None)

    def take(self, text):
        self._texts.append(text)
        self._reading.send(None)

    async def listen(self):
        while True:
            while self._texts:
                yield self._texts.popleft()
            await _Nothing()

    async def send(self, _text):
        return True

    def close(self):
        self._reading.close()


class _Nothing:
    """Nothing has come yet."""

    def __await__(self):
        yield


def spoil_json(text, n):
    """Return a message that is none, one of many in turn (row 3)."""
    message = json.loads(text)
    limb = next(iter(message["limbs"].values()))
    number = next(key for key in ("p", "jog") if key in limb)
    values = limb[number]
    wrong = [
        *([value, *values[1:]] for value in (math.nan, math.inf, -math.inf, 1e999)),
        *([value, *values[1:]] for value in (1e30, "0.1", None, [0.0], {"x": 0.0})),
        *(values[1:], [*values, 0.0], [], values[0], "all", {"0": values}, [values]),
    ]
    kind = n % (len(wrong) + 8)
    if kind < len(wrong):
        limb[number] = wrong[kind]
        return json.dumps(message)
    changes = {"seq": "1"}, {"seq": 1.5}, {"seq": -1}, {"t": "now"}, {"limbs": []}
    texts = [json.dumps({**message, **change}) for change in changes]
    return [*texts, text[:-2], "[" * 3000, text * 40][kind - len(wrong)]


class SocketPageHand(PageHand):
    """A phone's page whose messages the server's own code reads, and which may lag."""

    faults = PageHand.faults | {"delayed"}

    def __init__(self, leader, clock):
        super().__init__(leader, clock)
        self.way, self.due = Way(self.arrive), []
        talk = Conversation(self.device, "phone", tuple(self.limbs), clock)
        self.socket = Socket(talk._listen)
        self.socket.take(json.dumps(
            {"type": "hello", "version": VERSION, "page": "a page"}
        ))  # fmt: skip
        number = self.device.clock.ask(clock())
        self.socket.take(json.dumps(
            {"type": "clock", "id": number, "t": clock() * 1e-6}
        ))  # fmt: skip

    @property
    def n_refused(self):
        return self.device.refused["message"]

    def deliver(self, text):
        if self.fault == "garbage":
            text = spoil_json(self.compose(), self.n // self.every)
        self.due.append(text)

    def arrive(self, text):
        self.socket.take(text)

    def tick(self):
        super().tick()
        self.way.carry(self.due, "delayed" if self.fault == "delayed" else "")
        self.due = []

    def close(self):
        self.socket.close()


class WebHand(StreamHand):
    """Keys at the session's page, whose messages its own code reads."""

    # a page tracks nothing, so it loses nothing
    faults = StreamHand.faults | {"repeats"}
    every = 4  # ticks between frames: 50 Hz

    def __init__(self, leader, clock, robot):
        super().__init__()
        self.leader, self.clock = leader, clock
        self.panel = Panel(robot, SPEEDS, clock, may_clear=True)
        # a press begins where the last one ended: no session tells where the robot is
        self.limbs = leader.info.limbs
        self.panel.find_eef = lambda: {
            one: self.panel.get_pose(one) for one in self.limbs
        }
        self.talk = Talk(self.panel, clock, has_scene=True)
        self.seq = self.press = 0
        self.was_held = False
        self.socket = Socket(self.listen)
        self.say(type="hello", version=VIEW_VERSION, page="a page")
        self.say(type="control", wanted=True)
        self.say(type="clock", id=self.panel.clock.ask(clock()), t=self.t)

    def say(self, **message):
        self.socket.take(json.dumps(message))

    def listen(self, socket):
        self.talk._clients[socket] = ""
        return self.talk._listen(socket)

    @property
    def t(self):
        return self.clock() * 1e-6

    @property
    def n_refused(self):
        return self.talk.refused["message"]

    def tick(self):
        self.press += self.is_held and not self.was_held
        self.was_held = self.is_held
        super().tick()

    def compose(self):
        self.seq += 1
        jog = [self.speed / SPEEDS[0], *([0.0] * 6)]
        if self.fault == "leap":
            for limb in self.limbs:
                self.panel.drag(limb, np.array([1.0, 0.0, 0.0, *UNIT]))
        return [json.dumps({
            "type": "hands", "seq": self.seq, "t": self.t, "held": self.is_held,
            "press": self.press, "joints": [],
            "limbs": {limb: {"jog": jog, "opening": 1.0} for limb in self.limbs},
        })]  # fmt: skip

    def spoil(self):
        return [spoil_json(self.compose()[0], self.n // self.every)]

    def deliver(self, message):
        self.socket.take(message)
        hands = self.panel.wishes.hands
        if hands is not None:
            self.leader.hear(hands)

    def close(self):
        self.socket.close()


class TopicHand(StreamHand):
    """A node that publishes a pose and a Joy on a graph in memory."""

    # a PoseStamped has no flag of a tracker, and no number: DDS itself sees to order

    def __init__(self, leader, _clock, speaker):
        super().__init__()
        self.leader, self.speaker = leader, speaker

    @property
    def n_refused(self):
        return self.leader.n_refused

    def compose(self):
        joys = self.speaker.write_joy(self.opening, is_held=self.is_held)
        return [*self.speaker.write_pose([self.place, 0.0, 0.0], UNIT), *joys]

    def spoil(self):
        value, k = NUMBERS[self.n % len(NUMBERS)], self.n // 2 % 4
        p, q = [self.x, 0.0, 0.0], list(UNIT)
        (p if k == 3 else q)[k % 3] = value
        sound = self.compose()
        cut = [(out, data[: self.n % len(data)]) for out, data in sound]
        return cut if k == 0 else self.speaker.write_pose(p, q)

    def deliver(self, message):
        publisher, data = message
        publisher.publish(data)


class Speaker:
    """The node's publishers, there before anybody listens."""

    def __init__(self, graph):
        self.codec, bus = graph.codec, graph.join("device")
        self._poses = bus.advertise("/target_pose", POSE_STAMPED)
        self._joys = bus.advertise("/joy", JOY)

    def write_pose(self, p, quat_xyzw):
        pose = Pose(np.array(p, float), np.array(quat_xyzw, float))
        return [(self._poses, encode_pose(self.codec, pose))]

    def write_joy(self, opening, *, is_held):
        joy = Joy(np.array([2.0 * opening - 1.0]), (0, int(is_held)))
        return [(self._joys, encode_joy(self.codec, joy))]

    def say_first(self):
        """Say something, so that whoever opens finds the topics."""
        for publisher, data in self.write_pose([0.0, 0.0, 0.0], UNIT):
            publisher.publish(data)


class LinkHand(StreamHand):
    """A hand on another host, whose captures come over the loopback."""

    faults = StreamHand.faults | {"lost", "repeats", "reconnect"}

    def __init__(self, leader, clock, link, key):
        super().__init__()
        self.leader, self.clock, self.link, self.key = leader, clock, link, key
        self.side = OperatorSide(key, leader.info, 3)
        self.seq, self.random = 0, random.Random(1)

    @property
    def n_refused(self):
        return self.leader._side.end.refused.total()

    def tick(self):
        heard = self.link.receive()
        if self.fault == "reconnect":
            self.fault, self.seq = "", 0
            self.side = OperatorSide(self.key, self.leader.info, 3)
        if self.fault != "off":
            self.side.step(heard, None, self.now_ns)
        super().tick()

    @property
    def now_ns(self):
        return self.clock() + SKEW_NS

    def compose(self):
        self.seq += 1
        p = np.array([self.place, 0.0, 0.0])
        T = pin.SE3(np.eye(3), p)
        hand = LimbCommand(T_leader_base_leader_eef=T, opening=self.opening)
        sample = LeaderSample(
            stamp_ns=self.now_ns,
            seq=self.seq,
            limbs=dict.fromkeys(self.leader.info.limbs, hand),
            engaged=self.is_held,
            valid=self.fault != "lost",
        )
        self.side.step([], sample, self.now_ns)
        return self.side.take_outbox()

    def spoil(self):
        spoilt = []
        for data in self.compose():
            bits = bytearray(data)
            bits[self.random.randrange(len(bits))] ^= 1 << self.random.randrange(8)
            spoilt += [bytes(bits), data[: self.random.randrange(len(data))]]
        return [*spoilt, self.random.randbytes(self.random.randrange(1, 400))]

    def deliver(self, message):
        self.link.send(message)

    def close(self):
        self.link.close()


SHUT, WIDE = 0.015, 0.10  # [m] of thumb and index: leaders/visionpro/README.md


class SteppedVisionPro(EmulatedVisionPro):
    """A headset whose app sends when it is told to."""

    def __init__(self):
        self.outbox = queue.SimpleQueue()
        super().__init__()

    def _stream(self, _request, context):
        while context.is_active() and not self._ending.is_set():
            try:
                yield self.outbox.get(timeout=0.02)
            except queue.Empty:
                continue


class HeadsetHand(StreamHand):
    """Hands before a Vision Pro, by gRPC, in the session's time."""

    # a stream is in order and whole: gRPC repeats nothing
    faults = StreamHand.faults | {"lost"}
    WAIT: ClassVar = 10.0  # [s] chosen: a busy machine's longest

    def __init__(self, leader, _clock, headset):
        super().__init__()
        self.leader, self.headset = leader, headset
        self.begin = headset.p.copy()

    @property
    def n_refused(self):
        return self.leader._headset.n_refused

    def compose(self):
        headset = self.headset
        headset.grips, headset.is_frozen = self.is_held, self.fault == "lost"
        headset.pinch = SHUT + self.opening * (WIDE - SHUT)
        if not headset.is_frozen:
            headset.p = self.begin - [0.0, 0.0, self.place]
        return [headset.compose()]

    def spoil(self):
        (update,) = self.compose()
        hands = update.left, update.right
        k, value = divmod(self.n // self.every, len(NUMBERS))
        for hand in hands:
            if k % 4 == 0:
                hand.wrist[k % 3, 3] = math.nan
            elif k % 4 == 1:
                hand.wrist[k % 3, 1] = NUMBERS[value]
            elif k % 4 == 2:
                del hand.joints[value:]
            else:
                hand.wrist, hand.joints = None, []
        return [update]

    def deliver(self, message):
        device = self.leader._headset.device
        n, end = device.n_messages, time.monotonic() + self.WAIT
        self.headset.outbox.put(message)
        while device.n_messages == n:
            assert time.monotonic() < end, "the message never came"
            time.sleep(1e-4)

    def close(self):
        self.headset.close()
