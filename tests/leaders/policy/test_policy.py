"""A policy as a leader, asked on a manual clock."""

import json
import socket
import threading
import time

import numpy as np
import pytest
from lock_step import load_piper

from paprle.contracts.errors import DeviceError
from paprle.contracts.images import Frame
from paprle.contracts.observing_leader import Sight, Window
from paprle.contracts.settings.camera import CameraSettings
from paprle.contracts.types import SessionState
from paprle.leaders.policy.config import PolicyConfig
from paprle.leaders.policy.leader import Policy
from paprle.leaders.policy.load import load_policy
from paprle.leaders.policy.remote import RemotePolicy
from paprle.testing import AutomaticLeaderContract, ManualClock, make_feedback
from paprle.testing.views import make_session_view

FPS = 50.0
N = 7
STEP = 0.005
ENGAGED = make_feedback(SessionState.ENGAGED)


def stay(observation):
    return observation["observation.state"]


class Stage:
    """A session that stands at home, and a policy in it."""

    def __init__(self, robot, policy, clock=None, waits=True, cameras=(), **settings):
        self.clock = clock or ManualClock()
        config = PolicyConfig(function="any:one", fps=FPS, **settings)
        self.leader = Policy(config, self.clock)
        self.robot, self.fields, self.frames = robot, {}, {}
        self.leader.meet(robot)
        self.leader.watch(Window(self.look, dict(cameras), (), waits))
        self.leader.use(policy)

    def look(self):
        view = make_session_view(self.robot, self.clock(), **self.fields)
        return Sight(view, self.frames)

    def run(self, seconds):
        samples = []
        for _ in range(round(seconds / STEP)):
            self.clock.advance(STEP)
            samples.append(self.leader.latest())
        return samples


@pytest.fixture(scope="module")
def robot():
    return load_piper().info


@pytest.fixture
def stage(robot):
    def make(policy, **settings):
        stage = Stage(robot, policy, **settings)
        stage.leader.open()
        made.append(stage.leader)
        return stage

    made = []
    yield make
    for leader in made:
        leader.close()


class TestJoints(AutomaticLeaderContract):
    action = "joints"

    @pytest.fixture(autouse=True)
    def _know(self, robot):
        self.robot = robot

    def make_leader(self, clock):
        settings = {"action": self.action, "duration": 0.5, "episodes": 2}
        policy = stay if self.action == "joints" else stay_there
        return Stage(self.robot, policy, clock, **settings).leader


def stay_there(observation):
    return [*observation["observation.ee_pose"], observation["observation.state"][-1]]


class TestPoses(TestJoints):
    action = "ee_pose"


@pytest.mark.parametrize("action", ["ee_pose", "joints"])
def test_before_it_drives_it_says_where_its_first_chunk_would_lead(stage, action):
    def advance(observation):
        if action == "joints":
            return np.tile(observation["observation.state"], (3, 1))
        row = np.array(stay_there(observation))
        return np.array([row + [0.01 * k, *np.zeros(len(row) - 1)] for k in range(3)])

    scene = stage(advance, action=action)
    sample = scene.run(0.2)[-1]

    (limb,) = sample.limbs.values()
    if action == "joints":
        assert limb.ahead is None
        assert scene.leader.info.n_ahead == 0
        return
    here = limb.T_leader_base_leader_eef.translation
    assert limb.ahead[:, 0] == pytest.approx(np.arange(3) / FPS)
    ways = limb.ahead[:, 1:4] - here
    np.testing.assert_allclose(ways[:, 0], [0.0, 0.01, 0.02], atol=1e-6)
    np.testing.assert_allclose(ways[:, 1:], 0.0, atol=1e-6)
    assert len(limb.ahead) <= scene.leader.info.n_ahead
    scene.leader.apply(ENGAGED)
    assert next(iter(scene.run(0.2)[-1].limbs.values())).ahead is None


@pytest.mark.parametrize("n", [1, 4])
def test_actions_are_given_one_a_frame_and_a_new_chunk_after_half_of_them(stage, n):
    asked = []

    def count(observation):
        asked.append(observation)
        return np.arange(n)[:, None] + 10.0 * len(asked) + np.zeros(N)

    scene = stage(count)
    scene.run(0.1)
    scene.leader.apply(ENGAGED)
    samples = scene.run(0.2)

    first = len(asked) - (10 if n == 1 else 5)
    given = [s.limbs["arm"].q[0] for s in samples[::4]]
    chunks = np.arange(first, len(asked)) + 1
    rows = chunks if n == 1 else (chunks[:, None] + [0.0, 0.1]).ravel()
    assert np.rad2deg(given) == pytest.approx(10.0 * rows, rel=1e-6)
    stamps = np.diff(sorted({s.stamp_ns for s in samples}))
    assert stamps == pytest.approx(1e9 / FPS, abs=1)


BAD = {
    "nan": (np.full(N, np.nan), "malformed"),
    "too_few": (np.zeros(N - 1), "malformed"),
    "too_many_rows": (np.zeros((1001, N)), "malformed"),
    "no_rows": (np.zeros((0, N)), "malformed"),
    "text": ("left", "malformed"),
    "ragged": ([[1.0], [1.0, 2.0]], "malformed"),
    "raises": (KeyError("observation.images.front"), "failed"),
}


@pytest.mark.parametrize(("bad", "reason"), BAD.values(), ids=BAD)
def test_an_invalid_action_is_refused_and_ends_the_policy(stage, bad, reason):
    answers = [stay]

    def answer(observation):
        given = answers[-1]
        if isinstance(given, Exception):
            raise given
        return given(observation) if callable(given) else given

    scene = stage(answer)
    scene.run(0.1)
    scene.leader.apply(ENGAGED)
    assert scene.run(0.1)[-1].valid

    answers.append(bad)
    samples = scene.run(0.6)

    is_valid = np.array([s.valid for s in samples])
    assert not is_valid[round((0.2 + 2 / FPS) / STEP) :].any(), "after max_age"
    assert scene.leader._mind.refused.keys() == {reason}
    assert len(scene.leader.take_warnings()) == 1, "told once"
    assert reason in scene.leader.closing_notes[0]
    answers.append(stay)
    assert scene.run(0.1)[-1].valid, "it has recovered"


def test_an_unready_policy_does_not_ask_to_start(stage):
    scene = stage(lambda _: np.zeros(3))

    sample = scene.run(0.5)[-1]

    assert not sample.start
    assert not sample.valid
    assert (
        "expected shape (7,) or (k, 7), got (1, 3)" in scene.leader.take_warnings()[0]
    )


def test_the_policy_begins_anew_each_time_it_drives(stage):
    class Counts:
        n = 0

        def reset(self):
            self.n = 0

        def __call__(self, observation):
            self.n += 1
            asked.append(self.n)
            return stay(observation)

    asked = []
    scene = stage(Counts())
    for feedback in (ENGAGED, make_feedback(SessionState.CLUTCHED), ENGAGED):
        scene.leader.apply(feedback)
        scene.run(0.1)

    assert asked == [1, 2, 3, 4, 5] * 2


def test_a_policy_that_has_done_its_task_ends_the_episode(stage):
    scene = stage(lambda _: None)
    scene.run(0.1)
    scene.leader.apply(ENGAGED)

    assert scene.run(0.1)[-1].end


def test_nothing_is_asked_while_a_camera_shows_old_images(stage, toy_camera):
    scene = stage(stay, cameras={"front": toy_camera})
    data = bytes(toy_camera.max_bytes)

    scene.run(0.1)
    assert "gives no image" in scene.leader.take_warnings()[0]
    scene.frames["front"] = Frame(scene.clock(), data)
    assert scene.run(0.1)[-1].valid
    scene.leader.apply(ENGAGED)
    samples = scene.run(1.0)

    assert not samples[-1].valid
    assert "gives no new image" in scene.leader.take_warnings()[-1]


@pytest.fixture
def toy_camera():
    return CameraSettings().make_info(8, 6, "mono8")


def test_a_slow_answer_is_stale_and_latest_never_waits_for_it(stage):
    may_answer, is_asked = threading.Event(), threading.Event()

    def think(observation):
        is_asked.set()
        may_answer.wait(10.0)
        return stay(observation)

    scene = stage(think, waits=False)
    begin = time.perf_counter()
    scene.run(0.5)
    assert time.perf_counter() - begin < 5.0
    assert is_asked.wait(5.0)

    may_answer.set()
    for _ in range(500):
        scene.leader.latest()
        if scene.leader._mind.refused:
            break
        time.sleep(0.002)

    assert scene.leader._mind.refused == {"stale": 1}
    assert "more than 0.2 [s] (leader.max_age)" in scene.leader.take_warnings()[0]


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("no_such_module:act", "expected to load 'no_such_module:act'"),
        ("math:no_such", "AttributeError"),
        ("math:pi", "expected something to call, got 'math:pi', a float"),
    ],
)
def test_a_policy_that_is_not_there_is_refused(robot, function, words):
    leader = Policy(PolicyConfig(function=function), ManualClock())
    leader.meet(robot)

    with pytest.raises(DeviceError, match="leader.function") as caught:
        leader.open()

    assert words in str(caught.value)


@pytest.fixture
def network(tmp_path):
    """An ONNX file: two actions, the joints as they are and 1 further."""
    onnx = pytest.importorskip("onnx")
    helper, f32 = onnx.helper, onnx.TensorProto.FLOAT
    name = "observation.state"
    ahead = helper.make_tensor("ahead", f32, [1, 2, 1], [0.0, 1.0])
    shape = helper.make_tensor("shape", onnx.TensorProto.INT64, [3], [1, 1, N])
    graph = helper.make_graph(
        [
            helper.make_node("Reshape", [name, "shape"], ["row"]),
            helper.make_node("Add", ["row", "ahead"], ["chunk"]),
        ],
        "policy",
        [helper.make_tensor_value_info(name, f32, [1, N])],
        [helper.make_tensor_value_info("chunk", f32, [1, 2, N])],
        [ahead, shape],
    )
    opset = [helper.make_opsetid("", 17)]
    path = tmp_path / "policy.onnx"
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=9), str(path))
    return path


def test_a_network_is_asked_by_the_names_of_its_inputs(network):
    pytest.importorskip("onnxruntime")
    config = PolicyConfig(path=str(network))
    policy = load_policy(config)

    chunk = policy({"observation.state": np.arange(N, dtype=np.float32), "task": ""})

    assert chunk.shape == (2, N)
    assert chunk[1] == pytest.approx(np.arange(N) + 1.0)
    with pytest.raises(KeyError, match="observation.state"):
        policy({"task": ""})
    network.write_bytes(b"no network")
    with pytest.raises(DeviceError, match="expected an ONNX network in"):
        load_policy(config)


def test_another_program_says_where_the_robot_shall_be(robot, tmp_path):
    path = str(tmp_path / "s.sock")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(path)
    listener.listen(1)
    scene = Stage(robot, RemotePolicy(path))
    theirs, _ = listener.accept()
    scene.leader.open()

    sample = scene.run(0.1)[-1]
    assert sample.valid, "it stays until something is said"
    assert sample.limbs["arm"].q == pytest.approx(robot.home[:6], abs=1e-6)
    told = json.loads(theirs.recv(1 << 16).split(b"\n")[0])
    assert told["observation.state"][1] == pytest.approx(85.94, abs=0.01)
    theirs.sendall(json.dumps({"action": [1.0] * N}).encode() + b"\n")
    sample = scene.run(0.1)[-1]
    assert sample.valid
    assert np.rad2deg(sample.limbs["arm"].q[0]) == pytest.approx(1.0), "also at rest"
    assert scene.run(1.0)[-1].limbs["arm"].q == pytest.approx(sample.limbs["arm"].q)
    theirs.sendall(b'{"other": 1}\n')
    scene.run(0.1)
    assert "KeyError: 'action'" in scene.leader.take_warnings()[0]
    theirs.close()
    listener.close()
    assert not scene.run(0.6)[-1].valid, "it has gone"
    scene.leader.close()


def test_an_arm_that_stands_below_its_command_does_not_sink(tmp_path):
    path = str(tmp_path / "policy.sock")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(path)
        listener.listen(1)
        policy = RemotePolicy(path)
        theirs, _ = listener.accept()
    sag, asked, q = 3.0, {}, 50.0
    for state in ["HOMING"] * 5 + ["ENGAGED"] * 50 + ["CLUTCHED"] * 5 + ["HOMING"] * 5:
        q = -40.0 if state == "HOMING" else q - sag
        seen = {"observation.state": np.array([q]), "session.state": state}
        q = float(policy(seen)[0])
        asked.setdefault(state, []).append(q)
    policy.close()
    theirs.close()

    assert set(asked["HOMING"]) == {-40.0}, "it is brought home"
    assert set(asked["ENGAGED"] + asked["CLUTCHED"]) == {-40.0 - sag}


@pytest.mark.parametrize("reposture", ["ask", "auto"])
def test_the_config_says_whether_a_stuck_limb_changes_over_unasked(stage, reposture):
    assert stage(stay, reposture=reposture).leader.info.reposture == reposture
