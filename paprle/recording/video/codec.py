"""H.264, JPEG and PNG codecs by PyAV; costs: docs/decisions/0010-recording.md."""

from __future__ import annotations

from fractions import Fraction
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from paprle.contracts.errors import ConfigError, MissingDependency, RecordingError
from paprle.contracts.images import EXACT, CameraInfo, Encoding
from paprle.contracts.settings.camera import Video
from paprle.ipc.pictures import CodedPicture

Image = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]

KEY_NS = 900_000_000  # [ns] asked for: a keyframe every second at most; one late
_QUALITY = "23"  # chosen: x264's own default
_JPEG_QUANTISER = 3  # chosen: 2 is best, 31 worst; 3 is about quality 90
_SHARES = {"h264": 1 / 40, "jpeg": 1 / 10, "none": 0.0}
"""chosen: of the raw bytes, for pictures that move much."""
_DEPTH_SHARE = 1 / 2  # chosen: real depth is noisy in its last bits
_NO_AV = (
    "pictures: expected the package 'av', got none; install it with: "
    "pip install 'paprle[cameras]'"
)
_BLOCK = 16  # [px] spec: ITU-T H.264, 7.4.2.1.1: of a macroblock, the largest here
_TICKS = Fraction(1, 1_000_000)  # [s] chosen: of a stream's time
_FORMATS = {
    "rgb8": "rgb24",
    "mono8": "gray",
    "depth16": "gray16le",
    "ids16": "gray16le",
}
_DECODERS = {"h264": "h264", "jpeg": "mjpeg", "png": "png"}


class Encoder(Protocol):
    """Encoder of images as h264, jpeg or png."""

    format: str

    def encode(  # noqa: D102 - see ``make_encoder``
        self, stamp_ns: int, data: bytes, *, needs_key: bool = False
    ) -> CodedPicture | None: ...


def check_video(info: CameraInfo, video: Video) -> None:
    """Check that images can be encoded.

    Raises:
        ConfigError: If H.264 cannot code their size.
        MissingDependency: If PyAV is not installed.
    """
    if find_spec("av") is None:
        raise MissingDependency(_NO_AV)
    is_odd = info.width % 2 or info.height % 2
    if video == "h264" and info.encoding not in EXACT and is_odd:
        raise ConfigError(
            f"video: expected an even width and height for h264, got {info.width} × "
            f"{info.height}; choose video=jpeg"
        )


def estimate_footage(info: CameraInfo, video: Video) -> float:
    """Return a camera's highest data rate, [bytes/s]."""
    n = info.width * info.height * info.fps
    exact = _DEPTH_SHARE * 2.0 * n
    if info.encoding in EXACT:
        return exact
    depth = exact * (info.depth_unit > 0.0)
    return 3.0 * n * _SHARES[video] + depth


def make_encoder(info: CameraInfo, video: Video) -> Encoder:
    """Return the encoder of a camera's images.

    ``encode`` takes a stamp [ns] and bytes; it returns None if these are no image.

    Raises:
        MissingDependency: If PyAV is not installed.
    """
    if info.encoding in EXACT:
        return _Still(info, info.encoding, "png")
    if video == "jpeg":
        passes = info.encoding in {"jpeg", "png"}
        return _Passed(info.encoding) if passes else _Still(info, info.encoding, "jpeg")
    return _H264(info)


def make_depth_encoder(info: CameraInfo) -> Encoder:
    """Return a camera's lossless depth encoder."""
    return _Still(info, "depth16", "png")


class Decoder:
    """Decoder of one stream's pictures, in order."""

    def __init__(
        self, form: str, size: tuple[int, int], *, is_depth: bool = False
    ) -> None:
        """Prepare for ``size``: width and height, [px]; depth has 16 bits a pixel.

        Raises:
            RecordingError: If there is no such format.
            MissingDependency: If PyAV is not installed.
        """
        if form not in _DECODERS:
            known = ", ".join(_DECODERS)
            raise RecordingError(f"pictures: expected {known}, got '{form[:40]}'")
        self._av = load_av()
        self._form, self._format = form, "gray16le" if is_depth else "rgb24"
        self._size = size
        self._codec = self._make()

    def decode(self, data: bytes) -> Image | None:
        """Return the image, (height, width, 3), or depth, (height, width)."""
        if self._form == "png":  # measured: FFmpeg's adds a picture to the one before
            self._codec = self._make()
        try:
            frames = self._codec.decode(self._av.Packet(data))
        except self._av.error.FFmpegError:
            return None
        if not frames or (frames[-1].width, frames[-1].height) != self._size:
            return None
        image: Image = frames[-1].to_ndarray(format=self._format)
        return image

    def _make(self) -> Any:
        codec = self._av.CodecContext.create(_DECODERS[self._form], "r")
        codec.thread_count = 1
        # a picture of a stranger could ask for gigabytes; blocks may reach beyond it
        width, height = (side + _BLOCK for side in self._size)
        codec.options = {"max_pixels": str(width * height)}
        # without this a decoder may keep pictures back, to put them in order
        codec.flags |= self._av.codec.context.Flags.low_delay
        return codec


class _H264:
    format = "h264"

    def __init__(self, info: CameraInfo) -> None:
        self._av = load_av()
        self._read = _make_reader(info)
        codec: Any = self._av.CodecContext.create("libx264", "w")
        codec.width, codec.height = info.width, info.height
        codec.pix_fmt = "yuv420p"
        codec.time_base, codec.framerate = (
            _TICKS,
            Fraction(info.fps).limit_denominator(1000),
        )
        codec.gop_size = max(1, int(info.fps))
        codec.max_b_frames = 0
        codec.thread_count = 1
        codec.options = {
            "preset": "ultrafast",  # chosen: a third of veryfast's time, twice its size
            "tune": "zerolatency",
            "crf": _QUALITY,
            "forced-idr": "1",
        }
        self._codec = codec
        self._key_ns = 0
        self._begin_ns: int | None = None

    def encode(
        self, stamp_ns: int, data: bytes, *, needs_key: bool = False
    ) -> CodedPicture | None:
        frame = self._read(data)
        if frame is None:
            return None
        if self._begin_ns is None:
            self._begin_ns = stamp_ns
        frame.pts = (stamp_ns - self._begin_ns) // 1000
        frame.time_base = _TICKS
        if needs_key or stamp_ns - self._key_ns >= KEY_NS:
            frame.pict_type = self._av.video.frame.PictureType.I
        packets = self._codec.encode(frame)
        if not packets:
            return None
        is_key = any(packet.is_keyframe for packet in packets)
        self._key_ns = stamp_ns if is_key else self._key_ns
        return CodedPicture(
            stamp_ns, is_key, b"".join(bytes(packet) for packet in packets)
        )


class _Still:
    def __init__(self, info: CameraInfo, encoding: Encoding, form: str) -> None:
        self.format = form
        self._av = load_av()
        self._info, self._encoding = info, encoding
        self._read = _make_reader(info, encoding)
        self._codec: Any = None

    def encode(
        self,
        stamp_ns: int,
        data: bytes,
        *,
        needs_key: bool = False,  # noqa: ARG002
    ) -> CodedPicture | None:
        frame = self._read(data)
        if frame is None:
            return None
        if self._codec is None:
            self._codec = self._open()
        frame.pts = None
        packets = self._codec.encode(frame)
        coded = b"".join(bytes(packet) for packet in packets)
        return CodedPicture(stamp_ns, is_key=True, data=coded) if coded else None

    def _open(self) -> Any:
        is_jpeg = self.format == "jpeg"
        codec = self._av.CodecContext.create("mjpeg" if is_jpeg else "png", "w")
        codec.width, codec.height = self._info.width, self._info.height
        codec.time_base = _TICKS
        codec.thread_count = 1
        if is_jpeg:
            codec.pix_fmt = "yuvj420p"
            codec.qmin = codec.qmax = _JPEG_QUANTISER
        else:
            codec.pix_fmt = "gray16be"
            codec.options = {"compression_level": "1"}  # chosen: quick; it is lossless
        return codec


class _Passed:
    def __init__(self, form: str) -> None:
        self.format = form

    def encode(
        self,
        stamp_ns: int,
        data: bytes,
        *,
        needs_key: bool = False,  # noqa: ARG002
    ) -> CodedPicture | None:
        return CodedPicture(stamp_ns, is_key=True, data=data)


def _make_reader(info: CameraInfo, encoding: Encoding | None = None) -> Any:
    av = load_av()
    encoding = encoding or info.encoding
    if encoding in _FORMATS:
        form = _FORMATS[encoding]
        shape: tuple[int, ...] = (info.height, info.width)
        dtype = np.dtype("<u2") if encoding in EXACT else np.dtype(np.uint8)
        shape += (3,) if encoding == "rgb8" else ()

        def read(data: bytes) -> Any:
            image = np.frombuffer(data, dtype)
            if image.size != np.prod(shape):
                return None
            return av.VideoFrame.from_ndarray(image.reshape(shape), format=form)

        return read
    decoder = Decoder(encoding, (info.width, info.height))

    def decode(data: bytes) -> Any:
        image = decoder.decode(data)
        if image is None:
            return None
        return av.VideoFrame.from_ndarray(image, format="rgb24")

    return decode


def load_av() -> Any:
    """Return PyAV.

    Raises:
        MissingDependency: If it is not installed.
    """
    try:
        import av  # noqa: PLC0415 - only who codes pictures needs it
    except ModuleNotFoundError as err:
        raise MissingDependency(_NO_AV) from err
    return av
