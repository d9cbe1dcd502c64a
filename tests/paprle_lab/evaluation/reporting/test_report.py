from __future__ import annotations

import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from paprle.contracts.errors import MissingDependency
from paprle_lab.evaluation.episode import measure_source
from paprle_lab.evaluation.reporting import report
from paprle_lab.evaluation.reporting.page import render_page
from paprle_lab.evaluation.reporting.report_text import describe_episode, format_number

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def measured(make_episode):
    names = ("episode_000000", "<script>alert(1)")
    return [measure_source(make_episode(n=900, name=name)) for name in names]


@pytest.fixture(scope="module")
def thin(make_episode):
    return [measure_source(make_episode(rows=slice(200, 201)))]


@pytest.fixture(scope="module")
def blank(tmp_path_factory):
    return report.evaluate([tmp_path_factory.mktemp("none") / "none.mcap"])


@pytest.fixture(scope="module")
def page(measured, tmp_path_factory):
    page = tmp_path_factory.mktemp("report") / "two.report.html"
    report._write(report.collect_entries(measured), measured, page)
    return page


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
    written = json.loads(page.with_suffix(".json").read_text(encoding="utf-8"))

    results = report.collect_entries(measured)

    assert written == json.loads(json.dumps(results))


@pytest.mark.parametrize(
    "part", ["Path", "over time", "Distribution", "limits", "tick", "oracle"]
)
def test_all_kinds_of_plots_are_drawn(page, part):
    titles = re.findall(r"<h3>(.*?)</h3>", page.read_text(encoding="utf-8"))

    assert any(part in title for title in titles)


@pytest.mark.nightly
@pytest.mark.long
def test_an_episode_with_little_in_it_still_makes_a_page(make_episode, tmp_path):
    episodes = [
        measure_source(make_episode(rows=rows, limbs=limbs))
        for rows, limbs in (
            (slice(0, 0), ("arm",)),
            (slice(0, 100), ("left", "right")),
            (slice(200, 201), ("arm",)),
            (slice(200, 203), ("arm",)),
        )
    ]

    page = tmp_path / "thin.report.html"
    report._write(report.collect_entries(episodes), episodes, page)

    assert "never ENGAGED" in page.read_text(encoding="utf-8")


@pytest.mark.long
@pytest.mark.parametrize(
    "urdf", ["", "<robot", "<robot name='x'><link name='a'/></robot>"]
)
def test_a_recording_whose_urdf_is_unreadable_still_tells_of_its_timing(
    make_episode, urdf
):
    episode = make_episode(n=400)
    object.__setattr__(episode, "urdf", urdf)
    entries = report.collect_entries([measure_source(episode)])

    assert "URDF" in entries[0]["notes"][0]
    assert entries[0]["tick"]["rate_hz"] == pytest.approx(200.0)
    assert "200 Hz" in report.summary_text(entries)


@pytest.mark.nightly
def test_a_recording_whose_urdf_is_unreadable_has_a_page(make_episode, tmp_path):
    episode = make_episode(n=400)
    object.__setattr__(episode, "urdf", "<robot")
    result = measure_source(episode)

    page = tmp_path / "a.report.html"
    report._write(report.collect_entries([result]), [result], page)

    assert "200 Hz" in page.read_text(encoding="utf-8")


def test_a_blank_entry_has_words_and_a_page(blank):
    text = report.summary_text(blank)
    html = render_page(blank, [[]], "t")

    assert "none.mcap" in text
    assert "could not be read" in html


def test_a_report_of_nothing_but_failures_is_not_written(blank, tmp_path):
    page = report.write_report(blank, [tmp_path / "none.mcap"], tmp_path)

    assert not page.exists()
    assert not list(tmp_path.iterdir())


def test_a_failed_report_never_takes_the_place_of_a_good_one(thin, blank, tmp_path):
    page = tmp_path / "a.report.html"
    good = report.collect_entries(thin)
    report._write(good, thin, page)
    before = page.read_bytes(), page.with_suffix(".json").read_bytes()

    report._write([*good, *blank], thin, page)

    assert (page.read_bytes(), page.with_suffix(".json").read_bytes()) == before


def test_a_link_in_the_place_of_a_report_is_replaced_and_not_followed(thin, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    page = tmp_path / "a.report.html"
    page.symlink_to(victim)

    report._write(report.collect_entries(thin), thin, page)

    assert victim.read_text() == "mine"
    assert not page.is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a.report.html", "a.report.json", "victim",
    ]  # fmt: skip


def test_a_report_is_named_by_its_episodes(tmp_path):
    one, two = tmp_path / "episode_000003.mcap", tmp_path / "episode_000004.mcap"

    assert report.find_report([one], tmp_path).name == "episode_000003.report.html"
    assert report.find_report([two], tmp_path).name == "episode_000004.report.html"
    both = report.find_report([one, two], tmp_path).name
    assert both == "episode_000003_and_1_more.report.html"


def test_the_report_of_a_folder_is_named_by_the_episode_in_it(tmp_path):
    (tmp_path / "episode_000007.mcap").touch()

    assert report.find_report([tmp_path], tmp_path).stem == "episode_000007.report"


def test_without_matplotlib_the_json_is_written_and_the_command_is_told(
    measured, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(
        sys.modules, "paprle_lab.evaluation.reporting.plots", raising=False
    )

    with pytest.raises(MissingDependency, match=r"pip install 'paprle\[report\]'"):
        report._write(
            report.collect_entries(measured), measured, tmp_path / "a.report.html"
        )

    assert (tmp_path / "a.report.json").is_file()
    assert not (tmp_path / "a.report.html").exists()


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


def test_only_the_same_source_on_the_same_robot_is_compared(make_episode):
    def make(**header):
        episode = make_episode(n=900)
        leader = header.pop("config", {})
        object.__setattr__(episode, "header", {**episode.header, **header})
        object.__setattr__(episode, "config", {**episode.config, "leader": leader})
        return measure_source(episode)

    mixed = [
        make(config={"path": "a.csv"}),
        make(config={"path": "b.csv"}),
        make(config={"path": "a.csv"}),
        make(config={"path": "a.csv"}, follower="other"),
        make(config={"path": "a.csv"}, leader="keyboard"),
    ]

    entries = report.collect_entries(mixed)

    assert [bool(entry["itv"]) for entry in entries] == [
        True,
        False,
        True,
        False,
        False,
    ]
    assert entries[0]["itv"]["n_trials"] == 2
    assert report.summary_text(entries).count("Inter-trial variability") == 1


def test_discarded_episodes_are_not_compared(make_episode):
    episodes = [make_episode(n=900) for _ in range(3)]
    object.__setattr__(episodes[1], "manifest", {"end_reason": "x", "discarded": True})

    entries = report.collect_entries([measure_source(one) for one in episodes])

    assert entries[0]["itv"]["n_trials"] == 2
    assert entries[1]["itv"] is None
    assert "discarded by the operator" in report.summary_text(entries)


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
    plots = report._load_drawing("plots")

    (thin,) = plots._thin(np.arange(100_000))

    assert len(thin) <= plots.MAX_POINTS


def test_episodes_of_the_same_name_are_told_apart():
    names = report._make_names([Path("a/episode_0.mcap"), Path("b/episode_0.mcap")])
    assert names == ["a/episode_0", "b/episode_0"]
    names = report._make_names([Path("a/episode_0.mcap"), Path("a/episode_1.mcap")])
    assert names == ["episode_0", "episode_1"]
