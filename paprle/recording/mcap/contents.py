"""Declarations and attachments of a file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from mcap.records import Attachment, Metadata, Schema
from mcap.records import Channel as Topic

from paprle.recording.header import SCHEMA_VERSION
from paprle.recording.mcap.scan import LEFT_OUT
from paprle.recording.messages.channels import EVENTS_TOPIC, Channel
from paprle.recording.messages.types import (
    MESSAGE_ENCODING,
    SCHEMA_ENCODING,
    STRING,
    make_schema,
)
from paprle.recording.tracks import CameraTrack

TIME_NOTE = (
    "header.stamp is monotonic time of the recording host, exact; log_time is the "
    "record's and publish_time the header's stamp plus wall_offset_ns, so wall time"
)


class Topics:
    """Topics of a file, numbered as declared."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}
        self._schemas: dict[str, int] = {}

    def declare_own(
        self, channels: Sequence[Channel], tracks: Sequence[CameraTrack]
    ) -> list[Schema | Topic]:
        """Return all declarations of channels, tracks and events."""
        told: list[Schema | Topic] = []
        for channel in channels:
            metadata = {LEFT_OUT: channel.left_out} if channel.left_out else {}
            told += self.declare(channel.topic, channel.message.typename, metadata)
        told += self.declare(EVENTS_TOPIC, STRING)
        for track in tracks:
            told += self.declare(track.topic, track.typename)
        return told

    def declare(
        self, topic: str, typename: str, metadata: Mapping[str, str] | None = None
    ) -> list[Schema | Topic]:
        """Return the declarations of a topic and its new schema."""
        told: list[Schema | Topic] = []
        if typename not in self._schemas:
            number = self._schemas[typename] = len(self._schemas) + 1
            text = make_schema(typename)
            told.append(Schema(number, text, SCHEMA_ENCODING, typename))
        number = self.ids[topic] = len(self.ids) + 1
        schema = self._schemas[typename]
        told.append(
            Topic(number, topic, MESSAGE_ENCODING, dict(metadata or {}), schema)
        )
        return told


def list_attachments(header: Mapping[str, Any]) -> list[Attachment]:
    """Return header, config and URDF as attachments."""
    own = dict(header)
    config, urdf = own.pop("config"), own.pop("urdf")
    return [
        Attachment(0, 0, "header.json", "application/json", _to_json(own)),
        Attachment(0, 0, "config.json", "application/json", _to_json(config)),
        Attachment(0, 0, "robot.urdf", "application/xml", urdf.encode()),
    ]


def make_metadata(header: Mapping[str, Any]) -> Metadata:
    """Return the metadata that tools list."""
    keys = ("leader", "follower", "env", "version", "git_rev", "urdf_sha256")
    values = {key: str(header.get(key) or "") for key in keys} | {
        "schema": str(SCHEMA_VERSION),
        "wall_offset_ns": str(int(header["wall_offset_ns"])),
        "time": TIME_NOTE,
    }
    return Metadata("paprle", values)


def _to_json(data: Any) -> bytes:
    return json.dumps(data, allow_nan=False, ensure_ascii=False).encode()
