"""A recorder that was late has several episodes before it, and is no hung one."""

from __future__ import annotations

from paprle.recording.reader import Episode


def push_episodes(rings, tools, n):
    now = tools.START_NS
    for k in range(n):
        now += 1_000_000
        rings[0].push_event(event="episode_begin", episode=k, t_ns=now)
        rings[0].push_event(
            event="episode_end", end_reason="next", kept=True, t_ns=now + 1
        )
    return now + 1_000_000_000


def test_a_step_closes_one_episode_so_that_each_is_reported_at_once(make, rings, tools):
    recorder = make()
    now = push_episodes(rings, tools, 3)

    for n_closed in (1, 2, 3):
        recorder.step(now)
        assert len(recorder.manifests) == n_closed


def test_the_end_takes_all_that_is_left(make, rings, tools, tmp_path):
    recorder = make()
    now = push_episodes(rings, tools, 3)

    recorder.finish("quit", now)

    assert len(recorder.manifests) == 3
    for k in range(3):
        episode = Episode.open(tmp_path / f"episode_{k:06d}.mcap")
        assert episode.end_reason == "next"
        assert episode.manifest["session_episode"] == k
