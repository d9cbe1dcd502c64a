"""YAML settings of a bare hand."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.settings.sound import SoundSettings


@settings
class CameraConfig:
    """Camera, and process of the hand tracker."""

    recorded: Annotated[
        str,
        Unit("path"),
        doc("A recording of hands (.npz) in place of camera and sensor."),
    ] = ""
    kind: Annotated[
        Literal["realsense", "webcam"],
        doc("realsense measures depth; webcam guesses it from the hand's size."),
    ] = "realsense"
    device: Annotated[
        str,
        doc(
            "Serial number of a RealSense (the only one when empty); number or path of "
            "a webcam, or a video file."
        ),
    ] = ""
    python: Annotated[
        str,
        Unit("path"),
        doc("Python of the tracker's environment; our own when empty."),
    ] = ""
    model: Annotated[
        str,
        Unit("path"),
        doc("hand_landmarker.task, for a MediaPipe that brings no model."),
    ] = ""
    width: Annotated[int, Ge(160), Le(1920), Unit("px"), doc("Of an image.")] = 640
    height: Annotated[int, Ge(120), Le(1080), Unit("px"), doc("Of an image.")] = 480
    rate: Annotated[float, Gt(0), Le(120), Unit("Hz"), doc("Images a second.")] = 30.0
    field_of_view: Annotated[
        float, Gt(0.2), Le(2.8), Unit("rad"), doc("Of a webcam, across its width.")
    ] = 1.1
    domain: Annotated[
        int | None, Ge(0), Le(232), doc("DDS domain of a RealSense on the network.")
    ] = None


@settings
class ImuConfig:
    """The sensor on the wrist."""

    port: Annotated[str, Unit("path"), doc("Its serial port.")]
    packet: Annotated[
        Literal["attitude", "inertial"],
        doc("attitude: it fuses (ARBot's packet); inertial: we do, by vqf."),
    ] = "attitude"
    baud: Annotated[
        int, Ge(9600), Le(4_000_000), Unit("bit/s"), doc("Of the line.")
    ] = 500_000  # spec: requirements.md A6
    rate: Annotated[float, Ge(20), Le(1000), Unit("Hz"), doc("Packets a second.")] = (
        200.0
    )
    boot: Annotated[
        float, Ge(0), Le(10), Unit("s"), doc("How long its board takes to start.")
    ] = 2.0  # spec: requirements.md A6
    mount_rpy: Annotated[
        tuple[float, float, float],
        Unit("rad"),
        doc(
            "The hand's axes (x along the fingers, z out of its back) in the sensor's: "
            "roll, pitch, yaw, extrinsic x y z."
        ),
    ] = (0.0, 0.0, 0.0)


@settings
class HandImuConfig(SoundSettings):
    """A hand, its sensors and gestures."""

    camera: Annotated[CameraConfig, doc("What sees the hand.")] = CameraConfig()
    imu: Annotated[
        ImuConfig | None, doc("The sensor on its wrist; absent: position alone.")
    ] = None
    hand: Annotated[
        Literal["right", "left"], doc("Which hand leads; the other one lets go.")
    ] = "right"
    point: Annotated[
        Literal["palm", "fingertips"],
        doc("What of it is followed: palm, or the middle of three fingertips."),
    ] = "palm"
    gripper: Annotated[Literal["fist", "pinch"], doc("What closes the gripper.")] = (
        "fist"
    )
    filter: Annotated[
        Literal["none", "ema", "average", "kalman"],
        doc("Of the position: ARBot's filters, each later than none; the note says."),
    ] = "none"
    predict: Annotated[
        float,
        Ge(0),
        Le(0.1),
        Unit("s"),
        doc("How far filter=kalman goes ahead, by its velocity; at most 5 cm."),
    ] = 0.0  # spec: requirements.md A10: ARBot has 0.03; off unless asked for
    hold: Annotated[
        float, Ge(0.2), Le(10), Unit("s"), doc("How long it is held still to engage.")
    ] = 3.0  # spec: requirements.md A8
    palm: Annotated[
        float,
        Gt(0.04),
        Le(0.2),
        Unit("m"),
        doc("Wrist to the root of the middle finger; a webcam's only scale."),
    ] = 0.09  # measured: MediaPipe's own hand, 0.085 to 0.096 m
