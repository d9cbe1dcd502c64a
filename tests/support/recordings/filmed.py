"""Recordings with cameras, made by the recorder without a session: a toy arm moves."""

import json
from types import SimpleNamespace

import numpy as np

from paprle.contracts.settings.camera import CameraSettings
from paprle.contracts.settings.core import RecordSettings
from paprle.contracts.types import (
    GripperInfo,
    LeaderInfo,
    LimbInfo,
    RobotInfo,
    SessionState,
    readonly,
)
from paprle.ipc.pictures import PictureKind, pack_coded
from paprle.ipc.records import Stream, make_layout
from paprle.recording.header import make_recording_header
from paprle.recording.recorder import Recorder
from paprle.recording.tracks import camera_to_dict
from paprle.recording.video.codec import make_depth_encoder, make_encoder
from paprle.recording.video.footage import FootageRecorder
from paprle_emulators.camera.clock_picture import draw_clock

MS = 1_000_000
START_NS = 5_000 * MS
PERIOD_NS = 5 * MS
WIDTH, HEIGHT = 96, 80
WALL_NS = 1_700_000_000_000_000_000
JOINTS = ("turn", "lift", "finger")
URDF = """<robot name="toy"><link name="base"/><link name="upper"/><link name="hand"/>
<link name="tip"/>
<joint name="turn" type="revolute"><parent link="base"/><child link="upper"/>
<axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="3" effort="9"/></joint>
<joint name="lift" type="prismatic"><parent link="upper"/><child link="hand"/>
<origin xyz="0.5 0 0"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3" velocity="3" effort="9"/></joint>
<joint name="finger" type="prismatic"><parent link="hand"/><child link="tip"/>
<axis xyz="1 0 0"/><limit lower="0" upper="0.04" velocity="1" effort="9"/></joint>
</robot>"""


class FakeRing:
    """A ring without its bound."""

    def __init__(self):
        self.records, self.dropped = [], {}

    def push(self, kind, payload):
        self.records.append((int(kind), payload))

    def drain(self):
        records, self.records = self.records, []
        return records


def make_robot(folder, name="toy"):
    urdf = folder / "toy.urdf"
    urdf.write_text(URDF)
    return RobotInfo(
        name=name,
        urdf_path=urdf,
        joint_names=JOINTS,
        q_min=readonly([-3.0, -3.0, 0.0]),
        q_max=readonly([3.0, 3.0, 0.04]),
        dq_max=readonly([3.0, 3.0, 1.0]),
        ddq_max=readonly(np.full(3, 10.0)),
        home=readonly(np.zeros(3)),
        limbs=(
            LimbInfo(
                name="arm",
                base_link="base",
                eef_link="hand",
                joint_names=JOINTS[:2],
                gripper=GripperInfo(joint="finger", closed=0.0, open=0.04),
            ),
        ),
    )


def move(t, scale=1.0, wave=False):
    """Joints at a time [s]: turning at 0.4 rad/s, lifting, closing the hand."""
    t = np.asarray(t, dtype=np.float64)
    turn = 0.3 * np.sin(3.0 * t) + 0.1 * np.sin(11.0 * t) if wave else 0.4 * scale * t
    joints = [turn, 0.1 * t, 0.04 - 0.01 * t]
    return np.stack(joints, axis=-1)


def write_episode(folder, seconds=2.0, **what):
    """Record one episode; return its file.

    ``fps``, ``cameras`` (names), ``late`` (ms that pictures come after their stamps),
    ``skip`` (pictures that are missing), ``freeze`` (from that picture on), ``task``,
    ``outcome``, ``end``, ``discard``, ``scale``, ``robot``, ``effort``, ``finish``,
    ``rate_error`` of the camera's clock, ``ids`` (cameras of ids16), ``driven`` (begin
    and end of what the leader drives, in s; the robot is clutched around it).
    """
    what = SimpleNamespace(
        **{
            "fps": 30.0, "cameras": ("front",), "late": 0.0, "skip": (), "end": "next",
            "freeze": None, "task": "pick", "outcome": "success", "discard": False,
            "scale": 1.0, "robot": "toy", "effort": True, "finish": True,
            "depth": False, "ids": (),
            "gap": None, "wave": False, "rate_error": 1.0, "driven": (0.0, np.inf),
        }
        | what
    )  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    robot = make_robot(folder, what.robot)
    leader = LeaderInfo(limbs=("hand",), is_human=False)
    layout = make_layout(robot, leader)
    unit = 0.001 if what.depth else 0.0
    own = CameraSettings(fps=what.fps)
    info = own.make_info(WIDTH, HEIGHT, "rgb8", depth_unit=unit)
    ids = own.make_info(WIDTH, HEIGHT, "ids16")
    infos = dict.fromkeys(what.cameras, info) | dict.fromkeys(what.ids, ids)
    cameras = {name: camera_to_dict(one, "toy", "h264") for name, one in infos.items()}
    header = make_recording_header(
        config={"session": {"rate": 200.0}},
        names={"leader": "toy", "follower": what.robot, "env": "kinematic"},
        robot=robot,
        leader=leader,
        gate_period=0.005,
    ) | {"cameras": cameras}
    rings = [FakeRing(), FakeRing()]
    film = {name: FakeRing() for name in cameras}
    footage = FootageRecorder(cameras, film, lambda *_: None)
    settings = RecordSettings(dir=str(folder), task=what.task)
    recorder = Recorder(
        settings, layout, header, rings, wall=lambda: WALL_NS, footage=footage
    )
    tell(rings[0], event="episode_begin", episode=0, t_ns=START_NS)
    recorder.step(START_NS + 20 * MS)
    encoders = {name: make_encoder(one, "h264") for name, one in infos.items()}
    deep = make_depth_encoder(info) if what.depth else None
    n_pictures = 0
    for k in range(round(seconds * 1e9 / PERIOD_NS)):
        now = START_NS + k * PERIOD_NS
        t = (now - START_NS) * 1e-9
        if what.gap is None or not what.gap[0] <= t < what.gap[1]:
            push_rows(rings, layout, k, now, what)
        shot = START_NS + 10 * MS + round(n_pictures * 1e9 / what.fps / what.rate_error)
        if shot <= now:
            for name, encoder in encoders.items():
                if n_pictures not in what.skip:
                    image = (
                        np.full((HEIGHT, WIDTH), 3 + n_pictures, "<u2")
                        if name in what.ids
                        else draw(shot, what, n_pictures)
                    )
                    film[name].push(
                        PictureKind.PICTURE,
                        pack_coded(encoder.encode(shot, image.tobytes())),
                    )
                    if deep and name not in what.ids:
                        depth = np.full((HEIGHT, WIDTH), 500 + n_pictures, np.uint16)
                        film[name].push(
                            PictureKind.DEPTH,
                            pack_coded(deep.encode(shot, depth.tobytes())),
                        )
            n_pictures += 1
        if k % 40 == 39:
            recorder.step(now)
    now = START_NS + round(seconds * 1e9)
    path = recorder.path
    if not what.finish:
        recorder.step(now + 100 * MS)
        return path
    recorder.step(now)
    own = {"outcome": what.outcome} if what.outcome else {}
    kept = not what.discard and what.end != "lost"
    if what.discard:
        tell(rings[0], event="discard", episode=0, reason="discarded", t_ns=now)
    tell(
        rings[0],
        event="episode_end", end_reason=what.end, kept=kept, t_ns=now, **own,
    )  # fmt: skip
    recorder.step(now + 500 * MS)
    recorder.finish("quit", now + 500 * MS)
    return path or next(iter(recorder.manifests))


def tell(ring, **event):
    ring.push(Stream.EVENT, json.dumps(event).encode())


def push_rows(rings, layout, k, now, what):
    """Give a tick and a period of the gate."""
    tick, gate = np.zeros(1, layout.tick), np.zeros(1, layout.status)
    t = (now - START_NS) * 1e-9
    tick["stamp_ns"], tick["k"], tick["state"] = now, k, SessionState.ENGAGED
    if not what.driven[0] <= t < what.driven[1]:
        tick["state"], tick["driver"] = SessionState.CLUTCHED, -1
    tick["has_sample"], tick["target"], tick["raw"] = True, np.nan, np.nan
    tick["sample"]["stamp_ns"], tick["sample"]["seq"] = now, k
    tick["q_des"] = move(t, what.scale, what.wave) + 0.02
    gate["stamp_ns"], gate["k"], gate["state"] = now + MS, k, 2
    gate["meas_ns"] = now
    gate["q_meas"], gate["dq_meas"] = (
        move(t, what.scale, what.wave),
        (0.4 * what.scale, 0.1, -0.01),
    )
    gate["q_cmd"] = move(t, what.scale, what.wave) + 0.01
    gate["tau_meas"] = (1.0, 2.0, 3.0) if what.effort else np.nan
    rings[0].push(Stream.TICK, tick.tobytes())
    rings[1].push(Stream.GATE, gate.tobytes())


def draw(stamp_ns, what, n):
    """A clock that shows when the content was, and a block that moves with the arm."""
    if what.freeze is not None and n >= what.freeze:
        stamp_ns = START_NS
    shown = stamp_ns - round(what.late * MS)
    image = np.full((HEIGHT, WIDTH, 3), (90, 120, 60), np.uint8)
    edge = 10 + int((shown - START_NS) / (40 * MS)) % 80
    if what.wave:
        edge = round(48 + 90 * move((shown - START_NS) * 1e-9, wave=True)[0])
    image[HEIGHT // 2 :, : max(edge, 0)] = 220
    if not what.wave:
        draw_clock(image, shown)
    return image
