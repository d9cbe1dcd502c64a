"""Every relative link of every page leads to a file, and to a heading of it."""

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.lint
ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
ELSEWHERE = re.compile(r"[a-z]+:")


def find_pages():
    """Pages of the repository; of the folder where there is no repository."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.md"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listed.returncode == 0:
        paths = [ROOT / name for name in listed.stdout.splitlines()]
    else:
        paths = [p for p in ROOT.rglob("*.md") if "/." not in str(p)]
    return sorted(path for path in paths if path.is_file())


@cache
def find_anchors(page):
    """Return the anchors a reader's browser makes of a page's headings."""
    text = FENCE.sub("", page.read_text())
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    kept = (re.sub(r"[^\w\- ]", "", title.strip().lower()) for title in titles)
    return {title.replace(" ", "-") for title in kept}


def leads_somewhere(page, link):
    """Tell whether a relative link of a page meets a file, and a heading of it."""
    name, _, anchor = link.partition("#")
    target = (page.parent / name).resolve() if name else page
    if not anchor or not target.exists():
        return target.exists()
    return target.suffix == ".md" and anchor in find_anchors(target)


def find_broken_links(page):
    """Return the relative links of a page that lead nowhere."""
    links = LINK.findall(FENCE.sub("", page.read_text()))
    relative = (link for link in links if not ELSEWHERE.match(link))
    return [link for link in relative if not leads_somewhere(page, link)]


def test_every_relative_link_of_a_page_resolves():
    broken = {
        str(page.relative_to(ROOT)): find_broken_links(page) for page in find_pages()
    }

    assert {page: links for page, links in broken.items() if links} == {}


@pytest.mark.parametrize(
    "link", ["missing.md", "other.md#no-such-heading", "#nowhere", "folder/#heading"]
)
def test_a_broken_link_is_found(tmp_path, link):
    (tmp_path / "folder").mkdir()
    (tmp_path / "other.md").write_text("# A heading\n")
    page = tmp_path / "page.md"
    page.write_text(f"# Page\n\n[text]({link})\n")

    assert find_broken_links(page) == [link]


@pytest.mark.parametrize(
    "link",
    ["other.md", "other.md#a-heading-its-code", "#page", "folder", "https://x.y"],
)
def test_a_good_link_is_let_pass(tmp_path, link):
    (tmp_path / "folder").mkdir()
    (tmp_path / "other.md").write_text("# A heading, its `code`\n")
    page = tmp_path / "page.md"
    page.write_text(f"# Page\n\n[text]({link})\n")

    assert find_broken_links(page) == []
