"""Copies for another thread."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from paprle.contracts.plugins import Advice, SessionView
from paprle.contracts.session_view import MirroredRobot
from paprle.contracts.types import Vec


def copy_arrays(view: SessionView) -> dict[str, Vec]:
    """Return copied arrays of a view."""
    q = view.q if np.isfinite(view.q).all() else view.q_cmd
    return {
        "q": np.array(q), "q_asked": np.array(view.q_des), "tau": np.array(view.tau)
    }  # fmt: skip


def copy_mirror(view: SessionView) -> MirroredRobot | None:
    """Return a copied mirror, or None."""
    one = view.mirror
    return None if one is None else one._replace(q=np.array(one.q))


def copy_for_cues(view: SessionView) -> SessionView:
    """Return a copy for cues."""
    mappings = {limb: np.array(D) for limb, D in view.mappings.items()}
    advice = {
        name: Advice(said.record.copy(), said.age) for name, said in view.advice.items()
    }
    return replace(view, mappings=mappings, advice=advice)
