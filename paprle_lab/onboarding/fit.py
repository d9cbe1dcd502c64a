"""Bodies around a robot's meshes, cut until it can move.

Pieces whose meshes touch in no posture 5° apart, and links whose meshes always
touch, are exempt.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pinocchio as pin

from paprle.contracts.kit.work import UNSEEN, Work
from paprle.contracts.types import Vec
from paprle.robot.tree import Urdf
from paprle_lab.onboarding.cuts import PiecePair, Posture, find_cut
from paprle_lab.onboarding.link_pairs import MOSTLY, LinkPair, LinkPieces
from paprle_lab.onboarding.pieces import Given, Piece
from paprle_lab.onboarding.relative import list_ways

_ENOUGH = 0.02  # chosen: of the postures, that bodies may take from the robot
_LITTLE = 0.01  # chosen: of the postures, that a pair may take without being cut
_LITTLE_FINE = 0.005  # chosen: the same of all pairs of a link, by cuts for them
_MUCH = 0.02  # chosen: of the postures, that a pair takes and a person is told of
_GAIN = 0.02  # chosen: a cut that gives back less of what a link takes is none
_GAIN_LEAST = 1e-3 * 5e-3  # [m] chosen: a body that gives back less is not worth it
_MOST_FINE = 14  # chosen: pieces of a link, cut where most room is given back

Pair = tuple[str, str]


class Fitted(NamedTuple):
    """Bodies around meshes.

    Attributes:
        never: Pieces, as link and number, whose meshes never touch.
        always: Links whose meshes nearly always touch, or share a bearing.
        blocked: Share of lost postures.
    """

    pieces: dict[str, list[Piece]]
    never: tuple[tuple[tuple[str, int], tuple[str, int]], ...]
    always: tuple[Pair, ...]
    blocked: dict[Pair, float]


def fit_bodies(tree: Urdf, meshes: Mapping[str, Vec], work: Work = UNSEEN) -> Fitted:
    """Return cut bodies of meshes."""
    wholes: dict[str, list[Piece]] = {k: [Piece(v)] for k, v in meshes.items()}
    for body in tree.primitives:
        wholes.setdefault(body.link, []).append(Given(body))
    links = {name: LinkPieces(parts) for name, parts in wholes.items()}
    balls = {name: link.find_ball() for name, link in links.items()}
    touching: set[int] = set()
    pairs = [
        LinkPair(links[way.links[0]], links[way.links[1]], way, touching)
        for way in list_ways(tree, balls)
        if not meshes.keys().isdisjoint(way.links)
    ]
    always = []
    work.note("finding links that always touch")
    for k, pair in enumerate(pairs):
        work.count(k, len(pairs), "pairs")
        if pair.touches_always() or pair.is_bearing():
            always.append(pair)
    pairs = [pair for pair in pairs if pair not in always]
    ordered = sorted(pairs, key=lambda pair: -len(pair.find_hits()))
    work.note("trying postures in which links touch")
    for k, pair in enumerate(ordered):
        work.count(k, len(ordered), "pairs")
        pair.add_touching()  # what is found early need not be looked at again
    work.note(f"fitting bodies to meshes of {len(meshes)} links")
    _separate(pairs)
    for pair in pairs:
        if pair.measure_lost() >= MOSTLY:
            pair.leave_out_if_apart()
    work.note("cutting bodies where the robot loses room")
    _refine(pairs)
    names = {
        id(piece): (name, k)
        for name, link in links.items()
        for k, piece in enumerate(link.pieces)
    }
    lost = {pair.way.links: pair.measure_lost() for pair in pairs}
    return Fitted(
        {name: links[name].list_cuttable() for name in meshes},
        tuple(
            (names[id(one)], names[id(other)])
            for pair in pairs
            for one, other in pair.list_never()
        ),
        tuple(pair.way.links for pair in always),
        {pair: share for pair, share in lost.items() if share > _MUCH},
    )


def _separate(pairs: list[LinkPair]) -> None:
    lost = {pair: pair.measure_lost() for pair in pairs}
    stuck: set[LinkPair] = set()
    while sum(lost.values()) > _ENOUGH:
        worst = max(
            (pair for pair in pairs if pair not in stuck),
            key=lambda pair: lost[pair],
            default=None,
        )
        if worst is None or lost[worst] < _LITTLE:
            return
        before = lost[worst]
        lost[worst] = worst.measure_lost()  # others may have cut its links
        if lost[worst] == before:
            if not worst.take_away():
                stuck.add(worst)
            lost[worst] = worst.measure_lost()


def _refine(pairs: list[LinkPair]) -> None:
    lost = {pair: pair.measure_lost() for pair in pairs}
    links = {link for pair in pairs for link in pair.links if link.list_cuttable()}
    stuck: set[LinkPieces] = set()
    while sum(lost.values()) > _ENOUGH and links - stuck:
        cost = dict.fromkeys(links - stuck, 0.0)
        for pair, share in lost.items():
            for link in cost.keys() & set(pair.links):
                cost[link] += share
        worst = max(cost, key=cost.__getitem__)
        if cost[worst] < _LITTLE_FINE:
            return
        its = [pair for pair in pairs if worst in pair.links]
        if _improve(worst, its):
            lost.update({pair: pair.measure_lost() for pair in its})
            # against thinner bodies a cut may pay that did not
            stuck -= {link for pair in its if lost[pair] for link in pair.links}
        else:
            stuck.add(worst)


def _improve(link: LinkPieces, pairs: list[LinkPair]) -> bool:
    # Gains are measured by depth: a cut that frees no posture may lead to one that
    # does.
    before = sum(pair.measure_depth() for pair in pairs)
    cut = find_cut(*_list_lost(link, pairs), may_grow=len(link.pieces) < _MOST_FINE)
    if cut is None:
        return False
    link.replace([cut.piece], cut.halves)
    least = max(_GAIN * before, _GAIN_LEAST * (len(cut.halves) - 1))
    if sum(pair.measure_depth() for pair in pairs) < before - least:
        return True
    link.replace(cut.halves, [cut.piece])  # what one pair gains others lose
    return False


def _list_lost(
    link: LinkPieces, pairs: list[LinkPair]
) -> tuple[dict[PiecePair, set[Posture]], dict[Posture, pin.SE3]]:
    lost, places = {}, {}
    for n, pair in enumerate(pairs):
        is_first = pair.links[0] is link
        for (one, other), postures in pair.find_lost().items():
            key = (one, other) if is_first else (other, one)
            lost[key] = {(n, k) for k in postures}
            for k in postures:
                T = pair.way.places[k]
                places[n, k] = T if is_first else T.inverse()
    return lost, places
