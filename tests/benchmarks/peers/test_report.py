import math

import pytest

from benchmarks.peers.report import BEGIN, END, number, percent, write_into


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (1234.6, "1,235"), (0.04567, "0.0457"), (2.5e-7, "2e-07")],
)
def test_numbers_have_three_digits(value, text):
    assert number(value) == text


def test_missing_numbers_are_dashes():
    assert number(math.nan) == "–"
    assert percent(math.nan) == "–"


def test_only_all_of_them_is_a_hundred_percent():
    assert percent(1.0) == "100 %"
    assert percent(0.99999) == ">99.99 %"
    assert percent(0.9987) == "99.87 %"


def test_tables_are_put_between_the_markers(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")

    write_into(page, "new")

    assert page.read_text() == f"before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"


def test_a_page_without_markers_is_refused(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("nothing")

    with pytest.raises(ValueError, match="expected the markers"):
        write_into(page, "new")
