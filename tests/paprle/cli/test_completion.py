"""Shells complete verbs, keys and values; bash is asked as it asks at Tab."""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys

import pytest

from paprle.cli import completion, completion_words, main
from paprle.cli.completion_words import complete


@pytest.fixture(scope="module")
def index():
    return json.loads(json.dumps(completion.make_index()))


@pytest.fixture
def cache(tmp_path, monkeypatch, index):
    """A cache folder with an index in it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path = completion_words.find_index()
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(index))
    return tmp_path


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["ru"], {"run"}),
        (["run", "lea"], {"leader="}),
        (["run", "leader=off"], {"leader=offline"}),
        (["run", "follower=piper_"], {"follower=piper_2arm"}),
        (["run", "env=muj"], {"env=mujoco"}),
        (["run", "session.ra"], {"session.rate="}),
        (["run", "leader=offline", "leader.pa"], {"leader.path=", "leader.paths="}),
        (["run", "leader=arpose", "leader.por"], {"leader.port="}),
        (["run", "session.status=t"], {"session.status=true"}),
        (["run", "--dr"], {"--dry-run"}),
        (["completion", "z"], {"zsh"}),
        (["evaluate", "OUT/epi"], set()),
        (["nonsense", ""], set()),
    ],
)
@pytest.mark.usefixtures("cache")
def test_the_words_that_may_follow(words, found):
    assert set(complete(words)) == found


@pytest.mark.usefixtures("cache")
def test_a_yaml_of_the_users_own_is_found_at_once(tmp_path, index):
    (tmp_path / "own/leader").mkdir(parents=True)
    (tmp_path / "own/leader/my_rig.yaml").write_text("type: offline\n")
    folders = [*index["folders"], str(tmp_path / "own")]
    path = completion_words.find_index()
    path.write_text(json.dumps(index | {"folders": folders}))

    assert complete(["run", "leader=my_"]) == ["leader=my_rig"]


def test_without_an_index_one_is_made_beside(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    started = []
    monkeypatch.setattr(
        completion_words.subprocess, "Popen", lambda words, **_: started.append(words)
    )

    assert complete(["ru"]) == []
    assert started == [[sys.executable, "-c", completion_words._MAKE_INDEX]]


def test_the_folder_of_the_prompt_is_nothing_to_import_from(tmp_path):
    (tmp_path / "json.py").write_text("print('read')")
    before = completion_words._MAKE_INDEX.partition("from paprle")[0]
    code = f"{before}import json"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert done.stdout == ""


@pytest.mark.usefixtures("cache")
def test_a_file_whose_name_a_shell_could_run_is_left_out(tmp_path, index):
    (tmp_path / "own/leader").mkdir(parents=True)
    (tmp_path / "own/leader/my_$(reboot).yaml").write_text("type: offline\n")
    path = completion_words.find_index()
    path.write_text(json.dumps(index | {"folders": [str(tmp_path / "own")]}))

    assert complete(["run", "leader=my_"]) == []


@pytest.mark.parametrize("shell", sorted(completion.SCRIPTS))
@pytest.mark.usefixtures("cache")
def test_a_script_is_one_that_its_shell_can_read(shell, capsys, monkeypatch):
    monkeypatch.setattr(completion, "write_index", lambda: None)

    assert main(["completion", shell]) == 0

    script = capsys.readouterr().out
    assert "paprle __complete" in script
    if shutil.which(shell):
        subprocess.run([shell, "-n", "-c", script], check=True)


@pytest.mark.long
@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("paprle ru", ["run"]),
        ("paprle run leader=off", ["offline"]),  # after =, which parts words of bash
        ("paprle run leader=offline session.ra", ["session.rate="]),
    ],
)
@pytest.mark.usefixtures("cache")
def test_bash_completes_a_line(line, found):
    script = f"""
    paprle() {{ "{sys.executable}" -m paprle "$@"; }}
    compopt() {{ :; }}
    COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:'
    {completion.SCRIPTS["bash"]}
    COMP_LINE="{line}" COMP_POINT={len(line)}
    [[ $(complete -p paprle) == *"-F _paprle"* ]] && _paprle
    printf '%s\\n' "${{COMPREPLY[@]}}"
    """

    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, check=False
    )

    assert done.stdout.split() == found, done.stderr


@pytest.mark.timed
@pytest.mark.usefixtures("cache")
def test_an_answer_takes_less_than_three_tenths_of_a_second():
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "paprle", "__complete", "run", "leader=a"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)

    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert "leader=autopilot" in done.stdout
    assert spent < 0.3  # of the processor's time: others may run beside it
