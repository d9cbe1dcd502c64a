"""Verb ``view``: shows a recorded episode."""

from __future__ import annotations

import argparse
import signal
import threading
import time
from pathlib import Path

from paprle.cli.verb import Verb, say
from paprle.contracts.kit.extensions import load_extension
from paprle.contracts.plugins import Observer
from paprle.hosts.views.episode_player import EpisodeFilm
from paprle.plugins import find_plugin, load_config_class, load_factory

_LOOK = 0.2  # [s] chosen: how often it is looked whether there is anything to tell
_PAGE = "view"


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("episode", type=Path, help=".mcap, manifest or folder")
    parser.add_argument(
        "--rerun", action="store_true", help="write EPISODE.rrd and open it in Rerun"
    )


def _view(args: argparse.Namespace) -> int:
    if args.rerun:
        show_in_rerun = load_extension("paprle.viewers", "rerun", "view --rerun")
        say(show_in_rerun(args.episode))
        return 0
    film = EpisodeFilm(args.episode)
    try:
        _serve(film)
    finally:
        film.close()
    return 0


def _serve(film: EpisodeFilm) -> None:
    spec = find_plugin("observer", _PAGE)
    config = load_config_class(spec)()
    page: Observer = load_factory(spec)(config, film.robot, time.monotonic_ns)
    page.set_proximity_source(film.make_near_bodies().find)
    page.set_scene(film.list_bodies())
    page.play(film)
    has_ended = threading.Event()
    before = {
        number: signal.signal(number, lambda *_: has_ended.set())
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        if film.episode.note:
            say(f"{film.name}: {film.episode.note}")
        page.open()
        for note in page.notes:
            say(f"view: {note}")
        while not has_ended.wait(_LOOK):
            for text in page.take_warnings():
                say(text)
    finally:
        page.close()
        for number, handler in before.items():
            signal.signal(number, handler)


VIEW = Verb(
    name="view",
    summary="Show a recorded episode in a browser: the robot, its cameras, plots.",
    help="""\
Prints the address of a page on this machine, as a session does, and serves it until
Ctrl-C. There the episode is played, stopped, searched and slowed down.
--rerun writes EPISODE.rrd beside it instead, and opens that in Rerun's viewer where
there is a display (pip install 'paprle[rerun]').

examples:
  paprle view OUT/episode_000000.mcap
  paprle view OUT/episode_000000.mcap --rerun""",
    add_arguments=_add_arguments,
    run=_view,
)
