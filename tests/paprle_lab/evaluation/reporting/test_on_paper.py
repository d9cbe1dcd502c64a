"""A report prints one page for each episode, by a real browser."""

import re
import subprocess

import pytest
from browser import find_browser
from filmed import write_episode

from paprle_lab.evaluation.reporting.report import evaluate, find_report

pytestmark = [pytest.mark.long, pytest.mark.process]
_PAGE = re.compile(rb"/Type\s*/Page\b")  # spec: ISO 32000-1, 7.7.3.3


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("printed")
    for _ in range(2):
        write_episode(folder, 2.0, cameras=("front",))
    return folder


def count_sheets(html, folder, size):
    """Print a page on paper of a size; return the number of sheets."""
    page, sheet = folder / "page.html", folder / "page.pdf"
    page.write_text(html.replace("</style>", f"@page {{ size: {size}; }}</style>", 1))
    subprocess.run(
        [find_browser(), "--headless", "--no-sandbox", "--disable-gpu",
         f"--user-data-dir={folder / 'profile'}", "--no-pdf-header-footer",
         f"--print-to-pdf={sheet}", page.as_uri()],
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    return len(_PAGE.findall(sheet.read_bytes()))


@pytest.mark.parametrize("size", ["A4", "letter"])
def test_the_report_of_an_episode_prints_on_one_sheet(folder, tmp_path, size):
    paths = [folder / "episode_000000.mcap"]
    evaluate(paths, folder)
    html = find_report(paths, folder).read_text()

    assert "Moments to look at" in html
    assert count_sheets(html, tmp_path, size) == 1
    screen = html.replace("@media print", "@media none")
    assert count_sheets(screen, tmp_path, size) > 1, "this count sees sheets"


@pytest.mark.nightly
def test_the_report_of_several_prints_the_comparison_and_a_sheet_for_each(
    folder, tmp_path
):
    paths = sorted(folder.glob("*.mcap"))
    evaluate(paths, folder)

    assert count_sheets(find_report(paths, folder).read_text(), tmp_path, "A4") == 3
