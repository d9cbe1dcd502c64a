"""A program in place of ``paprle`` for its guests: run by their ``command``.

It tells one observation until the first action, then joints that are where they were
sent; five are of a robot on its way home before. ``mute`` ends the news after the first
at home; ``ends`` ends it before any; ``late`` never tells anything.
"""

import base64
import itertools
import json
import signal
import socket
import sys
import time

COLUMNS = {
    "action": ["a.pos", "gripper.pos"],
    "objects": ["block.x", "block.y"],
    "cameras": {"front": [2, 3, 3]},
}
IMAGE = {"shape": [2, 3, 3], "data": base64.b64encode(bytes(range(18))).decode()}


def tell(path, is_leader, words):
    place, tail = [1.0, 50.0], b""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as own:
        own.connect(path)
        own.settimeout(0.005)
        for told in itertools.count():
            state = {
                "session.state": "HOMING" if told < 5 else "ENGAGED",
                "observation.state": place if told >= 5 else [-9.0, 0.0],
                "observation.environment_state": [0.1, 0.2],
                "observation.images.front": IMAGE,
            }
            sent = {"action": dict(zip(COLUMNS["action"], place, strict=True))}
            own.sendall(json.dumps(sent if is_leader else state).encode() + b"\n")
            if "mute" in words and told >= 5:
                time.sleep(60.0)
            try:
                tail += own.recv(1 << 16)
            except TimeoutError:
                continue
            *lines, tail = tail.split(b"\n")
            if lines:
                place = json.loads(lines[-1])["action"]


if __name__ == "__main__":
    # a shell that starts the tests in its background has them ignore it
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    verb, *words = sys.argv[1:]
    if verb == "dataset":
        sys.stdout.write("a warning\n" + json.dumps(COLUMNS) + "\n")
    elif "ends" in words:
        sys.exit("no arm at /dev/ttyACM0")
    elif "late" in words:
        time.sleep(60.0)
    else:
        kept = [word for word in words if word.startswith(("leader.remote=", "obs"))]
        key, path = kept[0].split("=", 1)
        tell(path, key != "leader.remote", words)
