"""Verb ``capture``: records leaders without a robot."""

from __future__ import annotations

import argparse
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from paprle.cli.doctor import resolve_leader
from paprle.cli.interactive import SIGNALS, keys_at_once
from paprle.cli.verb import Verb, add_settings, print_closing_notes, say
from paprle.hosts.capture import capture


def _capture(args: argparse.Namespace) -> int:
    resolved = resolve_leader(args.settings)
    with _signals() as ended, keys_at_once():
        say(f"capturing {resolved.leader_name}; Ctrl-C ends")
        made = capture(resolved, lambda: bool(ended))
    for leader in made.leaders.values():
        print_closing_notes(leader)
    for line in made.summarise():
        say(line)
    for path in made.recorder.manifests:
        say(f"captured: {path.with_suffix('.mcap')}")
    for loss in made.recorder.losses:
        say(f"LOST: {loss}")
    return 6 if made.recorder.losses or not made.recorder.manifests else 0


@contextmanager
def _signals() -> Iterator[list[int]]:
    got: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        got.append(number)

    before = {number: signal.signal(number, note) for number in SIGNALS}
    try:
        yield got
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


CAPTURE = Verb(
    name="capture",
    summary="Record leaders without a robot.",
    help="""\
Nothing moves and no robot is needed. The leader's samples are written as the device
gives them, with their own capture times, into an episode in record.dir. It ends with
the leader, with session.duration, or with Ctrl-C. leader=offline plays it on any robot.

exit codes: 0 captured, 1 failed, 2 refused, 6 captured with losses

examples:
  paprle capture leader=keyboard record.dir=OUT
  paprle capture leader=ros leader.limbs.hand.topic=/hand record.dir=OUT \\
      session.duration=20
  paprle capture leader=mix leaders.left.type=keyboard leaders.right.type=autopilot \\
      record.dir=OUT
  paprle run leader=offline leader.path=OUT/episode_000000.mcap follower=piper \\
      env=mujoco""",
    add_arguments=add_settings,
    run=_capture,
)
