"""The whole way with scripted arms: settings, files and each way out."""

import pytest
from scripted_rig import Person, ScriptedSearch, make_arm

from paprle.cli import main
from paprle.config.folders import Folder
from paprle.contracts.errors import MissingDependency
from paprle_lab.quickstart import calibrating, ports, recording, roles, site, steps
from paprle_lab.quickstart.dialogue import Quit
from paprle_lab.quickstart.motion_watch import Moved
from paprle_lab.quickstart.steps import Plan, go

A, B = "/dev/a", "/dev/b"
ANSWERS = ["", "", "wave", ""]  # cameras, phone, task, start


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """Two arms, of which B leads; a session that records ``bench.n`` episodes."""
    return Bench(tmp_path, monkeypatch)


class Bench:
    def __init__(self, folder, monkeypatch):
        self.folder, self.n, self.code, self.words = folder, 3, 0, None
        (folder / "leaders").mkdir()
        (folder / "followers").mkdir()
        search = ScriptedSearch(make_arm(A), make_arm(B), folder=folder)
        places = {
            steps: {
                "find_search": lambda: search,
                "find_cameras": list,
                "compiling_beside": lambda _: _Beside(self),
                "record": self.record,
                "make_lerobot": self.make,
            },
            ports: {"list_emulated_ports": list},
            calibrating: {"_diagnose": lambda *_: [(True, "well")]},
            site: {"find_site": lambda: Folder(folder / "site", "site")},
        }
        for module, values in places.items():
            for name, value in values.items():
                monkeypatch.setattr(module, name, value)
        monkeypatch.setattr(roles.find_roles, "__defaults__", (self.watch,))
        self.is_compiling, self.data = False, None

    def watch(self, *_):
        return Moved(B)

    def record(self, words):
        self.words = words
        place = self.folder / "out" / recording.RECORDINGS
        place.mkdir(parents=True)
        for k in range(self.n):
            (place / f"episode_{k:06d}.mcap").touch()
        return self.code

    def make(self, recordings, data):
        self.data = (recordings, data)
        return 0

    def go(self, *answers):
        self.person = Person(*answers)
        words = ("session.reduced=true",)
        plan = Plan(out=self.folder / "out", n_episodes=3, settings=words)
        return go(plan, self.person)


class _Beside:
    def __init__(self, bench):
        self.bench = bench

    def __enter__(self):
        self.bench.is_compiling = True
        return lambda: None

    def __exit__(self, *_):
        self.bench.is_compiling = False


def test_a_whole_run_records_and_writes_a_data_set(bench):
    assert bench.go(*ANSWERS) == 0

    out = bench.folder / "out"
    assert bench.data == (out / "recordings", out / "dataset")
    assert bench.words[-4:] == [
        "session.episodes=3", f"record.dir={out / 'recordings'}", "record.task=wave",
        "session.reduced=true",
    ]  # fmt: skip
    assert "paprle run leader=so101 leader.limbs.arm.port=/dev/b" in bench.person.text
    assert "lerobot-train --dataset.repo_id=local/so101" in bench.person.text


def test_the_second_time_asks_to_confirm_alone(bench):
    bench.go(*ANSWERS)
    (bench.folder / "out").rename(bench.folder / "first")
    bench.watch = None

    assert bench.go("y", *ANSWERS) == 0
    assert f"As the last time: leader {B}, follower {A}?" in bench.person.text


def test_files_are_written_at_the_stated_places_alone(bench):
    before = set(bench.folder.rglob("*"))

    bench.go(*ANSWERS)

    written = {
        path.relative_to(bench.folder).parts[0]
        for path in set(bench.folder.rglob("*")) - before
    }
    assert written == {"site", "out"}


def test_ctrl_c_in_the_session_keeps_the_episodes_and_names_the_next_command(bench):
    bench.n, bench.code = 2, 130

    assert bench.go(*ANSWERS) == 130
    assert bench.data is None
    assert "2 episode(s) are in" in bench.person.text
    assert "paprle dataset create" in bench.person.text


def test_without_an_episode_there_is_no_data_set(bench):
    bench.n, bench.code = 0, 2

    assert bench.go(*ANSWERS) == 2
    assert bench.data is None
    assert "no episode was recorded" in bench.person.text


@pytest.mark.parametrize("end", [Quit, KeyboardInterrupt])
@pytest.mark.parametrize("question", range(len(ANSWERS)))
def test_leaving_at_any_question_starts_nothing(bench, end, question):
    with pytest.raises(end):
        bench.go(*ANSWERS[:question], end)

    assert bench.words is None
    assert not bench.is_compiling
    assert not (bench.folder / "out").exists()


def test_a_fault_of_the_session_is_the_exit_code_beside_a_data_set(bench):
    bench.n, bench.code = 1, 3

    assert bench.go(*ANSWERS) == 3
    assert bench.data is not None


def test_missing_packages_are_named_with_the_command(monkeypatch):
    monkeypatch.setattr(
        steps, "find_spec", lambda name: None if name == "scservo_sdk" else name
    )

    with pytest.raises(MissingDependency, match="got none of scservo_sdk; run: uvx"):
        steps.check_packages()


def test_a_wrong_number_of_episodes_is_refused(capsys):
    assert main(["so101", "--episodes", "0"]) == 2
    assert "--episodes: expected 1 … 1000, got 0" in capsys.readouterr().err
