from __future__ import annotations

import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from paprle.contracts.errors import MissingDependency
from paprle.evaluation import report
from paprle.evaluation.episode import measure_source
from paprle.evaluation.page import render_page
from paprle.evaluation.report_text import describe_episode, format_number


@pytest.fixture(scope="module")
def measured(make_episode):
    names = ("episode_000000", "<script>alert(1)")
    return [measure_source(make_episode(n=900, name=name)) for name in names]


@pytest.fixture(scope="module")
def blank(tmp_path_factory):
    return report.evaluate([tmp_path_factory.mktemp("none") / "none.mcap"])


@pytest.fixture(scope="module")
def page(measured, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    return report._write(report.collect_entries(measured), measured, folder)


class References(HTMLParser):
    """Collects what a page would load, and whether it has scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [v for k, v in attrs if k in {"src", "href", "data", "srcset"}]


def parse(html: str) -> References:
    parser = References()
    parser.feed(html)
    return parser


@pytest.mark.long
def test_the_page_needs_nothing_beside_itself_and_runs_nothing(page):
    html = page.read_text(encoding="utf-8")

    found = parse(html)

    assert found.links
    assert all(link.startswith("data:image/png;base64,") for link in found.links)
    assert "script" not in found.tags
    assert "url(" not in html
    assert "&lt;script&gt;" in html


def test_the_json_is_what_evaluate_returned(page, measured):
    written = json.loads(page.with_name("report.json").read_text(encoding="utf-8"))

    results = report.collect_entries(measured)

    assert written == json.loads(json.dumps(results))


@pytest.mark.parametrize(
    "part", ["Path", "over time", "Distribution", "limits", "tick", "oracle"]
)
def test_all_kinds_of_plots_are_drawn(page, part):
    titles = re.findall(r"<h3>(.*?)</h3>", page.read_text(encoding="utf-8"))

    assert any(part in title for title in titles)


@pytest.mark.long
def test_an_episode_with_little_in_it_still_makes_a_page(make_episode, tmp_path):
    thin = [
        measure_source(make_episode(rows=rows, limbs=limbs))
        for rows, limbs in (
            (slice(0, 0), ("arm",)),
            (slice(0, 100), ("left", "right")),
            (slice(200, 201), ("arm",)),
            (slice(200, 203), ("arm",)),
        )
    ]

    page = report._write(report.collect_entries(thin), thin, tmp_path)

    assert "never ENGAGED" in page.read_text(encoding="utf-8")


@pytest.mark.long
@pytest.mark.parametrize(
    "urdf", ["", "<robot", "<robot name='x'><link name='a'/></robot>"]
)
def test_a_recording_whose_urdf_is_unreadable_still_tells_of_its_timing(
    make_episode, tmp_path, urdf
):
    episode = make_episode(n=400)
    object.__setattr__(episode, "urdf", urdf)
    result = measure_source(episode)
    entries = report.collect_entries([result])

    report._write(entries, [result], tmp_path)

    assert "URDF" in entries[0]["notes"][0]
    assert entries[0]["tick"]["rate_hz"] == pytest.approx(200.0)
    assert "200 Hz" in report.summary_text(entries)


def test_a_blank_entry_has_words_and_a_page(blank, tmp_path):
    text = report.summary_text(blank)
    page = report.write_report(blank, [tmp_path / "none.mcap"], tmp_path)

    assert "none.mcap" in text
    assert "could not be read" in page.read_text(encoding="utf-8")
    assert json.loads((tmp_path / "report.json").read_text())[0]["error"]


def test_without_matplotlib_the_json_is_written_and_the_command_is_told(
    measured, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "paprle.evaluation.plots", raising=False)

    with pytest.raises(MissingDependency, match=r"pip install 'paprle\[report\]'"):
        report._write(report.collect_entries(measured), measured, tmp_path)

    assert (tmp_path / "report.json").is_file()
    assert not (tmp_path / "report.html").exists()


def test_itv_compares_all_episodes_and_stands_in_every_entry(make_episode):
    def shift(at):
        at.gate["q_meas"][:, 0] += 0.01

    pair = [measure_source(make_episode()), measure_source(make_episode(change=shift))]

    first, second = report.collect_entries(pair)

    assert first["itv"] == second["itv"]
    assert first["itv"]["n_trials"] == 2
    assert first["itv"]["arc_length_mm"] > 1.0
    assert first["itv"]["normalised_time_mm"] > 1.0
    assert "Inter-trial variability" in report.summary_text([first, second])


def test_a_single_episode_has_no_variability(measured):
    assert report.collect_entries(measured[:1])[0]["itv"] is None


def test_equal_replays_have_no_variability(make_episode):
    pair = [measure_source(make_episode()) for _ in range(2)]

    itv = report.collect_entries(pair)[0]["itv"]

    assert itv["arc_length_mm"] == pytest.approx(0.0, abs=1e-9)


def test_the_summary_says_tau_beside_the_compensated_error(measured):
    text = report.summary_text(report.collect_entries(measured))

    assert re.search(r"without lag +median .* at τ = \d", text)
    assert "look-ahead" in text
    assert "ok: " in text


def test_broken_limits_are_said_aloud(make_episode):
    def jump(at):
        at.gate["q_cmd"][900:, 0] += 0.03

    entry = measure_source(make_episode(change=jump)).entry

    assert "BROKE M3, M4" in describe_episode(entry)
    assert 'class="tile bad"' in render_page([entry | {"itv": None}], [[]], "t")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0.0, "0 mm"),
        (0.000674, "0.0007 mm"),
        (0.00000674, "<0.0001 mm"),
        (12.345, "12.3 mm"),
        (1234.5, "1234 mm"),
        (7, "7 mm"),
    ],
)
def test_numbers_have_up_to_three_figures(value, text):
    assert format_number(value, "mm" if value is not None else "") == text


def test_long_recordings_are_thinned_for_plots():
    plots = report._load_plots()

    (thin,) = plots._thin(np.arange(100_000))

    assert len(thin) <= plots.MAX_POINTS


def test_episodes_of_the_same_name_are_told_apart():
    names = report._make_names([Path("a/episode_0.mcap"), Path("b/episode_0.mcap")])
    assert names == ["a/episode_0", "b/episode_0"]
    names = report._make_names([Path("a/episode_0.mcap"), Path("a/episode_1.mcap")])
    assert names == ["episode_0", "episode_1"]
