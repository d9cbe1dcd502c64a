"""The advisor: whom it asks, what it takes for an answer, and what was trained."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from retargeting import load_robot

pytest.importorskip("onnxruntime")

from paprle.advisors.learned.advisor import Learned
from paprle.advisors.learned.config import LearnedConfig
from paprle.contracts.errors import ConfigError, DeviceError
from paprle.contracts.images import CameraInfo, Frame
from paprle.contracts.urdf.link_poses import LinkPoses
from paprle.testing import AdvisorContract, ManualClock, make_session_view

PAPRAS = load_robot("papras_7dof").info
BLOCK = np.array([0.3, 0.1, 0.015, 0.0, 0.0, 0.0, 1.0])
TARGET = np.array([0.25, -0.14, 0.0, 0.0, 0.0, 0.0, 1.0])
HERE = {"block": BLOCK, "target": TARGET}
CAM = CameraInfo(
    width=4, height=2, fps=30.0, encoding="rgb8", K=np.eye(3), link="",
    T_link_cam=pin.SE3.Identity(),
)  # fmt: skip


class Judge:
    """A provider that says what it is told to, and keeps what it was shown."""

    says = np.diag([1.0, 0.5, 0.2, 0.1, 0.1, 0.1, 0.1])
    shown = None

    def __call__(self, seen):
        Judge.shown = seen
        if isinstance(self.says, Exception):
            raise self.says
        return self.says


def ask(advisor, clock, frames=(), **view):
    clock.advance(0.02)
    shown = make_session_view(PAPRAS, clock(), **({"objects": HERE} | view))
    return advisor.advise(shown, dict(frames))


class TestTrained(AdvisorContract):
    robot = PAPRAS

    def make_advisor(self, clock):
        return Learned(LearnedConfig(), PAPRAS, {}, clock)

    def test_goes_to_the_block_from_afar(self, advisor, clock):
        links = LinkPoses(PAPRAS)
        links.update(PAPRAS.home)
        T = links.place(PAPRAS.limbs[0].eef_link)
        via = T.rotation.T @ (BLOCK[:3] + [0, 0, 0.1] - T.translation)

        record = ask(advisor, clock)

        v = record["D"][:3, 0]
        assert v @ via / np.linalg.norm(v) / np.linalg.norm(via) > 0.8
        np.testing.assert_allclose(record["D"].T @ record["D"], np.eye(7), atol=1e-6)

    def test_takes_back_what_rests_on_nothing(self, advisor, clock):
        assert ask(advisor, clock)["valid"]
        assert not ask(advisor, clock, objects={"block": BLOCK})["valid"]
        assert not ask(advisor, clock, q=np.full(len(PAPRAS.home), np.nan))["valid"]


@pytest.fixture
def make_judged(clock, monkeypatch):
    opened = []

    def make(says, cameras=()):
        monkeypatch.setattr(Judge, "says", says)
        monkeypatch.setattr("paprle.advisors.learned.advisor.load_callable", _load)
        config = LearnedConfig(function="judge:Judge", cameras=cameras)
        advisor = Learned(config, PAPRAS, {"top": CAM}, clock)
        advisor.open()
        opened.append(advisor)
        return advisor

    yield make
    for advisor in opened:
        advisor.close()


def _load(name, key):
    assert (name, key) == ("judge:Judge", "advisors.learned.function")
    return Judge()


@pytest.fixture
def clock():
    return ManualClock()


@pytest.mark.parametrize(
    ("says", "words"),
    [
        (np.full((7, 7), np.nan), "ValueError: expected a covariance"),
        (np.eye(3), "shape"),
        ((np.eye(7), np.zeros(6)), "a mean of 7"),
        ("no matrix", "ValueError"),
        (RuntimeError("out of memory"), "RuntimeError: out of memory"),
    ],
)
def test_an_answer_that_cannot_be_used_is_counted_and_told_once(
    make_judged, clock, says, words
):
    advisor = make_judged(says)

    records = [ask(advisor, clock) for _ in range(3)]

    assert not any(record["valid"] for record in records)
    assert [int(record["n_refused"]) for record in records] == [1, 2, 3]
    (told,) = advisor.take_warnings()
    assert words in told


def test_the_difference_is_that_of_the_first_column_from_what_is_in_use(
    make_judged, clock
):
    advisor = make_judged(Judge.says)
    across, along = np.eye(7)[:, 1:2], np.eye(7)[:, :1]

    assert ask(advisor, clock, mappings={"arm": along})["difference"] == 0.0
    assert ask(advisor, clock, mappings={"arm": across})["difference"] == 0.5
    assert np.isnan(ask(advisor, clock)["difference"])


def test_a_provider_may_look_at_images_alone(make_judged, clock):
    advisor = make_judged(Judge.says, cameras=("top",))
    picture = np.arange(24, dtype=np.uint8)
    frame = Frame(clock(), picture.tobytes())

    blind = ask(advisor, clock, objects={})
    seen = ask(advisor, clock, {"top": frame}, objects={})
    broken = ask(advisor, clock, {"top": Frame(clock(), b"1")}, objects={})

    assert not blind["valid"]
    assert seen["valid"]
    np.testing.assert_array_equal(Judge.shown["top"], picture.reshape(2, 4, 3))
    assert not broken["valid"]
    assert broken["n_refused"] == 1


def test_a_provider_may_look_at_depth_and_at_what_each_pixel_shows(clock, monkeypatch):
    """AdaptiX's network: depth and one-hot segments of a camera at the hand."""
    cameras = {
        "deep": replace(CAM, depth_unit=0.001),
        "far": replace(CAM, encoding="depth16", depth_unit=0.01),
        "what": replace(CAM, encoding="ids16"),
    }
    monkeypatch.setattr("paprle.advisors.learned.advisor.load_callable", _load)
    config = LearnedConfig(function="judge:Judge", cameras=tuple(cameras))
    advisor = Learned(config, PAPRAS, cameras, clock)
    advisor.open()
    numbers = np.arange(8, dtype="<u2").tobytes()
    frames = {
        "deep": Frame(clock(), bytes(24), numbers),
        "far": Frame(clock(), numbers),
        "what": Frame(clock(), numbers),
    }

    record = ask(advisor, clock, frames)
    whole = dict(Judge.shown)
    broken = ask(advisor, clock, frames | {"what": Frame(clock(), numbers[:-1])})
    advisor.close()

    rows = np.arange(8).reshape(1, 2, 4)
    assert record["valid"]
    assert not broken["valid"]
    np.testing.assert_allclose(whole["deep.depth"], rows * 0.001, atol=1e-9)
    np.testing.assert_allclose(whole["far"], rows * 0.01, atol=1e-8)
    np.testing.assert_array_equal(whole["what"], rows)
    assert whole["deep"].shape == (2, 4, 3)


def test_missing_parts_are_refused_before_anything_moves(tmp_path, clock):
    with pytest.raises(ConfigError, match="expected a limb of the robot"):
        Learned(LearnedConfig(limb="third"), PAPRAS, {}, clock)
    with pytest.raises(ConfigError, match="expected cameras of the session"):
        Learned(LearnedConfig(cameras=("top",)), PAPRAS, {}, clock)
    config = LearnedConfig(path=str(tmp_path / "none.onnx"))
    with pytest.raises(DeviceError, match="expected an ONNX network in"):
        Learned(config, PAPRAS, {}, clock).open()
    with pytest.raises(ValueError, match="one of function"):
        LearnedConfig(path="a.onnx", function="a:b")
