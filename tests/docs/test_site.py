"""The site builds without a warning; its first hours name verbs that there are."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pages
import pytest
import yaml

from paprle.cli.app import find_verb
from paprle.config import resolve

ROOT = Path(__file__).resolve().parents[2]
STARTS = sorted((ROOT / "docs/start").glob("*.md"))
PEERS = sorted((ROOT / "docs/from").glob("*.md"))
README = ROOT / "README.md"
REFERENCE = [
    ROOT / f"docs/{name}.md" for name in ("supported", "commands", "comparison")
]
LINKED = [*STARTS, *PEERS, README, *REFERENCE]
FORMS = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*-*.yml"))


def list_commands(page):
    """What follows ``paprle`` in the text of a page, and in its blocks."""
    told = re.findall(
        r"`paprle ([^`]+)`|^ {4,}paprle ([^#\n]+)", page.read_text(), re.M
    )
    return [inline or block.strip() for inline, block in told]


@pytest.mark.nightly
def test_the_site_builds_without_a_warning(tmp_path):
    if find_spec("sphinx") is None:
        pytest.skip("no Sphinx: pip install 'paprle[docs]'")
    words = ["-W", "--keep-going", "-q", "-b", "html", "-c", "docs/site"]

    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *words, ".", str(tmp_path / "html")],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr[-3000:]
    page = (tmp_path / "html/docs/api/contracts.html").read_text()
    assert "paprle.contracts.plugins.Leader" in page


def test_every_page_stands_in_the_index_or_is_found_by_its_pattern():
    """A page that does not is a warning of the build, which not every machine makes."""
    index = (ROOT / "docs/index.md").read_text()
    named = set(re.findall(r"(?:^|<)([\w./*]+)>?$", index, re.MULTILINE))
    api = set(re.findall(r"^(\w+)$", (ROOT / "docs/api/index.md").read_text(), re.M))

    pages = {path.stem for path in (ROOT / "docs").glob("*.md")} - {"index"}
    own = {path.stem for path in (ROOT / "docs/api").glob("*.md")} - {"index"}

    assert pages <= named, pages - named
    assert {f"start/{page.stem}" for page in STARTS} <= named
    assert {f"from/{page.stem}" for page in PEERS} <= named
    assert own <= api, own - api


@pytest.mark.parametrize("page", [*STARTS, *PEERS], ids=lambda p: p.stem)
def test_verbs_of_a_page_are_there(page):
    verbs = [code.split()[0] for code in list_commands(page)]

    for verb in verbs:
        assert find_verb(verb).name == verb


@pytest.mark.parametrize("page", LINKED, ids=lambda p: p.stem)
def test_links_of_a_page_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#]+)", page.read_text())

    assert links
    assert all((page.parent / link).resolve().is_file() for link in links)


def test_the_readme_is_short_and_says_early_what_was_not_tried():
    text = README.read_text()

    assert len(text.split()) <= 900
    assert len(text[: text.index("Not yet tried on hardware")].split()) < 100


def test_settings_of_the_pages_are_understood(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(pages.install("adding_a_leader", tmp_path)))
    found = 0
    for page in [*STARTS, *PEERS]:
        for code in list_commands(page):
            if code.split()[0] != "run":
                continue
            words = [word for word in code.split() if "=" in word]
            if any(own in code for own in ("…", "./", "my_")):
                continue
            assert resolve(words).to_dict()
            found += 1
    assert found >= 8


@pytest.mark.parametrize("form", FORMS, ids=lambda p: p.stem)
def test_a_form_is_one(form):
    tree = yaml.safe_load(form.read_text())

    assert {"name", "description", "labels", "body"} == set(tree)
    ids = [part["id"] for part in tree["body"] if part["type"] != "markdown"]
    assert len(set(ids)) == len(ids) > 0
    for part in tree["body"]:
        kinds = {"textarea", "input", "dropdown", "checkboxes", "markdown"}
        assert part["type"] in kinds
        assert part["attributes"].get("label") or part["attributes"].get("value")
