"""Images to coded pictures and back."""

import numpy as np
import pytest

from paprle.contracts.errors import ConfigError, RecordingError
from paprle.contracts.settings.camera import CameraSettings
from paprle.recording.video.codec import (
    Decoder,
    check_video,
    make_depth_encoder,
    make_encoder,
)

pytest.importorskip("av")

WIDTH, HEIGHT, PERIOD_NS = 64, 48, 33_333_333
SIZE = (WIDTH, HEIGHT)
IDR, SPS = 5, 7  # spec: ITU-T H.264, table 7-1


def make_info(encoding="rgb8", width=WIDTH, height=HEIGHT, fps=30.0, **more):
    return CameraSettings(fps=fps).make_info(width, height, encoding, **more)


def draw(k, shape=(HEIGHT, WIDTH, 3)):
    """Return a ramp that moves, smooth as real pictures are."""
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    image = (2 * rows + 3 * columns + 4 * k) % 200 + 20
    return np.repeat(image[:, :, None], 3, axis=2).astype(np.uint8)


def encode_all(encoder, n, period_ns=PERIOD_NS):
    return [encoder.encode(k * period_ns, draw(k).tobytes()) for k in range(n)]


def list_units(data):
    """Return the kinds of NAL units behind each start code of Annex B."""
    parts = data.replace(b"\0\0\0\1", b"\0\0\1").split(b"\0\0\1")
    assert parts[0] == b"", "Annex B begins with a start code"
    return [part[0] & 0x1F for part in parts[1:]]


def test_each_image_makes_one_picture_at_once_that_decodes_to_it():
    coded = encode_all(make_encoder(make_info(), "h264"), 40)
    decoder = Decoder("h264", SIZE)

    errors = [
        np.abs(decoder.decode(one.data).astype(int) - draw(k)).mean()
        for k, one in enumerate(coded)
    ]

    assert len(errors) == 40
    assert max(errors) < 8.0, "grey levels, of 256; what crf 23 costs"


def test_a_key_picture_has_all_that_a_decoder_needs():
    encoder = make_encoder(make_info(), "h264")
    coded = encode_all(encoder, 3)
    forced = encoder.encode(4 * PERIOD_NS, draw(4).tobytes(), needs_key=True)

    assert [one.is_key for one in coded] == [True, False, False]
    assert {SPS, IDR} <= set(list_units(coded[0].data))
    assert {SPS, IDR} <= set(list_units(forced.data))
    assert Decoder("h264", SIZE).decode(forced.data) is not None


@pytest.mark.parametrize("period_ns", [PERIOD_NS, 5 * PERIOD_NS], ids=["30", "6"])
def test_a_key_picture_comes_every_second_whatever_the_camera_drops(period_ns):
    coded = encode_all(make_encoder(make_info(), "h264"), 70, period_ns)

    keys = [one.stamp_ns for one in coded if one.is_key]
    assert len(keys) > 2
    assert max(np.diff(keys)) <= 1.0e9 + period_ns / 2


def test_jpeg_is_near_to_the_image():
    coded = make_encoder(make_info(), "jpeg").encode(7, draw(0).tobytes())

    image = Decoder("jpeg", SIZE).decode(coded.data)

    assert coded.is_key
    assert np.abs(image.astype(int) - draw(0)).mean() < 6.0


def test_jpegs_of_a_camera_are_recorded_as_they_are():
    coded = make_encoder(make_info(), "jpeg").encode(7, draw(0).tobytes())
    passed = make_encoder(make_info("jpeg"), "jpeg").encode(9, coded.data)

    assert passed == (9, True, coded.data, 0)


def test_jpegs_of_a_camera_can_be_made_a_stream():
    coded = make_encoder(make_info(), "jpeg").encode(7, draw(0).tobytes())

    streamed = make_encoder(make_info("jpeg"), "h264").encode(9, coded.data)

    image = Decoder("h264", SIZE).decode(streamed.data)
    assert np.abs(image.astype(int) - draw(0)).mean() < 10.0


def test_depth_and_ids_come_back_to_the_last_bit():
    info = make_info(depth_unit=0.001)
    depth = np.random.default_rng(0).integers(0, 65536, (HEIGHT, WIDTH), np.uint16)

    for encoder in (
        make_depth_encoder(info),
        make_encoder(make_info("depth16"), "h264"),
        make_encoder(make_info("ids16"), "h264"),
        make_encoder(make_info("ids16"), "jpeg"),
    ):
        coded = encoder.encode(7, depth.astype("<u2").tobytes())
        back = Decoder("png", SIZE, is_depth=True).decode(coded.data)
        assert encoder.format == "png"
        np.testing.assert_array_equal(back, depth)


def test_grey_images_are_coded_too():
    grey = draw(0)[:, :, 0]

    coded = make_encoder(make_info("mono8"), "h264").encode(7, grey.tobytes())

    assert (
        np.abs(
            Decoder("h264", SIZE).decode(coded.data)[:, :, 1].astype(int) - grey
        ).mean()
        < 8
    )


@pytest.mark.parametrize("encoding", ["rgb8", "mono8", "jpeg"])
def test_bytes_that_are_no_image_make_no_picture(encoding):
    assert make_encoder(make_info(encoding), "h264").encode(7, b"no image") is None


@pytest.mark.parametrize("form", ["h264", "jpeg", "png"])
def test_bytes_that_are_no_picture_make_no_image(form):
    assert Decoder(form, SIZE).decode(b"\0\0\0\1no picture at all") is None


@pytest.mark.parametrize("video", ["h264", "jpeg"])
@pytest.mark.parametrize("size", [(2048, 2048), (32, 24)])
def test_a_picture_of_another_size_makes_no_image(video, size):
    info = make_info(width=size[0], height=size[1])
    coded = make_encoder(info, video).encode(7, bytes(3 * size[0] * size[1]))

    assert Decoder(video, SIZE).decode(coded.data) is None


def test_an_unknown_format_is_refused():
    with pytest.raises(RecordingError, match="expected h264, jpeg, png, got 'exe'"):
        Decoder("exe", SIZE)


def test_odd_sizes_are_refused_before_anything_is_opened():
    info = make_info(width=63)

    with pytest.raises(ConfigError, match="even width and height .* got 63 × 48"):
        check_video(info, "h264")
    check_video(info, "jpeg")
