"""The report names the moments that matter, and the command that shows each."""

import argparse
import json
import shlex
from dataclasses import replace

import numpy as np
import pytest
from filmed import write_episode
from hypothesis import given
from hypothesis import strategies as st

from paprle.contracts.types import GateState
from paprle_lab.cli.view import VIEW
from paprle_lab.evaluation.episode import measure_episode, measure_source
from paprle_lab.evaluation.reporting import moment_pictures, report
from paprle_lab.evaluation.reporting.moment_pictures import draw_moments
from paprle_lab.evaluation.reporting.moments import _Holds, find_moments, name_command
from paprle_lab.evaluation.stored import StoredEpisode

pytestmark = pytest.mark.long
PERIOD_NS = 5_000_000


@pytest.fixture(scope="module")
def episode(make_episode):
    """Bodies are nearest in period 300; the gate holds for 60 and for 100 periods."""
    episode = make_episode(n=900)
    gate = episode.gate
    gate["clearance"] = 0.5
    gate["clearance"][300] = 0.0123
    gate["state"][400:460] = GateState.HOLD
    gate["state"][600:700] = GateState.HOLD
    return episode


def test_error_nearest_bodies_and_longest_hold_are_named_in_order(episode):
    result = measure_source(episode)
    moments = find_moments(result)
    found = {moment.text.partition(",")[0]: moment for moment in moments}

    begin = (episode.gate["stamp_ns"] - result.origin_ns) * 1e-9
    assert found["nearest bodies"].t == pytest.approx(begin[300])
    assert "12.3 mm" in found["nearest bodies"].text
    assert found["longest hold"].t == pytest.approx(begin[600])
    assert "0.500 s" in found["longest hold"].text
    (limb,) = result.limbs
    worst = int(np.argmax(limb.errors))
    assert found["largest error"].t == limb.target.t[worst]
    assert moments == sorted(moments)


def test_the_command_opens_the_viewer_a_second_before(episode):
    result = measure_source(episode)
    moment = max(find_moments(result))
    paprle, view, *words = shlex.split(name_command(result, moment))
    parser = argparse.ArgumentParser()
    VIEW.add_arguments(parser)
    args = parser.parse_args(words)

    assert (paprle, view) == ("paprle", "view")
    assert args.recordings == episode.path
    assert args.at == pytest.approx(moment.t - 1.0, abs=0.1)


@pytest.mark.parametrize("ticks", [None, ()])
def test_a_log_of_others_names_no_moment(episode, ticks):
    result = replace(measure_source(episode), ticks=ticks)

    assert find_moments(result) == []


def test_the_page_of_a_recording_names_its_moments(tmp_path):
    path = write_episode(tmp_path, 2.0)
    page = report.write_report(report.evaluate([path], tmp_path), [path], tmp_path)

    found = {one.text.partition(",")[0] for one in find_moments(measure_episode(path))}
    assert "largest error" in found
    assert "clearance" in StoredEpisode(path).gate.dtype.names
    html = page.read_text()
    (entry,) = json.loads(page.with_suffix(".json").read_text())
    for moment in entry["moments"]:
        assert f"paprle view {path} --at {moment['view_s']:.1f}" in html
        mark = f"<!--moment episode_000000.mcap {moment['view_s']:.1f}-->"
        assert mark in html, "a viewer puts a link there"
    assert [one["text"].partition(",")[0] for one in entry["moments"]] == [
        one.text.partition(",")[0] for one in find_moments(measure_episode(path))
    ]
    assert "<h3>The robot at these moments</h3>" in page.read_text()
    assert "<h3>Camera front at these moments</h3>" in page.read_text()


def test_the_robot_is_drawn_as_it_was_measured_then(episode, monkeypatch):
    result = measure_source(episode)
    moments = find_moments(result)
    drawn = []
    monkeypatch.setattr(
        moment_pictures, "draw_stills", lambda _, stills, *__: drawn.extend(stills)
    )

    titles = [title for title, _, _ in draw_moments(result, moments)]

    assert titles == ["The robot at these moments"]
    assert [still.t for still in drawn] == [moment.t for moment in moments]
    t_meas = (episode.gate["meas_ns"] - result.origin_ns) * 1e-9
    for still in drawn:
        k = int(np.argmin(np.abs(t_meas - still.t)))
        assert still.q == pytest.approx(episode.gate["q_meas"][k])


def test_a_run_without_moments_has_no_pictures_of_them(episode):
    assert list(draw_moments(measure_source(episode), [])) == []


@given(
    st.lists(st.lists(st.booleans(), min_size=1, max_size=9), min_size=1, max_size=9)
)
def test_the_longest_hold_does_not_depend_on_blocks(blocks):
    holds, k = _Holds(), 0
    for block in blocks:
        stamps = (k + np.arange(len(block))) * PERIOD_NS
        holds.take(stamps, np.array(block))
        k += len(block)

    longest, begin = 0, 0
    flags = [*sum(blocks, []), False]
    for i, flag in enumerate(flags):
        if flag and (i == 0 or not flags[i - 1]):
            begin = i
        if i and flags[i - 1] and not flag:
            end = min(i, k - 1)
            longest = max(longest, end - begin)
    assert holds.longest == pytest.approx(longest * PERIOD_NS * 1e-9)
