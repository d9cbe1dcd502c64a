"""Numbers of a column's part, and their values between messages."""

from __future__ import annotations

from typing import Any

import numpy as np

from paprle.contracts.types import Vec
from paprle_lab.conversion.bags.values import find, find_labels, list_numbers
from paprle_lab.conversion.mapping import Part

_JUMP = 3.0  # chosen: less than half a turn; a number that steps by more has no between
_QUATERNION = ("x", "y", "z", "w")
_LONGEST = 1e12  # chosen: no measurement is larger


class PartReader:
    """Reads a part's numbers; the first message fixes which are rotations.

    Attributes:
        problem: Difference of the last message that was refused.
        is_of_others: That message was of other joints on the same topic.
    """

    def __init__(self, part: Part) -> None:
        self.part = part
        self.problem = ""
        self.is_of_others = False
        self._rotations = list[slice]()
        self._is_whole: np.ndarray[Any, np.dtype[np.bool_]] | None = None

    def read(self, message: Any) -> Vec | None:
        """Return the numbers, (n,); None from a message that lacks them."""
        value = find(message, self.part.field)
        pairs = list(list_numbers(value))
        labels = find_labels(message, len(pairs))
        if labels:
            missing = [name for name in self.part.names if name not in labels]
            self.is_of_others = bool(missing)
            if missing:
                self.problem = f"without '{missing[0]}': {', '.join(labels)[:200]}"
                return None
            pairs = [pairs[labels.index(name)] for name in self.part.names]
        elif len(pairs) != len(self.part.names):
            field = ".".join(self.part.field)
            self.problem = (
                f"{len(pairs)} numbers in {field}, not {len(self.part.names)}"
            )
            return None
        numbers: Vec = np.array([float(x) for _, x in pairs])
        if not (np.abs(numbers) < _LONGEST).all():
            self.problem = "with NaN or infinite numbers"
            return None
        if self._is_whole is None:
            self._begin(pairs)
        return numbers

    def scale(self, numbers: Vec) -> Vec:
        """Return numbers in the units of the data set."""
        return numbers * self.part.scale

    def between(self, before: Vec, after: Vec, share: float) -> Vec:
        """Return numbers between two messages.

        Rotations turn along the shorter arc; whole numbers and steps of more than 3
        (an angle that wraps) stay as they were before.
        """
        there = after.copy()
        for where in self._rotations:
            there[where] *= -1.0 if before[where] @ after[where] < 0.0 else 1.0
        numbers = before + share * (there - before)
        for where in self._rotations:
            numbers[where] /= np.linalg.norm(numbers[where]) or 1.0
        is_step = np.abs(there - before) > _JUMP
        if self._is_whole is not None:
            is_step |= self._is_whole
        return np.where(is_step, before, numbers)

    def _begin(self, pairs: list[tuple[tuple[str, ...], Any]]) -> None:
        whole = [isinstance(x, bool | int | np.integer | np.bool_) for _, x in pairs]
        # JSON writes 0.0 as 0: of its numbers, all whole means nothing
        self._is_whole = np.array(whole)
        paths = [path for path, _ in pairs]
        for k in range(len(paths) - 3):
            four = paths[k : k + 4]
            heads = {path[:-1] for path in four}
            if len(heads) == 1 and tuple(p[-1] for p in four if p) == _QUATERNION:
                self._rotations.append(slice(k, k + 4))
