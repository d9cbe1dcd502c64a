"""ROS 2 topics without ROS, over DDS by cyclonedds.

Services and actions differ between DDS layers (ros2/rmw_cyclonedds 184, 577).
"""

from __future__ import annotations

from typing import Any

from cyclonedds.core import DDSException
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.pub import DataWriter
from cyclonedds.qos import Policy
from cyclonedds.qos import Qos as DdsQos
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

from paprle.hardware.ros.bus import (
    COMMANDS,
    LATCHED,
    SENSORS,
    Bus,
    BusError,
    Callback,
    Publisher,
    Qos,
)
from paprle.hardware.ros.messages import Codec
from paprle.hardware.ros.transports.dds_graph import (
    INFO_TOPIC,
    INFO_TYPE,
    Endpoints,
    encode_info,
    mangle_topic,
)
from paprle.hardware.ros.transports.dds_network import (
    find_domain,
    find_network,
    make_config,
)
from paprle.hardware.ros.transports.dds_types import TypeMaker

_BATCH = 64  # chosen: messages a poll takes from one topic at most
_MAX_BLOCKING = duration(milliseconds=1)  # chosen: a full writer must not hold a gate
_DOMAINS: dict[int, tuple[Domain, str]] = {}
"""Domains this process has configured: they live as long as it does."""


class DdsPublisher(Publisher):
    """Writer of one topic."""

    def __init__(self, writer: DataWriter[Any], data_type: Any) -> None:
        self.writer: DataWriter[Any] | None = writer
        self._data_type = data_type

    def publish(self, data: bytes) -> None:
        """Write the bytes; a full reader loses the oldest.

        Raises:
            BusError: Refused bytes.
        """
        message = self._data_type.__new__(self._data_type)
        message.raw = data
        writer = self.open_writer()
        try:
            writer.write(message)
        except DDSException as err:
            raise BusError(f"dds: {writer.topic.name}: {err}") from err

    def count_matched(self) -> int:
        """Return the number of matched readers."""
        return len(self.open_writer().get_matched_subscriptions())

    def open_writer(self) -> DataWriter[Any]:
        """Return the writer.

        Raises:
            BusError: Closed node.
        """
        if self.writer is None:
            raise BusError("dds: expected an open publisher, got a closed one")
        return self.writer


class DdsBus(Bus):
    """Participant as a ROS 2 node."""

    name = "dds"

    def __init__(
        self,
        codec: Codec,
        node_name: str,
        *,
        domain: int | None = None,
        interface: str = "auto",
        peers: tuple[str, ...] = (),
    ) -> None:
        """Join a domain, by default ``ROS_DOMAIN_ID``.

        Raises:
            BusError: Missing network, or another one is open.
        """
        super().__init__(codec)
        number, network = find_domain(domain), find_network(interface, peers)
        _configure(number, make_config(network))
        qos = DdsQos(Policy.Userdata(b"enclave=/;"))  # spec: rmw_dds_common
        try:
            self._participant: DomainParticipant | None = DomainParticipant(number, qos)
        except DDSException as err:
            raise BusError(
                f"dds: domain {number}, {network.describe()}: {err}"
            ) from err
        self._node_name = node_name
        self._types = TypeMaker(codec)
        self._topics: dict[str, tuple[str, Topic[Any]]] = {}
        self._readers: list[tuple[DataReader[Any], Callback]] = []
        self._writers: list[DdsPublisher] = []
        self._found: dict[str, Endpoints] = {
            "writers": Endpoints(self._participant, of_writers=True),
            "readers": Endpoints(self._participant, of_writers=False),
        }
        self._info = self._make_writer(INFO_TOPIC, INFO_TYPE, LATCHED)
        self._announce()

    def advertise(self, topic: str, typename: str, qos: Qos = COMMANDS) -> Publisher:
        """Return a publisher."""
        publisher = self._make_writer(mangle_topic(topic), typename, qos)
        self._writers.append(publisher)
        self._announce()
        return publisher

    def subscribe(
        self, topic: str, typename: str, callback: Callback, qos: Qos = SENSORS
    ) -> None:
        """Subscribe to a topic."""
        made = self._make_topic(mangle_topic(topic), typename)
        reader = DataReader(
            self._joined(), made, self._translate(qos, typename, is_writer=False)
        )
        self._readers.append((reader, callback))
        self._announce()

    def poll(self) -> None:
        """Run arrived messages' callbacks.

        Raises:
            BusError: Failed middleware.
        """
        for reader, callback in self._readers:
            try:
                samples = reader.take(_BATCH)
            except DDSException as err:
                raise BusError(f"dds: {err}") from err
            for sample in samples:
                if sample.sample_info.valid_data:
                    self.source_ns = sample.sample_info.source_timestamp
                    callback(sample.raw)

    def count_publishers(self, topic: str) -> int:
        """Return the number of other writers."""
        return self._find("writers").count(mangle_topic(topic))

    def count_subscribers(self, topic: str) -> int:
        """Return the number of other readers."""
        return self._find("readers").count(mangle_topic(topic))

    def list_topics(self) -> dict[str, str]:
        """Return the types of others' topics."""
        readers, writers = self._find("readers"), self._find("writers")
        return readers.list_topics() | writers.list_topics()

    def close(self) -> None:
        """Leave the domain."""
        for publisher in (*self._writers, self._info):
            publisher.writer = None
        self._readers.clear()
        self._writers.clear()
        self._topics.clear()
        self._found.clear()
        self._participant = None

    def _find(self, kind: str) -> Endpoints:
        self._joined()
        self._found[kind].update()
        return self._found[kind]

    def _joined(self) -> DomainParticipant:
        if self._participant is None:
            raise BusError("dds: expected an open node, got a closed one")
        return self._participant

    def _make_topic(self, name: str, typename: str) -> Topic[Any]:
        known = self._topics.get(name)
        if known is None:
            made = Topic(self._joined(), name, self._types.make(typename))
            known = self._topics[name] = (typename, made)
        if known[0] != typename:
            raise BusError(f"dds: {name}: expected {known[0]} again, got {typename}")
        return known[1]

    def _make_writer(self, name: str, typename: str, qos: Qos) -> DdsPublisher:
        topic = self._make_topic(name, typename)
        dds_qos = self._translate(qos, typename, is_writer=True)
        writer = DataWriter(self._joined(), topic, dds_qos)
        return DdsPublisher(writer, self._types.make(typename))

    def _translate(self, qos: Qos, typename: str, *, is_writer: bool) -> DdsQos:
        policies = [
            Policy.Reliability.Reliable(_MAX_BLOCKING)
            if qos.reliable
            else Policy.Reliability.BestEffort,
            Policy.Durability.TransientLocal
            if qos.latched
            else Policy.Durability.Volatile,
            Policy.History.KeepLast(qos.depth),
            Policy.DataRepresentation(use_cdrv0_representation=True),
        ]
        if self.codec.distro != "humble":  # spec: rmw of Iron and later, REP 2016
            hashed = self.codec.hash_type(typename)
            policies.append(Policy.Userdata(f"typehash={hashed};".encode()))
        if is_writer:
            policies.append(Policy.WriterDataLifecycle(autodispose=False))
        return DdsQos(*policies)

    def _announce(self) -> None:
        info = encode_info(
            self.codec,
            self._node_name,
            self._joined().guid,
            [reader.guid for reader, _ in self._readers],
            [publisher.open_writer().guid for publisher in self._writers],
        )
        self._info.publish(info)


def _configure(number: int, config: str) -> None:
    if number in _DOMAINS:
        if _DOMAINS[number][1] != config:
            raise BusError(
                f"dds: domain {number}: expected the same network as before in this "
                "process, got another"
            )
        return
    if not config:
        return
    try:
        _DOMAINS[number] = (Domain(number, config), config)
    except DDSException as err:
        raise BusError(f"dds: domain {number}: {err}; config: {config}") from err
