"""Looks at the clouds of a robot's host for some seconds; prints how many came.

python cloud_eye.py HOST KEY WIDTH HEIGHT SECONDS
"""

import sys
import time

import numpy as np

from cameras.sight.camera import SightCamera
from cameras.sight.config import SightCameraConfig

host, key, width, height, seconds = sys.argv[1:]
config = SightCameraConfig(host=host, key=key, width=int(width), height=int(height))
camera = SightCamera(config, time.monotonic_ns)
camera.open()
end, n, n_points = time.monotonic() + float(seconds), 0, 0
while time.monotonic() < end:
    frame = camera.grab(0.2)
    if frame is not None:
        n += 1
        n_points += int(np.count_nonzero(np.frombuffer(frame.data, "<u2")))
camera.close()
sys.stdout.write(f"{n} {n_points}\n")
