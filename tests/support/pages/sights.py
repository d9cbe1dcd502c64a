"""The robot's end of pictures, with a key and a camera of depth."""

import socket

import numpy as np

from paprle.contracts.plugins import Frame
from paprle.contracts.settings.camera import CameraSettings
from paprle.observers.sight.config import SightConfig
from paprle.observers.sight.observer import Sight
from paprle.testing import make_robot_info

HEIGHT, WIDTH = 48, 64
DEPTH = CameraSettings(fps=20.0).make_info(WIDTH, HEIGHT, "depth16", depth_unit=0.001)
COLOUR = CameraSettings(fps=20.0).make_info(WIDTH, HEIGHT, "rgb8")


def find_udp_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def write_key(folder, secret=b"0123456789abcdef0123456789abcdef"):
    path = folder / "link.key"
    path.write_bytes(secret)
    path.chmod(0o600)
    return str(path)


def make_sight(key, clock, *, video=False, **fields):
    config = SightConfig(
        key=key, udp_port=find_udp_port(), video=video, poses=0.0, **fields
    )
    return Sight(config, make_robot_info(n_limbs=1), clock)


def draw_depth(k=0):
    """A slope with a box before it, [mm]."""
    depth = np.tile(np.linspace(900, 1500, WIDTH), (HEIGHT, 1)).astype("<u2")
    depth[10:30, 20 + k % 10 : 40 + k % 10] = 500
    return depth


def show_depth(sight, clock, k=0):
    frame = Frame(clock(), draw_depth(k).tobytes())
    sight.show({"front": frame}, {"front": DEPTH})
