"""``paprle dataset edit`` as a user types it."""

import pytest
from foreign_sets import read_set, write_foreign

from paprle.cli.app import main


def edit(*words):
    return main(["dataset", "edit", *map(str, words)])


def test_a_set_is_edited_into_another_folder(tmp_path, capsys):
    root = write_foreign(tmp_path / "set", (10, 12, 14, 16))
    out = tmp_path / "out"
    words = ("--delete", "0,2", "--trim", "3", ":0.4", "--task-of", "1", "two words")
    assert edit(root, *words, "--out", out) == 0
    _, episodes, _ = read_set(out)
    assert [(one["length"], list(one["tasks"])) for one in episodes] == [
        (12, ["two words"]),
        (10, ["pick", "place"]),
    ]
    assert f"data set: {out}: 2 episodes, 22 frames" in capsys.readouterr().out


def test_an_edit_in_place_tells_the_way_back(tmp_path, capsys):
    root = write_foreign(tmp_path / "set", (10, 12))
    assert edit(root, "--delete", "1") == 0
    assert f"paprle dataset edit {root} --undo" in capsys.readouterr().out
    assert edit(root, "--undo") == 0
    assert len(read_set(root)[1]) == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "expected an edit"),
        (("--delete", "1-"), "--delete 0,3,7-9"),
        (("--delete", "3-1"), "count up"),
        (("--trim", "0", "3:1"), "BEGIN:END"),
        (("--trim", "0", "nan:1"), "a number for --trim"),
        (("--split", "a/b=0.5"), "NAME=PART"),
        (("--task", " "), "expected words"),
        (("--remove-feature", "nothing"), "no feature"),
    ],
)
def test_a_wrong_word_is_refused_with_a_remedy(tmp_path, capsys, words, told):
    root = write_foreign(tmp_path / "set", (10, 12))
    assert edit(root, *words) == 2
    assert told in capsys.readouterr().err


def test_a_folder_that_is_missing_is_named(tmp_path, capsys):
    assert edit(tmp_path / "nowhere", "--task", "x") == 2
    assert "nowhere" in capsys.readouterr().err
