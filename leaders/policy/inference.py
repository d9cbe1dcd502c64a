"""Queries of a policy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from paprle.contracts.errors import CommandError
from paprle.contracts.observing_leader import Sight
from paprle.leaders.policy.chunk import Chunk
from paprle.leaders.policy.config import PolicyConfig
from paprle.leaders.policy.load import Act, Observation
from paprle.leaders.policy.thinker import Answer, Question, Thinker
from paprle.observation.live import Observations, PolicyActions


class Thought(NamedTuple):
    """A valid answer.

    Attributes:
        stamp_ns: Of its observation, [ns].
        chunk: None: the task is done.
    """

    stamp_ns: int
    chunk: Chunk | None


class Mind:
    """A policy with its observations and answers.

    Attributes:
        is_ready: Answers are valid and in time.
        refused: Refusals by reason.
    """

    def __init__(
        self,
        config: PolicyConfig,
        actions: PolicyActions,
        observations: Observations,
        policy: Act,
        *,
        is_waited_for: bool,
    ) -> None:
        self._config, self._actions = config, actions
        self._observations = observations
        self._thinker = Thinker(policy, is_waited_for=is_waited_for)
        self.is_ready, self._is_first = False, True
        self.refused: Counter[str] = Counter()
        self._n_answers = 0
        self._warnings: list[str] = []
        self._last_refusal = ""

    @property
    def is_busy(self) -> bool:
        """Whether a question is open."""
        return self._thinker.is_busy

    def begin(self) -> None:
        """Mark the next question as the first."""
        self._is_first = True

    def ask(self, sight: Sight, now_ns: int) -> None:
        """Ask for actions, unless data are too old."""
        missing = self._find_missing(sight, now_ns)
        if missing:
            self._refuse("not asked", missing)
            return
        if self._is_first:
            self._observations.begin()
        try:
            seen = self._observations.make(sight.view)
        except CommandError as err:
            self._refuse("not asked", str(err))
            return
        decode = self._observations.decode
        known = {"task": self._config.task, "session.state": sight.view.state.name}

        def see() -> Observation:
            return {**seen, **decode(sight.frames), **known}

        self._thinker.ask(Question(now_ns, see, self._is_first))
        self._is_first = False

    def pop(self, now_ns: int) -> Thought | None:
        """Return the newest valid answer, once."""
        answer = self._thinker.pop()
        if answer is None:
            return None
        self._n_answers += 1
        thought = self._judge(answer, now_ns)
        if thought is not None:
            self.is_ready, self._last_refusal = True, ""
        return thought

    def take_warnings(self) -> Sequence[str]:
        """Return refusals with a new reason."""
        told, self._warnings = self._warnings, []
        return told

    def summarise(self) -> str:
        """Return the counts of answers and refusals."""
        reasons = ", ".join(f"{n} {why}" for why, n in sorted(self.refused.items()))
        return f"policy: {self._n_answers} answers, refused: {reasons or 'none'}"

    def close(self) -> None:
        """Close the policy."""
        self._thinker.close()

    def _find_missing(self, sight: Sight, now_ns: int) -> str:
        limit = self._config.max_age
        if max(sight.view.gate_age, sight.view.tick_age) > limit:
            return "the session's state is old"
        for name in self._observations.cameras:
            frame = sight.frames.get(name)
            if frame is None:
                return f"camera '{name}' gives no image"
            if (now_ns - frame.stamp_ns) * 1e-9 > limit:
                return f"camera '{name}' gives no new image"
        return ""

    def _judge(self, answer: Answer, now_ns: int) -> Thought | None:
        age, limit = (now_ns - answer.stamp_ns) * 1e-9, self._config.max_age
        if answer.error:
            return self._refuse("failed", answer.error)
        if age > limit:
            took = f"it took {age:.2f} [s], more than {limit:g} [s] (leader.max_age)"
            return self._refuse("stale", took)
        if answer.value is None:
            return Thought(answer.stamp_ns, None)
        try:
            rows = self._actions.check(answer.value)
        except CommandError as err:
            return self._refuse("malformed", str(err))
        return Thought(answer.stamp_ns, Chunk(answer.stamp_ns, rows, self._config.fps))

    def _refuse(self, why: str, words: str) -> Thought | None:
        self.refused[why] += 1
        if why != self._last_refusal:
            self._last_refusal = why
            self._warnings.append(f"policy: {why}: {words}")
        return None
