"""A study as an experimenter runs it, from the plan to the tables."""

from __future__ import annotations

import csv
import io
import json
import re
import stat
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import yaml
from cells import spread
from studies import PLAN, answer_all

from paprle.cli import main
from paprle.config import resolve
from paprle_lab.study.answer_log import Book
from paprle_lab.study.plan import make_plan, open_study
from paprle_lab.study.runner import StudyDialogue, lead


def run(monkeypatch, answers, *words):
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{a}\n" for a in answers)))
    return main(["study", *map(str, words)])


@pytest.fixture
def n(request):
    return getattr(request, "param", 12)


@pytest.fixture
def planned(tmp_path, capsys, n):
    plan = tmp_path / "study.yaml"
    plan.write_text(PLAN.replace("participants: 12", f"participants: {n}"))
    assert main(["study", "plan", str(plan), "--out", str(tmp_path / "S")]) == 0
    capsys.readouterr()
    return tmp_path / "S"


def read_orders(folder):
    return json.loads((folder / "study.json").read_text())["orders"]


def read_table(path):
    return list(csv.DictReader(path.read_text().splitlines()))


@pytest.mark.long
@pytest.mark.parametrize("n", spread([2, 12], 2), indirect=True)
def test_simulated_participants_go_from_plan_to_table(
    planned, tmp_path, monkeypatch, capsys, n
):
    orders = read_orders(planned)
    assert sorted(map(tuple, orders.values())) == (
        [("fast", "slow")] * (n // 2) + [("slow", "fast")] * (n // 2)
    )
    for k, (participant, order) in enumerate(orders.items()):
        answers = answer_all(order, k)
        assert run(monkeypatch, answers, "run", planned, participant) == 0
    capsys.readouterr()

    out = tmp_path / "tables"
    assert main(["study", "export", str(planned), "--out", str(out)]) == 0

    told = capsys.readouterr().out
    assert f"sus slow: 55.0 ± 0.0 (n = {n})" in told
    assert f"sus fast: 100.0 ± 0.0 (n = {n})" in told
    assert f"tlx slow: 35.8 ± 0.0 (n = {n})" in told
    assert f"tlx fast: 2.5 ± 0.0 (n = {n})" in told
    assert "Cronbach's α 1.00" in told
    assert f"ar of the study: 4.0{' ± 0.0' if n > 2 else ''} (n = {n - 1})" in told
    preferred = [line for line in told.splitlines() if line.startswith("preferred")]
    assert sum(int(line.split()[-1]) for line in preferred) == n
    sessions = read_table(out / "sessions.csv")
    assert len(sessions) == 2 * n
    assert all(float(row["rmse_mm"]) > 0.0 for row in sessions)
    seconds = {
        condition: np.mean(
            [float(r["seconds"]) for r in sessions if r["condition"] == condition]
        )
        for condition in ("slow", "fast")
    }
    assert seconds["slow"] > 1.5 * seconds["fast"]
    answers = read_table(out / "answers.csv")
    assert len(answers) == n * (2 + 2 * 19 + 1)
    assert [row["answer"] for row in answers].count("NA") == 1
    for name in ("answers", "scores", "sessions"):
        parquet = pq.read_table(out / f"{name}.parquet")
        assert parquet.num_rows == len(read_table(out / f"{name}.csv"))
    assert main(["evaluate", str(out), "--out", str(tmp_path / "report")]) == 0
    assert f"{2 * n} human trials" in capsys.readouterr().out


def test_a_plan_is_dealt_the_same_by_its_seed(planned, tmp_path):
    (tmp_path / "again.yaml").write_text(PLAN)
    other = tmp_path / "T"

    assert (
        main(["study", "plan", str(tmp_path / "again.yaml"), "--out", str(other)]) == 0
    )

    assert read_orders(other) == read_orders(planned)
    assert stat.S_IMODE(planned.stat().st_mode) == 0o700
    assert (
        main(["study", "plan", str(tmp_path / "again.yaml"), "--out", str(other)]) == 2
    )


@pytest.mark.long
def test_a_study_that_was_interrupted_goes_on(planned, monkeypatch, capsys):
    participant, order = next(iter(read_orders(planned).items()))
    answers = list(answer_all(order, 1))

    assert run(monkeypatch, answers[:5], "run", planned, participant) == 1
    err = capsys.readouterr().err
    assert "no answer came; complete answers are kept" in err
    # the two of `experience` are kept, as is the session; of TLX three were answered
    assert (
        run(monkeypatch, ["52", "many", *answers[2:]], "run", planned, participant) == 0
    )

    told = capsys.readouterr().out
    assert "expected 0 very low … 100 very high, in steps of 5, got '52'" in told
    assert "got 'many'" in told
    assert "recorded:" in told
    assert told.count("recorded:") == 1  # the second condition's alone
    assert main(["study", "status", str(planned)]) == 0
    assert f"{participant}   10 of 10" in capsys.readouterr().out


def test_a_preference_is_a_condition_whatever_is_typed(planned):
    participant, order = next(iter(read_orders(planned).items()))
    book = Book(open_study(planned), participant)
    *others, last = book.study.list_steps(participant)
    for step in others:
        book.note(step, {"answers": {}})
    typed = ["", "0", "3", "1.0", "²", "9" * 5000, "-1", "=1+1", order[1].upper(), "2"]
    said, waiting = [], iter(typed)

    assert lead(book, StudyDialogue(said.append, lambda _: next(waiting))) == 0

    assert sum(line.startswith("expected 1 … 2, got") for line in said) == 9
    kept = json.loads(book.find(last).read_text())
    assert kept["answers"] == {"preference": order[1]}


def test_a_wrong_participant_is_refused(planned, capsys):
    assert main(["study", "run", str(planned), "0000"]) == 2

    assert "unknown participant '0000'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("participants: 12", "participants: 0"), "participants: Input should be"),
        (("sus, ease]", "sus, easy]"), "after_condition: expected some of ease, exp"),
        (("[e1, e2, e3]", "[e1, e9]"), "questionnaires.ease: 'e9' is none of its"),
        (("seed: 7", "sede: 7"), "sede: Unexpected keyword argument"),
        (("  slow:", "  'slow/..':"), "'slow/..': expected letters, digits"),
    ],
)
def test_mistakes_of_a_plan_are_told(tmp_path, capsys, change, told):
    plan = tmp_path / "study.yaml"
    plan.write_text(PLAN.replace(*change))

    assert main(["study", "plan", str(plan), "--out", str(tmp_path / "S")]) == 2

    assert told in capsys.readouterr().err
    assert not (tmp_path / "S").exists()


@pytest.mark.parametrize("value", [900, 3.5, "many", True])
def test_invalid_answers_are_reported_and_not_scored(planned, tmp_path, capsys, value):
    participant = next(iter(read_orders(planned)))
    answers = {"games": value, "ar": 2}
    spoiled = planned / "participants" / participant / "before_experience.json"
    spoiled.parent.mkdir(parents=True)
    spoiled.write_text(json.dumps({"answers": answers}))

    assert main(["study", "export", str(planned), "--out", str(tmp_path / "T")]) == 1

    assert f"{spoiled}: expected a step of the plan" in capsys.readouterr().err


def test_a_folder_without_a_study_says_how_to_make_one(tmp_path, capsys):
    assert main(["study", "status", str(tmp_path)]) == 2

    assert "make one: paprle study plan" in capsys.readouterr().err


def test_a_plan_of_uneven_rounds_is_told(tmp_path, capsys):
    plan = tmp_path / "study.yaml"
    plan.write_text(PLAN.replace("participants: 12", "participants: 11"))

    assert main(["study", "plan", str(plan), "--out", str(tmp_path / "S")]) == 0

    assert "11 participants are not balanced over 2" in capsys.readouterr().out


def test_the_plan_of_the_page_is_understood():
    page = (Path(__file__).resolve().parents[3] / "docs/studies.md").read_text()
    tree = yaml.safe_load(re.search(r"```yaml\n(.*?)```", page, re.DOTALL)[1])

    plan = make_plan(tree, Path("page"))

    for condition in plan.conditions.values():
        for task in plan.tasks.values():
            assert resolve([*plan.common, *condition, *task]).to_dict()
