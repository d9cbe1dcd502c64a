"""A session as a Gymnasium environment, the inverse of ``leader=policy``.

The session runs in its own thread on the virtual clock, alternating with ``step``, so
that equal seeds and actions give equal runs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from queue import SimpleQueue
from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Dict

from paprle.config import resolve
from paprle.contracts.errors import ConfigError, SessionError
from paprle.contracts.kit.leader_group import ALONE
from paprle.contracts.types import SessionState
from paprle.hosts.plan import make_robot
from paprle.hosts.virtual import VirtualSession
from paprle.observation.live import PolicyActions

Observation = dict[str, npt.NDArray[np.float32]]
Judge = Callable[[Mapping[str, Any], npt.NDArray[np.float64]], tuple[float, bool]]
"""Takes an observation and the action before it: reward, and whether it is done."""

_LEADER = ("leader=policy", "leader.function=paprle.leaders.policy.load:stay")
_SEEDS = 2**31  # chosen: every seed of an env fits
_DAY = 86400.0  # [s] spec: leader.duration, the longest


class SessionEnv(gymnasium.Env):  # type: ignore[misc]
    """A simulated robot driven through retargeting and gate.

    Observations are the columns ``observation.…`` of a data set, actions its ``action``
    (or ``leader.action``). Episodes begin at home and are truncated with the session.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(
        self, words: Sequence[str], judge: Judge | None = None, seed: int = 0
    ) -> None:
        """Create the environment.

        Args:
            words: Command-line words without leader and clock: ``follower=piper``,
                ``env=mujoco``, ``leader.fps=10``, ``record.dir=OUT``.
            judge: Source of rewards.
            seed: Seed of the session that defines the observations.

        Raises:
            ConfigError: If the words make no session.
        """
        self._words = (*_LEADER, f"leader.duration={_DAY}", *words)
        self._words += ("session.clock=virtual", "session.episodes=1")
        if any(word.startswith("leader=") for word in words):
            raise ConfigError("words: expected no leader, got one; gym is the leader")
        resolved = resolve(self._words)
        self._is_random = hasattr(resolved.env, "randomise")
        self._judge = judge
        self._run: _Run | None = None
        self._last: Observation = {}
        robot = make_robot(resolved).info
        self._actions = PolicyActions(robot, resolved.leader.action)
        self.action_names = self._actions.names
        low = np.full(len(self.action_names), -np.inf)
        high = -low
        if resolved.leader.action == "joints":
            ends = (robot.q_min, robot.q_max)
            both = np.stack([self._actions.encode(q) for q in ends])
            low, high = both.min(axis=0), both.max(axis=0)
        self.action_space = Box(low, high, dtype=np.float64)
        seen = self._begin(seed, "record.dir=null")
        self.observation_space = Dict(
            {
                name: Box(-np.inf, np.inf, v.shape, np.float32)
                for name, v in seen.items()
            }
        )
        self.close()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Return the first observation of a new session, and an empty info.

        ``seed`` applies to this and later episodes; there are no options.
        """
        super().reset(seed=seed, options=options)
        self.close()
        return self._begin(int(self.np_random.integers(_SEEDS))), {}

    def step(
        self, action: npt.NDArray[np.float64]
    ) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Apply an action, in the data set's units, for one frame.

        Returns:
            Observation, reward, termination, truncation and its reason.

        Raises:
            SessionError: If there is no episode.
            CommandError: If the action has another shape or is not finite.
        """
        if self._run is None:
            raise SessionError("step: expected an episode, got none; call reset first")
        (row,) = self._actions.check(action)[:1]
        seen = self._run.answer(row)
        if seen is None:
            why = self._run.end_reason
            self.close()
            return self._last, 0.0, False, True, {"session": why}
        self._last = seen
        reward, is_done = 0.0, False
        if self._judge is not None:
            reward, is_done = self._judge(seen, action)
        return seen, float(reward), bool(is_done), False, {}

    def close(self) -> None:
        """End the episode and session."""
        if self._run is not None:
            self._run.close()
        self._run = None

    def _begin(self, seed: int, *words: str) -> Observation:
        """Start a session; return the first driven observation."""
        randomise = (f"env.randomise.seed={seed}",) if self._is_random else ()
        self._run = _Run((*self._words, *randomise, *words), len(self.action_names))
        seen = self._run.wait()
        if seen is None:
            raise SessionError(
                "reset: expected a session that engages, got one that ended: "
                f"{self._run.end_reason}"
            )
        self._last = seen
        return seen


class _Run:
    """A session with a policy answered from outside."""

    def __init__(self, words: Sequence[str], n: int) -> None:
        self.end_reason, self._n = "", n
        self._session = VirtualSession(resolve(words), say=lambda _: None)
        leader: Any = self._session.plan.leaders[ALONE]
        leader.use(self._ask)
        self._seen: SimpleQueue[Observation | None] = SimpleQueue()
        self._actions: SimpleQueue[npt.NDArray[np.float64] | None] = SimpleQueue()
        self._error: BaseException | None = None
        self._is_over = False
        self._thread = threading.Thread(target=self._work, name="session", daemon=True)
        self._thread.start()

    def answer(self, action: npt.NDArray[np.float64]) -> Observation | None:
        """Apply an action; return the next frame's observation."""
        self._actions.put(action)
        return self.wait()

    def wait(self) -> Observation | None:
        """Return the next observation; None at the end."""
        seen = None if self._is_over else self._seen.get()
        self._is_over = seen is None
        if self._error is not None:
            raise self._error
        return seen

    def close(self) -> None:
        """End it with the task done."""
        while not self._is_over:
            self._actions.put(None)
            self._is_over = self._seen.get() is None
        self._thread.join()

    def _work(self) -> None:
        try:
            self.end_reason = self._session.run()
        except BaseException as err:  # noqa: BLE001 - raised again where it is asked
            self._error = err
        self._seen.put(None)

    def _ask(self, observation: Mapping[str, Any]) -> Any:
        if self._session.core.state is not SessionState.ENGAGED:
            return np.zeros(self._n)  # it is ready; this moves nothing
        arrays = {k: v for k, v in observation.items() if isinstance(v, np.ndarray)}
        self._seen.put(arrays)
        return self._actions.get()


def register() -> None:
    """Register ``gymnasium.make("paprle/Session-v0", words=[…])``."""
    gymnasium.register(id="paprle/Session-v0", entry_point="paprle.gym:SessionEnv")


register()
