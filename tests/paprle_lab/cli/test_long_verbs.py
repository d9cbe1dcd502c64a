"""A verb that may take more than 2 s reports its step, and counts where it can."""

import shutil

import pytest
from filmed import write_episode

from paprle.cli import main
from paprle.contracts.kit.work import Work
from paprle.hosts.operator.slow_work import SlowWork
from paprle.recording.mcap.recover import recover
from paprle.recording.reader import Episode

MOTION = "time,x\n"


class Counted(Work):
    """Keeps what is reported."""

    def __init__(self):
        self.steps, self.counts = [], []

    def note(self, text):
        self.steps.append(text)

    def count(self, n_done, n_all, unit):
        assert 0 <= n_done <= n_all
        self.counts.append((n_done, n_all, unit))


@pytest.fixture
def reported(monkeypatch):
    """Texts that verbs begin and go on with."""
    texts = []
    begin, note = SlowWork.__init__, SlowWork.note

    def begin_noted(self, text):
        texts.append(text)
        begin(self, text)

    def note_noted(self, text):
        texts.append(text)
        note(self, text)

    monkeypatch.setattr(SlowWork, "__init__", begin_noted)
    monkeypatch.setattr(SlowWork, "note", note_noted)
    return texts


@pytest.fixture(scope="module")
def episode(tmp_path_factory):
    return write_episode(tmp_path_factory.mktemp("made"), 1.0, cameras=())


@pytest.mark.parametrize(
    ("words", "step"),
    [
        (["collision", "follower=piper"], "measuring distances"),
        (["new-robot", "arm.urdf", "--out", "OUT"], "reading the URDF"),
        (["run", "leader=autopilot", "follower=piper", "env=kinematic", "--dry-run"],
         "checking leader, robot and env, as a start would"),
        (["view", "."], "listing the recordings"),
        (["dataset", "check", ".", "--schema", "arbot"], "checking ."),
        (["repeat", "motion.csv", "--out", "OUT"], "reading the motion"),
        (["bench", "motion.csv", "--out", "OUT"], "reading the motions"),
        (["accept", "leader=autopilot", "follower=piper", "env=kinematic", "--yes",
          "--only", "doctor", "--out", "."], "reading leader, robot and env"),
        (["recover", "nothing.mcap"], "saving what is readable"),
        (["export", "nothing.mcap", "out.csv"], "reading the episode"),
    ],
)  # fmt: skip
def test_a_long_verb_reports_its_step(words, step, reported, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "motion.csv").write_text(MOTION)

    main(words)

    assert step in reported


def test_reading_an_episode_counts_to_its_end(episode):
    work = Counted()
    Episode.open(episode, work)

    done, size, unit = work.counts[-1]
    assert unit == "MB"
    assert size == pytest.approx(episode.stat().st_size * 1e-6)
    assert 0.0 < done <= size
    assert work.counts == sorted(work.counts)


def test_recovery_counts_what_it_reads_and_writes(episode, tmp_path):
    shutil.copy(episode, tmp_path / "broken.mcap")
    work = Counted()
    recover(tmp_path / "broken.mcap", tmp_path / "saved.mcap", work)

    assert work.steps == ["reading what is whole", "writing what is whole"]
    assert len({done for done, *_ in work.counts}) > 2
