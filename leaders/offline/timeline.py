"""Map from play time to file time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from paprle.leaders.offline.track import RowTrack

_SHORTEST_LOSS = 0.15  # [s] chosen: the session disengages after 0.1 s, safety.md A1
_LONGEST_LOSS = 10.0  # [s] chosen: nobody learns from waiting longer


@dataclass(frozen=True, slots=True)
class Moment:
    """A position in a play.

    Attributes:
        source: File time, [s].
        lost_until_ns: End of a gap in play time, [ns], or 0.
    """

    source: float
    lost_until_ns: int = 0


class Timeline:
    """File time that is scaled, and stands in gaps.

    Attributes:
        duration: Of the play, [s].
        speed: File time over play time.
    """

    def __init__(self, tracks: Sequence[RowTrack], speed: float) -> None:
        self.speed = speed
        end = max(float(track.rows.t[-1]) for track in tracks)
        # Knots alternate: motion begins at each even one, loss at each odd one.
        self._source, play = [0.0], [0.0]
        for begin, resume in _losses(tracks):
            play.append(play[-1] + (begin - self._source[-1]) / speed)
            loss = (resume - begin) / speed
            play.append(play[-1] + min(max(loss, _SHORTEST_LOSS), _LONGEST_LOSS))
            self._source += [begin, resume]
        self.duration = play[-1] + (end - self._source[-1]) / speed
        self._source.append(end)
        self._play_ns = [round(t * 1e9) for t in play]

    def at(self, t_ns: int) -> Moment:
        """Return the moment at ``t_ns``, [ns]."""
        i = bisect_right(self._play_ns, t_ns) - 1
        elapsed_ns = t_ns - self._play_ns[i]
        if i % 2 == 1 and elapsed_ns > 0:
            return Moment(self._source[i], self._play_ns[i + 1])
        source = self._source[i] + elapsed_ns * 1e-9 * self.speed
        return Moment(min(source, self._source[i + 1]))

    def find_play_time(self, source: float) -> float:
        """Return the play time of a file time, [s]."""
        i = bisect_right(self._source, source, 1, len(self._play_ns)) - 1
        begin = self._play_ns[i] * 1e-9
        if i % 2 == 1:
            return begin  # nothing is played
        return begin + (source - self._source[i]) / self.speed


def _losses(tracks: Sequence[RowTrack]) -> list[tuple[float, float]]:
    merged: list[tuple[float, float]] = []
    for stretch in sorted(
        (float(track.rows.t[i]), float(track.rows.t[i + 1]))
        for track in tracks
        for i in track.breaks.nonzero()[0]
    ):
        if merged and stretch[0] <= merged[-1][1]:
            begin, end = merged.pop()
            merged.append((begin, max(end, stretch[1])))
        else:
            merged.append(stretch)
    return merged
