"""A ROS graph inside one process, in time that a test moves on."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from functools import partial

import numpy as np
from lock_step import LockStep

from paprle.config import resolve
from paprle.contracts.settings.core import GateSettings
from paprle.followers.ros2 import follower
from paprle.followers.ros2.follower import RosFollower
from paprle.gate.controller import GateController
from paprle.hardware.ros.bus import COMMANDS, SENSORS, Bus, Publisher
from paprle.hardware.ros.messages import load_codec
from paprle.oracle import JudgedLimits, check_commands
from paprle.testing.clock import ManualClock
from paprle_emulators.ros.controllers import STOCK
from paprle_emulators.ros.description import load_description
from paprle_emulators.ros.drives import LagDrives
from paprle_emulators.ros.robot import EmulatedRobot, Log

DAY_NS = 1_700_000_000 * 10**9  # [ns] the robot's clock is one of the time of day
STEP = 0.0025  # [s] of the emulated robot: two to a period of the gate


class MemoryPublisher(Publisher):
    def __init__(self, graph, bus, topic, typename, qos):
        self.graph, self.bus, self.topic = graph, bus, topic
        self.typename, self.qos = typename, qos
        self.last = None

    def is_for(self, reader):
        reliable = self.qos.reliable or not reader.qos.reliable
        latched = self.qos.latched or not reader.qos.latched
        same = (reader.topic, reader.typename) == (self.topic, self.typename)
        return same and reliable and latched and reader.bus is not self.bus

    def _readers(self):
        return filter(self.is_for, self.graph.readers)

    def publish(self, data):
        assert isinstance(data, bytes)
        self.last = data
        for reader in self._readers():
            reader.queue.append(data)

    def count_matched(self):
        return len(list(self._readers()))


class _Reader:
    def __init__(self, bus, topic, typename, callback, qos):
        self.bus, self.topic, self.typename = bus, topic, typename
        self.callback, self.qos = callback, qos
        self.queue = deque(maxlen=qos.depth)


class MemoryGraph:
    """All nodes; ``tick`` lets a step of time pass for whoever is in ``stepped``."""

    def __init__(self, distro="jazzy", clock=None):
        self.codec = load_codec(distro)
        self.clock = clock or ManualClock()
        self.readers, self.writers, self.stepped = [], [], []
        self.parameters = {}

    def join(self, name="node"):
        return MemoryBus(self, name)

    def tick(self, dt=STEP):
        self.clock.now_ns += round(dt * 1e9)
        for step in self.stepped:
            step()


class MemoryBus(Bus):
    name = "dds"  # what has no actions without ROS

    def __init__(self, graph, node):
        super().__init__(graph.codec)
        self.graph, self.node = graph, node

    def advertise(self, topic, typename, qos=COMMANDS):
        publisher = MemoryPublisher(self.graph, self, topic, typename, qos)
        self.graph.writers.append(publisher)
        return publisher

    def advertise_action(self, name, typename):
        if self.name == "dds" and not self.codec.is_ros1:
            return super().advertise_action(name, typename)
        return self.advertise(name, typename)

    def subscribe(self, topic, typename, callback, qos=SENSORS):
        reader = _Reader(self, topic, typename, callback, qos)
        self.graph.readers.append(reader)
        for writer in self.graph.writers:
            if qos.latched and writer.is_for(reader) and writer.last is not None:
                reader.queue.append(writer.last)

    def read_parameters(self, node, names, timeout):  # noqa: ARG002
        found = self.graph.parameters.get(node, {})
        return {name: found[name] for name in names if name in found}

    def poll(self):
        for reader in self.graph.readers:
            while reader.bus is self and reader.queue:
                reader.callback(reader.queue.popleft())

    def count_publishers(self, topic):
        writers = self.graph.writers
        return sum(w.topic == topic and w.bus is not self for w in writers)

    def count_subscribers(self, topic):
        readers = self.graph.readers
        return sum(r.topic == topic and r.bus is not self for r in readers)

    def list_subscribers(self, topic):
        readers = [r for r in self.graph.readers if r.topic == topic]
        return tuple(sorted(r.bus.node for r in readers if r.bus is not self))

    def list_topics(self):
        ends = self.graph.readers + self.graph.writers
        return {end.topic: end.typename for end in ends if end.bus is not self}

    def close(self):
        for ends in (self.graph.readers, self.graph.writers):
            ends[:] = [end for end in ends if end.bus is not self]

    def wait_until(self, condition, timeout):
        for _ in range(int(timeout / STEP) + 1):
            self.poll()
            if condition():
                return True
            self.graph.tick()
        return False


class MemoryOther:
    """Another node, with one publisher."""

    def __init__(self, graph, topic, typename):
        self.bus = graph.join("another")
        self.publish = self.bus.advertise(topic, typename).publish
        self.close = self.bus.close


class MemoryLog(Log):
    """Keeps what the emulator logs."""

    def __init__(self):
        super().__init__(None)
        self.entries = []

    def write(self, kind, t_ns, **values):
        self.entries.append({"kind": kind, "t_ns": t_ns, **values})

    def all(self, kind):
        return [entry for entry in self.entries if entry["kind"] == kind]


class MemoryRobot:
    """The emulator on a graph in memory."""

    def __init__(
        self,
        graph,
        robot="piper",
        *,
        env="ros2_sim",
        running=None,
        every=2,
        tau=0.01,
        drives=None,
        begins=STOCK,
        home=None,
    ):
        self.graph, self.log = graph, MemoryLog()
        self.description = replace(load_description(robot, env), begins=begins)
        if home is not None:
            start = self.description.start | home
            self.description = replace(self.description, start=start)
        if running is not None:
            self.description = replace(self.description, running=running)
        self.robot = EmulatedRobot(
            self.description,
            graph.join("robot"),
            self.log,
            drives=drives or LagDrives(self.description, tau),
            make_other=partial(MemoryOther, graph),
            epoch_ns=DAY_NS,
        )
        self._n, self._every = 0, every
        graph.stepped.append(self.step)

    def step(self):
        self.robot.step(self.graph.clock())
        self._n += 1
        if self._n % self._every == 0:
            self.robot.publish()

    @property
    def q(self):
        return np.array(self.robot.q)


def make_config(robot="piper", env="ros2_sim", **settings):
    """Return a follower's config as its YAML has it."""
    words = [f"{key}={value}" for key, value in settings.items()]
    return resolve(["leader=autopilot", f"follower={robot}", f"env={env}", *words]).env


class RosSession(LockStep):
    """Session and gate in lock-step with the emulated robot behind a graph."""

    def __init__(self, monkeypatch, config=None, env="ros2_sim", **robot):
        super().__init__()
        distro = "noetic" if env.startswith("ros1") else "jazzy"
        self.graph = MemoryGraph(distro, clock=self.clock)
        info = self.robot.info  # it stands at home, so there is no way there
        home = dict(zip(info.joint_names, info.home, strict=True))
        home["joint8"] = -home["joint7"]  # the gripper's other finger
        self.rig = MemoryRobot(self.graph, every=1, env=env, home=home, **robot)
        monkeypatch.setattr(follower, "open_bus", lambda *_: self.graph.join())
        config = config or make_config(env=env)
        self.follower = RosFollower(config, self.robot.info, self.clock)
        info = self.follower.open()
        self.gate = GateController(
            self.robot, GateSettings(), self.follower, info, self.layout, 0.005
        )
        self.status = self.gate.step(None, self.clock())

    def step(self, n=1):
        for _ in range(n):
            super().step()
            self.graph.tick(0.0)
        return self

    def find_received(self):
        """Return the arm's positions that reached the robot, shape (k, 6)."""
        commands = self.rig.log.all("command")
        return np.array([c["q"][:6] for c in commands if len(c["q"]) >= 6])

    def judge(self):
        """The oracle's verdict on what reached the robot."""
        info, q = self.robot.info, self.find_received()
        limits = JudgedLimits(
            q_min=info.q_min[:6],
            q_max=info.q_max[:6],
            dq_max=info.dq_max[:6],
            ddq_max=info.ddq_max[:6],
            dddq_max=info.dddq_max[:6],
            h=0.005,
        )
        return check_commands(q, limits, q_start=q[[0, 0]])
