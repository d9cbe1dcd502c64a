"""Verb ``view``: shows recordings in a browser."""

from __future__ import annotations

import argparse
import signal
import threading
import time
import webbrowser
from pathlib import Path

from paprle.cli.verb import Verb, say
from paprle.contracts.film import RecordingList
from paprle.contracts.kit.extensions import load_extension
from paprle.hosts.operator.slow_work import SlowWork
from paprle_lab.dataset.formats.rerun_file import show_in_rerun
from paprle_lab.viewing.listing import list_recordings

_LOOK = 0.2  # [s] chosen: how often it is looked whether there is anything to say
_PORT = 8080


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "recordings",
        type=Path,
        metavar="PATH",
        help="episode, folder of recordings, data set of LeRobot v3, or bag or MCAP",
    )
    parser.add_argument(
        "--port", type=int, default=_PORT, help="the next free port is taken"
    )
    parser.add_argument(
        "--at", type=float, default=0.0, metavar="SECONDS", help="begin there"
    )
    parser.add_argument("--open", action="store_true", help="open the browser, too")
    parser.add_argument(
        "--rerun", action="store_true", help="write EPISODE.rrd and open it in Rerun"
    )


def _view(args: argparse.Namespace) -> int:
    if args.rerun:
        with SlowWork("writing the file of Rerun"):
            told = show_in_rerun(args.recordings)
        say(told)
        return 0
    with SlowWork("listing the recordings"):
        listed = list_recordings(args.recordings)
    _serve(listed, args)
    return 0


def _serve(listed: RecordingList, args: argparse.Namespace) -> None:
    viewer = load_extension("paprle.viewers", "page", "view")
    page = viewer(listed, time.monotonic_ns, args.port, args.at)
    has_ended = threading.Event()
    before = {
        number: signal.signal(number, lambda *_: has_ended.set())
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        with SlowWork("opening the page"):
            page.open()
        n = len(listed.entries)
        say(f"view: {listed.title}: {n} episode{'s' * (n != 1)}; Ctrl-C ends it")
        say(f"view: open {page.address}")
        if args.open:
            webbrowser.open(page.address)
        while not has_ended.wait(_LOOK):
            for text in page.take_warnings():
                say(text)
    finally:
        page.close()
        for number, handler in before.items():
            signal.signal(number, handler)


VIEW = Verb(
    name="view",
    summary="Show recordings in a browser: robot, cameras, plots, events.",
    help="""\
Prints the address of a page on this machine and serves it until Ctrl-C. The page lists
the recordings of PATH with length, outcome, task and a picture; one of them is played,
searched, slowed down and plotted. Press ? there for the keys.

PATH is an own episode (.mcap or its manifest), a folder of episodes and bags, a data
set of LeRobot version 3, a ROS bag (.mcap, .db3, .bag, or the folder of 'ros2 bag'), or
another MCAP with JSON channels.
--rerun writes EPISODE.rrd beside an own episode instead, and opens it in Rerun's viewer
where there is a display (pip install 'paprle[rerun]').

examples:
  paprle view OUT
  paprle view OUT/episode_000000.mcap --at 12.5
  paprle view ~/.cache/huggingface/lerobot/lerobot/svla_so101_pickplace
  paprle view OUT/episode_000000.mcap --rerun""",
    add_arguments=_add_arguments,
    run=_view,
)
