"""Discovery of plain DDS nodes.

References: rmw_dds_common (``ros_discovery_info``), rmw_cyclonedds_cpp.
"""

from __future__ import annotations

import uuid
from typing import Any

import numpy as np
from cyclonedds.builtin import (
    BuiltinDataReader,
    BuiltinTopicDcpsPublication,
    BuiltinTopicDcpsSubscription,
)
from cyclonedds.core import DDSException, InstanceState
from cyclonedds.domain import DomainParticipant

from paprle.hardware.ros.bus import BusError
from paprle.hardware.ros.messages import Codec

INFO_TOPIC = "ros_discovery_info"  # spec: rmw_dds_common, graph_cache
INFO_TYPE = "rmw_dds_common/msg/ParticipantEntitiesInfo"
_PREFIX = 12  # spec: OMG DDSI-RTPS 2.3, 9.3.1: GUID = participant, then entity
_BATCH = 256  # chosen: endpoints of a large robot, in one call


def mangle_topic(topic: str) -> str:
    """Return a ROS topic's DDS name: ``/a/b`` is ``rt/a/b``."""
    if not topic.startswith("/") or topic.endswith("/") or "//" in topic:
        raise BusError(f"ros topic: expected a full name as /a/b, got '{topic}'")
    return f"rt{topic}"


def make_gid(codec: Codec, guid: uuid.UUID) -> Any:
    """Return a GUID's message: 24 bytes on Humble, else 16."""
    gid = codec.make("rmw_dds_common/msg/Gid")
    data = np.zeros(len(gid.data), dtype=np.uint8)
    data[:16] = np.frombuffer(guid.bytes, dtype=np.uint8)
    gid.data = data
    return gid


def encode_info(
    codec: Codec,
    name: str,
    participant: uuid.UUID,
    readers: list[uuid.UUID],
    writers: list[uuid.UUID],
) -> bytes:
    """Return our node's announcement."""
    node = codec.make(
        "rmw_dds_common/msg/NodeEntitiesInfo",
        node_namespace="/",
        node_name=name,
        reader_gid_seq=[make_gid(codec, guid) for guid in readers],
        writer_gid_seq=[make_gid(codec, guid) for guid in writers],
    )
    message = codec.make(
        INFO_TYPE, gid=make_gid(codec, participant), node_entities_info_seq=[node]
    )
    return codec.encode(message, INFO_TYPE)


class Endpoints:
    """Endpoints of other participants."""

    def __init__(self, participant: DomainParticipant, *, of_writers: bool) -> None:
        kind = (
            BuiltinTopicDcpsPublication if of_writers else BuiltinTopicDcpsSubscription
        )
        self._reader = BuiltinDataReader(participant, kind)
        self._own_prefix = participant.guid.bytes[:_PREFIX]
        self._known: dict[uuid.UUID, tuple[str, str]] = {}

    def update(self) -> None:
        """Read arrivals and departures.

        Raises:
            BusError: Failed middleware.
        """
        while True:
            try:
                samples = self._reader.take(_BATCH)
            except DDSException as err:
                raise BusError(f"dds: {err}") from err
            for sample in samples:
                if sample.key.bytes[:_PREFIX] == self._own_prefix:
                    continue
                if sample.sample_info.instance_state == InstanceState.Alive:
                    self._known[sample.key] = (sample.topic_name, sample.type_name)
                else:
                    self._known.pop(sample.key, None)
            if len(samples) < _BATCH:
                return

    def count(self, topic: str) -> int:
        """Return the number of a DDS topic's endpoints."""
        return sum(name == topic for name, _ in self._known.values())

    def list_topics(self) -> dict[str, str]:
        """Return ROS topics and types."""
        return {
            name.removeprefix("rt"): typename.replace("dds_::", "")
            .replace("::", "/")
            .removesuffix("_")
            for name, typename in self._known.values()
            if name.startswith("rt/")
        }
