"""The headline rows of docs/performance.md, held against the tables they come from."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/performance.md"
TABLES = ROOT / "docs/performance/peers.md"
N_HEADLINES = 6


def read_headlines():
    rows = PAGE.read_text().split("| | ours |")[1].split("\n\n")[0].splitlines()[2:]
    return {cells[1].strip(): cells[2:-1] for cells in (r.split("|") for r in rows)}


def test_there_are_six_headline_rows():
    assert len(read_headlines()) == N_HEADLINES


def test_every_headline_figure_stands_in_the_tables():
    tables = TABLES.read_text()
    known = set(re.findall(r"-?[\d.,]*\d", tables))

    strange = {
        title: figure
        for title, cells in read_headlines().items()
        for figure in re.findall(r"-?[\d.,]*\d", " ".join(cells))
        if figure not in known
    }

    assert strange == {}
