"""The measures of the pages' looks find what is wrong, and nothing else."""

from __future__ import annotations

import pytest
from browser import open_browser
from page_judge import find_covered, judge_page

pytestmark = [pytest.mark.process, pytest.mark.long, pytest.mark.timeout(120)]

HEAD = (
    "<style>body { margin: 0; font: 16px sans-serif; background: #fff; color: #222 }"
    "button, a { display: inline-block; width: 60px; height: 50px } {} </style>"
)
FAULTS = {
    "overlap": ("#b { margin-left: -9px }", "px in common"),
    "low": ("#a { height: 40px }", "'a': 40 px high"),
    "narrow": ("#a { width: 30px; padding: 0 }", "'a': 30 px wide"),
    "narrow link": ("a { width: 30px }", "A 'link': 30 px wide"),
    "clickable picture": ("img { width: 20px !important }", "IMG 'pic': 20 px wide"),
    "faint": ("p { opacity: 0.4 }", "P 'text': contrast"),
    "faint around": ("div { opacity: 0.4 }", "P 'text': contrast"),
    "faint colour": ("p { color: #2226 }", "P 'text': contrast"),
    "faint field": ("input::placeholder { color: #bbb }", "INPUT 'field': contrast"),
    "cut at the side": ("p { width: 9px; overflow: hidden }", "P 'text': text is"),
    "cut below": ("p { height: 9px; overflow: hidden }", "P 'text': text is clipped"),
    "cut by another": ("div { height: 9px; overflow: hidden }", "text is clipped"),
    "too wide": ("p { width: 700px }", "the page is 700 px wide in 390 px"),
}
BODY = """
<button id="a">one</button><button id="b">two</button><a href="#x">link</a>
<img id="pic" alt="" style="width: 60px; height: 50px">
<div><p>text</p></div>
<input id="field" placeholder="words" style="width: 90px; height: 50px">
<script>document.getElementById("pic").onclick = () => {};</script>
"""


@pytest.fixture(scope="module")
def page():
    with open_browser(390, 600) as browser:
        yield browser.page


def show(page, rule=""):
    page.set_content(HEAD.replace("{}", rule) + BODY)


def test_a_sound_page_passes(page):
    show(page)

    assert judge_page(page, is_touch=True) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(page, fault):
    rule, told = FAULTS[fault]
    show(page, rule)

    found = judge_page(page, is_touch=True)

    assert any(told in one for one in found), found


@pytest.mark.parametrize(
    ("rule", "missed"),
    [
        ("", 0),
        ("#b { margin-left: -30px }", 1),
        ("#b { position: fixed; top: 580px }", 1),
        ("#a, #b { display: none }", 1),
    ],
)
def test_each_of_several_elements_has_to_be_seen_whole(page, rule, missed):
    show(page, rule)

    assert len(find_covered(page, ["button"])) == missed
