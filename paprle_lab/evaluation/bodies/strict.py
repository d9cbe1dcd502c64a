"""Strict verdict on an episode."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from paprle.contracts.errors import PaprleError
from paprle.recording.others.bags import is_bag
from paprle_lab.evaluation.bodies.meshes import judge_contacts
from paprle_lab.evaluation.stored import StoredEpisode


def judge_strictly(path: Path, entry: dict[str, Any]) -> tuple[list[str], bool]:
    """Return findings as text, and whether the episode passes."""
    if entry.get("error") or is_bag(path):
        return [], not entry.get("error")
    n_broken = (entry.get("gate") or {}).get("violations") or 0
    lines = [f"strict: clauses broken {n_broken}×"]
    try:
        found = judge_contacts(StoredEpisode(path))
    except PaprleError as err:
        return [*lines, f"strict: meshes not judged: {err}"], False
    if found is None:
        lines.append(
            "strict: meshes not judged: the recorded URDF tells of none; `paprle "
            "new-robot` leaves them in what it writes"
        )
        return lines, n_broken == 0
    lines.append(
        f"strict: meshes looked at in {found.n_looks} postures, "
        f"{'TOUCHING' if found.touching else 'none touched'}"
        f"{', NEARER than told' if found.nearer else ''}"
    )
    lines += [
        f"  {a} – {b} in {one.n}, from {one.first:.2f} s to {one.last:.2f} s"
        for (a, b), one in found.touching.items()
    ]
    lines += [
        f"  {a} – {b} nearer than their bodies and than what is kept in {one.n}, from "
        f"{one.first:.2f} s to {one.last:.2f} s"
        for (a, b), one in found.nearer.items()
    ]
    lines += [
        f"  {a} – {b} not judged: they overlap nearly always" for a, b in found.left_out
    ]
    return lines, n_broken == 0 and not found.touching and not found.nearer
