"""Selection of a damaged recording's decodable pictures."""

from __future__ import annotations

from dataclasses import replace

from paprle.recording.mcap.scan import Chunk, Messages, Schema, Topic
from paprle.recording.messages.types import COMPRESSED_VIDEO, decode
from paprle.recording.video.pictures import StoredPicture
from paprle.recording.video.thumbnail_strip import needs_no_other


class IntactPictures:
    """Filter of video that lacks earlier pictures."""

    def __init__(self) -> None:
        self._schemas: dict[int, str] = {}
        self._next: dict[int, int] = {}
        self._is_broken: set[int] = set()

    def pick(self, chunk: Chunk) -> Chunk:
        """Return the next chunk without undecodable video."""
        picked: Chunk = []
        for record in chunk:
            kept = record
            if isinstance(record, Schema):
                self._schemas[record.id] = record.name
            elif isinstance(record, Topic):
                if self._schemas[record.schema_id] == COMPRESSED_VIDEO:
                    self._next[record.id] = 0
            elif record.channel_id in self._next:
                kept = self._cut(record)
                if not len(kept.data):
                    continue
            picked.append(kept)
        return picked

    def _cut(self, video: Messages) -> Messages:
        channel = video.channel_id
        if video.sequence != self._next[channel]:
            self._is_broken.add(channel)
        self._next[channel] = video.sequence + len(video.data)
        first = 0
        while channel in self._is_broken and first < len(video.data):
            message = decode(video.data[first].tobytes(), COMPRESSED_VIDEO)
            if needs_no_other(StoredPicture(0, bytes(message.data), "h264")):
                self._is_broken.discard(channel)
            else:
                first += 1
        return replace(
            video,
            sequence=video.sequence + first,
            log_time=video.log_time[first:],
            publish_time=video.publish_time[first:],
            data=video.data[first:],
        )
