"""A robot's host with a video page, which sends poses beside it to an operator's host.

``python video_host.py ADDRESS PEER FOLDER`` serves at ADDRESS, prints the page's
address, and sends the time in a datagram of a pose's length to port 47999 of PEER until
its standard input ends. Images are of noise that moves, so that they fill the rate.
Once a second one has nothing of the one before: 64 kB of video, which are a tenth of a
second of 5 Mbit/s.
"""

import itertools
import socket
import struct
import sys
import threading
import time

import numpy as np

from paprle.contracts.plugins import Frame
from paprle.contracts.settings.camera import CameraSettings
from paprle.hardware.media.video import VideoPage
from paprle.hardware.web.settings import WebSettings

PORT, POSE, EVERY, FPS = 47999, 300, 0.01, 15.0
WIDTH, HEIGHT = 320, 240
INFO = CameraSettings(fps=FPS).make_info(WIDTH, HEIGHT, "rgb8")


def speak(peer, is_over):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as poses:
        while not is_over.wait(EVERY):
            stamp = struct.pack("<q", time.monotonic_ns())
            poses.sendto(stamp.ljust(POSE, b"\0"), (peer, PORT))


def show(page, is_over):
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 256, (HEIGHT // 8, WIDTH // 8, 3), np.uint8)
    for k in itertools.count():
        if is_over.wait(1.0 / FPS):
            return
        noise = np.roll(noise, (1, 2), axis=(0, 1))
        grain, blocks = 8, noise
        if k % FPS == 0:
            grain = 2
            shape = (HEIGHT // grain, WIDTH // grain, 3)
            blocks = rng.integers(0, 256, shape, np.uint8)
        pixels = np.repeat(np.repeat(blocks, grain, axis=0), grain, axis=1)
        page.show("front", INFO, Frame(time.monotonic_ns(), pixels.tobytes()))


def main(address, peer, folder):
    settings = WebSettings(listen=address, certificate=folder)
    page = VideoPage(settings, time.monotonic_ns)
    page.open()
    is_over = threading.Event()
    works = [
        threading.Thread(target=speak, args=(peer, is_over)),
        threading.Thread(target=show, args=(page, is_over)),
    ]
    for work in works:
        work.start()
    sys.stdout.write(page.address + "\n")
    sys.stdout.flush()
    sys.stdin.read()
    is_over.set()
    for work in works:
        work.join()
    page.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
