"""Pictures of cameras in an episode's file."""

import json

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory

from paprle.contracts.errors import RecordingError
from paprle.contracts.settings.camera import CameraSettings, PoseSettings
from paprle.contracts.settings.core import RecordSettings
from paprle.ipc.pictures import CodedPicture, PictureKind, pack_coded
from paprle.recording.info import describe
from paprle.recording.mcap.recover import recover
from paprle.recording.reader import Episode
from paprle.recording.recorder import Recorder
from paprle.recording.tracks import camera_from_dict, camera_to_dict
from paprle.recording.video.codec import make_depth_encoder, make_encoder
from paprle.recording.video.footage import MAX_PICTURE, FootageRecorder
from paprle.recording.video.pictures import Footage as Recorded

pytest.importorskip("av")

WIDTH, HEIGHT = 64, 48
WALL_NS = 1_700_000_000_000_000_000
MOUNT = PoseSettings(xyz=(0.1, 0.2, 0.3), rpy_xyz_extrinsic=(0.0, 0.0, 1.0))
LENS = (-0.1, 0.02, 0.001, -0.002, 0.0)
SETTINGS = CameraSettings(
    focal=(50.0, 51.0), distortion=LENS, link="base", T_link_camera=MOUNT
)
WRIST = SETTINGS.make_info(WIDTH, HEIGHT, "rgb8", depth_unit=0.001)
DOOR = CameraSettings().make_info(WIDTH, HEIGHT, "rgb8")
INFOS = {"wrist": (WRIST, "h264"), "door": (DOOR, "jpeg")}


def draw(k):
    image = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    image[:, : 4 + k] = 200
    return image


def draw_depth(k):
    return np.full((HEIGHT, WIDTH), 1000 + k, np.uint16)


@pytest.fixture
def film(make_ring):
    return {name: make_ring() for name in INFOS}


@pytest.fixture
def make_ring(rings):
    return type(rings[0])


@pytest.fixture
def told():
    return []


@pytest.fixture
def footage(film, told):
    return FootageRecorder(describe_all(), film, lambda *level: told.append(level))


def describe_all():
    return {
        name: camera_to_dict(info, "toy", video)
        for name, (info, video) in INFOS.items()
    }


@pytest.fixture
def recorder(tmp_path, layout, header, rings, footage):
    header = header | {"cameras": describe_all()}
    record = RecordSettings(dir=str(tmp_path), task="pick")
    return Recorder(
        record, layout, header, rings, wall=lambda: WALL_NS, footage=footage
    )


class Cameras:
    """Give pictures of both cameras, as their processes do."""

    def __init__(self, film):
        self.film, self.k = film, 0
        self.encoders = {name: make_encoder(*INFOS[name]) for name in INFOS}
        self.depth = make_depth_encoder(WRIST)

    def give(self, stamp_ns, needs_key=False):
        for name, encoder in self.encoders.items():
            coded = encoder.encode(
                stamp_ns, draw(self.k).tobytes(), needs_key=needs_key
            )
            self.film[name].push(PictureKind.PICTURE, pack_coded(coded))
        depth = self.depth.encode(stamp_ns, draw_depth(self.k).tobytes())
        self.film["wrist"].push(PictureKind.DEPTH, pack_coded(depth))
        self.k += 1


@pytest.fixture
def cameras(film):
    return Cameras(film)


def begin(recorder, rings, now):
    rings[0].push_event(event="episode_begin", episode=4, t_ns=now)
    recorder.step(now + 20_000_000)


def end(recorder, rings, now):
    rings[0].push_event(event="episode_end", end_reason="success", t_ns=now)
    recorder.step(now + 20_000_000)


@pytest.fixture
def record(recorder, rings, cameras, tools):
    """Record ten pictures of each camera; return their stamps."""

    def record_ten(end_it=True):
        now = tools.START_NS
        begin(recorder, rings, now)
        stamps = [now + 30_000_000 + 33_000_000 * k for k in range(10)]
        for stamp in stamps:
            cameras.give(stamp)
            recorder.step(stamp)
        if end_it:
            end(recorder, rings, stamps[-1])
        return stamps

    return record_ten


def read_manifest(folder):
    return json.loads((folder / "episode_000000.json").read_text())


def test_pictures_come_back_at_their_stamps(record, tmp_path):
    stamps = record()

    recorded = Recorded(tmp_path / "episode_000000.mcap")
    for name in INFOS:
        pictures = list(recorded.read(name))
        assert [one.stamp_ns for one in pictures] == stamps
        for k, one in enumerate(pictures):
            assert np.abs(one.image.astype(int) - draw(k)).mean() < 6.0
    depths = [one.image for one in recorded.read("wrist", depth=True)]
    np.testing.assert_array_equal(depths, [draw_depth(k) for k in range(10)])


def test_calibration_and_mounting_stand_in_the_recording(record, tmp_path):
    record()

    camera = Recorded(tmp_path / "episode_000000.mcap").cameras["wrist"]

    assert camera.K.tolist() == WRIST.K.tolist()
    assert camera.link == "base"
    assert camera.T_link_cam.isApprox(WRIST.T_link_cam, 1e-9)


def test_other_tools_read_the_pictures(record, tmp_path):
    record()

    with (tmp_path / "episode_000000.mcap").open("rb") as stream:
        reader = make_reader(stream, decoder_factories=[DecoderFactory()])
        found = {}
        for schema, channel, _, message in reader.iter_decoded_messages():
            found.setdefault(channel.topic, []).append((schema.name, message))

    video = found["/cameras/wrist/video"]
    assert {name for name, _ in video} == {"foxglove_msgs/msg/CompressedVideo"}
    assert {message.format for _, message in video} == {"h264"}
    assert bytes(video[0][1].data).startswith(b"\0\0\0\1")
    assert found["/cameras/door/image"][0][1].format == "jpeg"
    assert list(found["/cameras/wrist/camera_info"][0][1].k[:3]) == [50.0, 0.0, 31.5]
    assert list(found["/cameras/wrist/camera_info"][0][1].d) == list(LENS)
    frames = {t.child_frame_id: t for t in found["/tf_static"][0][1].transforms}
    assert frames["camera_wrist"].header.frame_id == "base"
    assert frames["camera_wrist"].transform.translation.y == pytest.approx(0.2)
    assert frames["camera_door"].header.frame_id == "world"


def test_the_rest_of_the_episode_is_as_without_cameras(record, tmp_path):
    record()

    episode = Episode.open(tmp_path)

    assert episode.is_complete, episode.note
    assert [event["event"] for event in episode.events] == [
        "episode_begin",
        "episode_end",
    ]


def test_the_manifest_counts_pictures_drops_and_gaps(record, film, tmp_path, recorder):
    film["door"].dropped = {PictureKind.PICTURE: 3}
    record(end_it=False)
    film["door"].dropped = {PictureKind.PICTURE: 8}

    recorder.finish("operator_quit", 0)

    counts = read_manifest(tmp_path)["cameras"]
    assert counts["wrist"]["pictures"] == 10
    assert counts["wrist"]["dropped"] == 0
    assert counts["wrist"]["longest_gap"] == pytest.approx(0.033)
    assert counts["door"]["dropped"] == 5


def test_images_that_a_camera_could_not_code_are_counted(
    recorder, rings, film, tools, tmp_path
):
    now = tools.START_NS
    begin(recorder, rings, now)
    for k, n_dropped in enumerate((7, 7, 9)):  # seven before the episode
        coded = CodedPicture(now + k + 1, True, b"\xff\xd8\xff", n_dropped)
        film["door"].push(PictureKind.PICTURE, pack_coded(coded))
    recorder.step(now + 40_000_000)
    recorder.finish("operator_quit", 0)

    assert read_manifest(tmp_path)["cameras"]["door"]["dropped"] == 2


def test_an_episode_begins_with_a_picture_that_needs_none_before(
    recorder, rings, cameras, tools, tmp_path
):
    now = tools.START_NS
    cameras.give(now - 50_000_000)  # before it began
    begin(recorder, rings, now)
    cameras.give(now + 40_000_000)  # refers to the one before
    cameras.give(now + 70_000_000, needs_key=True)
    recorder.step(now + 80_000_000)
    end(recorder, rings, now + 90_000_000)

    pictures = list(Recorded(tmp_path / "episode_000000.mcap").read("wrist"))
    assert [one.stamp_ns for one in pictures] == [now + 70_000_000]
    assert np.abs(pictures[0].image.astype(int) - draw(2)).mean() < 6.0
    assert read_manifest(tmp_path)["cameras"]["wrist"]["dropped"] == 1


def test_cameras_are_told_when_an_episode_is_written(record, told):
    record()

    assert told == [(0, False), (1, True), (1, False)]


def test_a_recorder_that_takes_over_counts_on(film, told):
    """Else a camera would not know that another episode begins, with a key picture."""
    FootageRecorder(describe_all(), film, lambda *level: told.append(level), 7).begin(0)

    assert told[-2:] == [(7, False), (8, True)]


def test_nothing_is_kept_between_episodes(recorder, cameras, film, tools):
    for k in range(3):
        cameras.give(tools.START_NS + k)
        recorder.step(tools.START_NS + k)

    assert not any(ring.records for ring in film.values())


def test_records_that_are_no_pictures_do_no_harm(
    recorder, rings, film, tools, tmp_path
):
    now = tools.START_NS
    begin(recorder, rings, now)
    for kind, payload in [
        (PictureKind.PICTURE, b""),
        (PictureKind.PICTURE, b"short"),
        (
            PictureKind.DEPTH,
            pack_coded(CodedPicture(now + 9, True, b"x")),
        ),  # the door has no depth
        (6, b"unknown"),
        (
            PictureKind.PICTURE,
            pack_coded(CodedPicture(now + 9, True, bytes(MAX_PICTURE + 1))),
        ),
    ]:
        film["door"].push(kind, payload)
    recorder.step(now + 40_000_000)
    end(recorder, rings, now + 50_000_000)

    assert list(Recorded(tmp_path / "episode_000000.mcap").read_coded("door")) == []
    assert read_manifest(tmp_path)["cameras"]["door"] == {
        "pictures": 0,
        "dropped": 1,
        "longest_gap": 0.0,
    }


def test_events_of_cameras_stand_among_the_others(
    recorder, rings, film, tools, tmp_path
):
    now = tools.START_NS
    begin(recorder, rings, now)
    event = {"event": "camera", "camera": "door", "state": "silent", "t_ns": now + 5}
    film["door"].push(PictureKind.EVENT, json.dumps(event).encode())
    recorder.step(now + 40_000_000)
    end(recorder, rings, now + 50_000_000)

    assert event in Episode.open(tmp_path).events


@pytest.mark.parametrize(("share", "least"), [(0.7, 0), (0.9, 0), (0.999, 8)])
def test_footage_before_a_kill_can_be_read(record, tmp_path, share, least):
    stamps = record(end_it=False)
    path = tmp_path / "episode_000000.mcap"
    data = path.read_bytes()
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(data[: int(share * len(data))])

    pictures = list(Recorded(cut).read("wrist"))

    assert [one.stamp_ns for one in pictures] == stamps[: len(pictures)]
    assert least <= len(pictures) < len(stamps)
    assert all(one.image is not None for one in pictures)


def test_each_picture_has_reached_the_kernel_with_the_next_flush(record, tmp_path):
    stamps = record(end_it=False)

    pictures = list(Recorded(tmp_path / "episode_000000.mcap").read_coded("door"))

    assert [one.stamp_ns for one in pictures][:9] == stamps[:9]


def test_a_recording_that_was_cut_off_is_made_whole_with_its_pictures(
    record, rings, layout, tools, tmp_path
):
    for gate in tools.make_gates(layout, 4):
        rings[1].push(2, gate.tobytes())
    stamps = record(end_it=False)

    recover(tmp_path / "episode_000000.mcap", tmp_path / "whole.mcap")

    recorded = Recorded(tmp_path / "whole.mcap")
    assert [one.stamp_ns for one in recorded.read("wrist")][:9] == stamps[:9]


def test_info_tells_of_each_camera(record, tmp_path):
    record()

    text = describe(tmp_path / "episode_000000.mcap")

    assert "wrist: 64 × 48 h264 at 30 Hz, 10 pictures, 0 dropped" in text


def test_a_camera_that_was_not_recorded_is_named(record, tmp_path):
    record()

    with pytest.raises(RecordingError, match=r"camera 'x', got none; .*: door, wrist"):
        next(Recorded(tmp_path / "episode_000000.mcap").read_coded("x"))


def test_a_recorded_lens_is_read_again_and_older_files_have_none():
    camera = camera_to_dict(WRIST, "toy", "h264")

    assert camera_from_dict(camera).distortion == LENS
    del camera["distortion"]
    assert camera_from_dict(camera).distortion == (0.0,) * 5


@pytest.mark.parametrize(
    "change",
    [
        {"width": -1},
        {"K": [[1.0]]},
        {"video": "exe"},
        {"fps": "much"},
        {"distortion": [0.1]},
        {"link": None},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_header_of_a_stranger_is_refused(
    change, tmp_path, layout, header, monkeypatch
):
    from paprle.recording.mcap import journal  # noqa: PLC0415 - to write what is wrong

    monkeypatch.setattr(journal, "list_tracks", lambda _: ())
    camera = camera_to_dict(DOOR, "toy", "h264") | change
    header = header | {"cameras": {"door": camera}}
    journal.Journal(tmp_path / "a.mcap", layout, header).abandon()

    with pytest.raises(RecordingError, match="cameras door"):
        Recorded(tmp_path / "a.mcap")
