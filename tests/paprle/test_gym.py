"""A session as an environment of Gymnasium."""

import warnings

import numpy as np
import pytest

pytest.importorskip("gymnasium")
pytest.importorskip("mujoco")

import gymnasium
from gymnasium.utils.env_checker import check_env

from paprle.contracts.errors import CommandError, ConfigError, SessionError
from paprle.gym import SessionEnv
from paprle.recording.reader import Episode

pytestmark = [pytest.mark.sim, pytest.mark.long]

PIPER = ("follower=piper", "env=mujoco", "env.randomise.block=0.05", "leader.fps=10")
BLOCK = "observation.environment_state"
STATE = "observation.state"


@pytest.fixture
def env():
    env = SessionEnv(PIPER)
    yield env
    env.close()


def test_gymnasium_finds_nothing_wrong_with_it():
    env = gymnasium.make("paprle/Session-v0", words=PIPER).unwrapped
    with warnings.catch_warnings():
        # it recommends other units than those of a data set
        warnings.filterwarnings("ignore", message=".*symmetric and normalized space")
        warnings.filterwarnings("ignore", message=".*Box observation space m")
        check_env(env, skip_render_check=True)
    env.close()


def test_an_action_is_asked_of_the_gate_and_done_within_its_limits(tmp_path):
    env = SessionEnv((*PIPER, f"record.dir={tmp_path}"))
    first, _ = env.reset(seed=1)
    goal = first[STATE].astype(float)

    for step in [*range(11), *[10] * 5]:
        seen, reward, is_done, is_cut, _ = env.step(goal + [3.0 * step, *[0.0] * 6])
    env.close()

    assert (reward, is_done, is_cut) == (0.0, False, False)
    assert seen[STATE][0] == pytest.approx(30.0, abs=0.5)
    episode = Episode.open(tmp_path / "episode_000000.mcap")
    speed = np.abs(episode.gate["dq_cmd"]).max(axis=0)
    assert (speed <= episode.robot_info.dq_max + 1e-9).all()
    assert speed[0] > 0.3


def test_a_seed_says_where_the_block_lies_and_runs_repeat_to_the_last_bit(env):
    def run(seed):
        seen = [env.reset(seed=seed)[0]]
        action = seen[0][STATE] + 5.0
        seen += [env.step(action)[0] for _ in range(3)]
        return np.array([np.concatenate(list(one.values())) for one in seen])

    first, again, other = run(3), run(3), run(4)

    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("action", [np.full(7, np.nan), np.zeros(6), "left"])
def test_an_invalid_action_is_refused(env, action):
    env.reset(seed=0)

    with pytest.raises(CommandError, match="expected"):
        env.step(action)

    env.step(np.zeros(7))


def test_the_environment_is_its_own_leader():
    with pytest.raises(ConfigError, match="gym is the leader"):
        SessionEnv((*PIPER, "leader=autopilot"))


def test_a_session_that_ended_is_told_once_and_begun_anew_by_reset():
    env = SessionEnv((*PIPER, "session.duration=0.5"))
    env.reset(seed=0)
    stay = np.zeros(7) + env._last[STATE]

    ends = [env.step(stay)[3] for _ in range(5)]
    while not ends[-1]:
        ends.append(env.step(stay)[3])

    assert len(ends) < 10
    with pytest.raises(SessionError, match="call reset first"):
        env.step(stay)
    env.reset()
    env.close()
