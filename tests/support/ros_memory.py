"""A ROS graph inside one process, in time that a test moves on."""

from __future__ import annotations

from collections import deque

import numpy as np

from hardware.ros.bus import COMMANDS, SENSORS, Bus, Publisher
from hardware.ros.emulator.description import load_description
from hardware.ros.emulator.robot import EmulatedRobot, Log
from hardware.ros.messages import load_codec
from paprle.testing.clock import ManualClock

STEP = 0.0025  # [s] of the emulated robot: two to a period of the gate


class MemoryPublisher(Publisher):
    def __init__(self, graph, bus, topic, typename, qos):
        self.graph, self.bus, self.topic = graph, bus, topic
        self.typename, self.qos = typename, qos

    def _readers(self):
        for reader in self.graph.readers:
            reliable = self.qos.reliable or not reader.qos.reliable
            latched = self.qos.latched or not reader.qos.latched
            same = (reader.topic, reader.typename) == (self.topic, self.typename)
            if same and reliable and latched and reader.bus is not self.bus:
                yield reader

    def publish(self, data):
        assert isinstance(data, bytes)
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

    def __init__(self, distro="jazzy"):
        self.codec = load_codec(distro)
        self.clock = ManualClock()
        self.readers, self.writers, self.stepped = [], [], []

    def join(self, name="node"):
        return MemoryBus(self, name)

    def tick(self, dt=STEP):
        self.clock.advance(dt)
        for step in self.stepped:
            step()


class MemoryBus(Bus):
    name = "dds"  # what the emulator asks before it makes another node

    def __init__(self, graph, node):
        super().__init__(graph.codec)
        self.graph, self.node = graph, node

    def advertise(self, topic, typename, qos=COMMANDS):
        publisher = MemoryPublisher(self.graph, self, topic, typename, qos)
        self.graph.writers.append(publisher)
        return publisher

    def subscribe(self, topic, typename, callback, qos=SENSORS):
        self.graph.readers.append(_Reader(self, topic, typename, callback, qos))

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

    def __init__(self, graph, robot="piper", env="ros2", time_constant=0.01):
        self.graph, self.log = graph, MemoryLog()
        self.description = load_description(robot, env)
        self.robot = EmulatedRobot(
            self.description,
            graph.join("robot"),
            self.log,
            time_constant=time_constant,
            make_bus=lambda: graph.join("another"),
        )
        self._n = 0
        graph.stepped.append(self.step)

    def step(self):
        self.robot.step(self.graph.clock())
        self._n += 1
        if self._n % 2 == 0:
            self.robot.publish()

    @property
    def q(self):
        return np.array(self.robot.q)
