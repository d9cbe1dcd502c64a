"""Makes leaders in environments that lack packages; prints what became of each.

``python without_sdks.py`` reads ``[[words, missing], …]`` as JSON: the command line's
words of a leader, and packages that are not installed for it. It prints for each
``{"said": …, "tried": […]}``: the refusal, or nothing, and which of the packages of
``SDKS`` were looked for. Each is a process of its own, forked before any is loaded.
"""

from __future__ import annotations

import json
import os
import sys
from importlib.machinery import PathFinder

from paprle.config import resolve
from paprle.contracts.errors import PaprleError
from paprle.contracts.types import RobotInfo
from paprle.hosts.factories import make_leader
from paprle.hosts.plan import make_robot

ROBOT = ("follower=piper", "env=kinematic")

SDKS = frozenset({
    "aiortc", "av", "can", "cryptography", "cv2", "cyclonedds", "dynamixel_sdk",
    "google", "grpc", "h5py", "hid", "hidraw", "mediapipe", "onnxruntime", "pyarrow",
    "pygame", "pyrealsense2", "rclpy", "rospy", "scservo_sdk", "segno", "serial",
    "viser", "vqf", "websockets", "zarr",
})  # fmt: skip
"""Packages of extras."""


def block(missing: frozenset[str]) -> set[str]:
    """Let packages be missing; return where those that are looked for are noted."""
    tried: set[str] = set()

    class Without(PathFinder):
        @classmethod
        def find_spec(cls, fullname, path=None, target=None):
            package = fullname.partition(".")[0]
            if package in SDKS:
                tried.add(package)
            return (
                None
                if package in missing
                else super().find_spec(fullname, path, target)
            )

    sys.meta_path[sys.meta_path.index(PathFinder)] = Without
    return tried


def try_leader(
    words: list[str], missing: list[str], robot: RobotInfo
) -> dict[str, object]:
    """Make and open a leader as a session does; return what became of it."""
    tried = block(frozenset(missing))
    said = ""
    try:
        leader = make_leader(resolve((*words, *ROBOT)), robot=robot)
        said = "; ".join(leader.preflight())
        if not said:
            assert leader.info.limbs
            leader.open()
            leader.close()
    except PaprleError as err:
        said = str(err)
    return {"said": said, "tried": sorted(tried)}


def fork(words: list[str], missing: list[str], robot: RobotInfo) -> dict[str, object]:
    """Do it in a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, json.dumps(try_leader(words, missing, robot)).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return json.loads(said) if said else {"said": "it died", "tried": []}


if __name__ == "__main__":
    piper = make_robot(resolve(("leader=keyboard", *ROBOT))).info
    loaded = SDKS & set(sys.modules)
    assert not loaded, f"the core has loaded {loaded}"
    json.dump([fork(*case, piper) for case in json.load(sys.stdin)], sys.stdout)
