"""Video in an episode is what Foxglove publishes, and starts at any of its keys."""

import re

import av
import numpy as np
import pytest
from filmed import write_episode
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory

from paprle_emulators.camera.clock_picture import read_clock

pytestmark = pytest.mark.long

# spec: ros_foxglove_msgs/ros2/CompressedVideo.msg of github.com/foxglove/schemas at
# 0dededc (MIT); its comments ask for the rest of what is tested here
PUBLISHED = """\
builtin_interfaces/Time timestamp
string frame_id
uint8[] data
string format
"""
NAME = "foxglove_msgs/msg/CompressedVideo"
TOPIC = "/cameras/front/video"
SPS, PPS, IDR = 7, 8, 5  # spec: ITU-T H.264, table 7-1: types of NAL units


@pytest.fixture(scope="module")
def video(tmp_path_factory):
    """The schema of the video, and its messages in order."""
    path = write_episode(tmp_path_factory.mktemp("filmed"), 3.0)
    with path.open("rb") as stream:
        reader = make_reader(stream, decoder_factories=[DecoderFactory()])
        rows = list(reader.iter_decoded_messages(topics=[TOPIC]))
    return rows[0][0], [message for *_, message in rows]


def list_fields(text):
    """Return the fields of a message as (type, name), in order."""
    own = text.split("=" * 10)[0]
    lines = (line.partition("#")[0].split() for line in own.splitlines())
    return [tuple(words) for words in lines if words]


def split_units(data):
    """Return the NAL units of Annex B, each without its start code."""
    return [unit for unit in re.split(rb"\x00\x00\x00?\x01", bytes(data)) if unit]


def list_types(message):
    return [unit[0] & 0x1F for unit in split_units(message.data)]


def test_the_definition_is_the_published_one(video):
    schema, _ = video

    assert (schema.name, schema.encoding) == (NAME, "ros2msg")
    assert list_fields(schema.data.decode()) == list_fields(PUBLISHED)


def test_each_message_is_one_picture_and_each_key_brings_its_parameters(video):
    _, messages = video
    keys = [message for message in messages if IDR in list_types(message)]

    assert {message.format for message in messages} == {"h264"}
    assert all(bytes(message.data).startswith(b"\0\0\0\1") for message in messages)
    for message in messages:
        slices = [kind for kind in list_types(message) if kind in {1, IDR}]
        assert slices and len(set(slices)) == 1
    assert len(keys) >= 3
    assert all({SPS, PPS} <= set(list_types(key)) for key in keys)
    at = np.array([key.timestamp.sec + 1e-9 * key.timestamp.nanosec for key in keys])
    assert np.diff(at).max() <= 1.0


def test_every_packet_is_decoded_from_any_key_on_without_looking_ahead(video):
    _, messages = video
    starts = [k for k, one in enumerate(messages) if IDR in list_types(one)]

    for start in starts:
        decoder = av.CodecContext.create("h264", "r")
        decoder.thread_count = 1
        for message in messages[start:]:
            frames = decoder.decode(av.Packet(bytes(message.data)))
            assert len(frames) == 1, "a picture waits for a later one"
            assert frames[0].pict_type != av.video.frame.PictureType.B
            stamp = message.timestamp
            shown = read_clock(frames[0].to_ndarray(format="rgb24"))
            assert shown == stamp.sec * 1000 + stamp.nanosec // 1_000_000
