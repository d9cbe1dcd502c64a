"""Record of the anchors for the leader process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paprle.ipc.records import Record

if TYPE_CHECKING:  # heavy, and a leader without motors has none
    from paprle.retargeting.state import Anchors


def make_anchors_dtype(n_limbs: int) -> np.dtype[np.void]:
    """Return the layout of anchors."""
    m = n_limbs
    return np.dtype(
        [
            ("L", "f8", (m, 3, 3)),
            ("K", "f8", (m, 3, 3)),
            ("p_0", "f8", (m, 3)),
            ("p_leader0", "f8", (m, 3)),
            ("scale", "f8", (m,)),
        ]
    )


def pack_anchors(anchors: Anchors) -> Record:
    """Return the anchors as one record."""
    record: Record = np.zeros((), dtype=make_anchors_dtype(len(anchors.L)))
    for name, value in anchors._asdict().items():
        record[name] = value
    return record


def unpack_anchors(record: Record) -> Anchors:
    """Return the anchors as views of the record."""
    from paprle.retargeting.state import Anchors  # noqa: PLC0415 - see above

    return Anchors(
        record["L"],
        record["K"],
        record["p_0"],
        record["p_leader0"],
        record["scale"],
    )
