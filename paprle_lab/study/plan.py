"""Plan of a study, fixed in ``study.json`` by assignment."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import yaml  # type: ignore[import-untyped]
from annotated_types import Ge, Le
from pydantic import TypeAdapter, ValidationError

from paprle.contracts.errors import ConfigError
from paprle.contracts.settings.base import settings
from paprle_lab.evaluation.reporting.files import write_text
from paprle_lab.study.latin import deal
from paprle_lab.study.scales import KNOWN, Questionnaire

FILE = "study.json"
ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # no letter that reads like another
_N_LETTERS = 4  # chosen: a million pseudonyms
PREFERENCE = "preference"


@settings(slots=False)
class OwnScale:
    """A study's own scale; see ``Questionnaire``."""

    items: dict[str, str]
    points: Annotated[int, Ge(2), Le(101)] = 7
    ends: tuple[str, str] = ("strongly disagree", "strongly agree")
    reversed: tuple[str, ...] = ()
    scales: dict[str, tuple[str, ...]]


@settings(slots=False)
class StudyPlan:
    """The plan of a study.

    Attributes:
        conditions: Settings, over ``common``.
        tasks: Settings, over those of the condition.
        after: Final questionnaires; ``preference``: the best condition.
    """

    name: str
    participants: Annotated[int, Ge(1), Le(10000)]
    seed: int
    common: tuple[str, ...] = ()
    conditions: dict[str, tuple[str, ...]]
    tasks: dict[str, tuple[str, ...]]
    repetitions: Annotated[int, Ge(1), Le(100)] = 1
    before: tuple[str, ...] = ()
    after_condition: tuple[str, ...] = ("tlx", "sus")
    after: tuple[str, ...] = ()
    questionnaires: dict[str, OwnScale]


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of a participant; ``repetition`` counts from 1."""

    name: str
    condition: str = ""
    task: str = ""
    repetition: int = 0
    asks: str = ""


def read_plan(path: Path) -> StudyPlan:
    """Return the plan of a YAML.

    Raises:
        ConfigError: Listing all mistakes.
    """
    try:
        tree = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as err:
        raise ConfigError(f"{path}: expected the plan of a study, got {err}") from err
    return make_plan(tree, path)


def make_plan(tree: Any, path: Path) -> StudyPlan:
    """Return the plan of YAML values.

    Raises:
        ConfigError: Listing all mistakes.
    """
    if isinstance(tree, dict):
        tree = {"questionnaires": {}, **tree}
    try:
        plan = TypeAdapter(StudyPlan).validate_json(json.dumps(tree, default=str))
    except ValidationError as err:
        problems = [
            f"{path}: {'.'.join(map(str, one['loc'])) or 'plan'}: {one['msg']}"
            for one in err.errors()
        ]
        raise ConfigError(problems) from err
    problems = [f"{path}: {text}" for text in _find_mistakes(plan)]
    if problems:
        raise ConfigError(problems)
    return plan


def _find_mistakes(plan: StudyPlan) -> list[str]:
    found = [f"{what}: expected at least one" for what in ("conditions", "tasks")
             if not getattr(plan, what)]  # fmt: skip
    for name in (*plan.conditions, *plan.tasks, *plan.questionnaires):
        if not name.replace("_", "").isalnum():
            found.append(f"'{name}': expected letters, digits and _ in a name")
    there = {*KNOWN, *plan.questionnaires}
    for place in ("before", "after_condition", "after"):
        own = {*there, PREFERENCE} if place == "after" else there
        for name in getattr(plan, place):
            if name not in own:
                names = ", ".join(sorted(own))
                found.append(f"{place}: expected some of {names}, got '{name}'")
    for name, own_scale in plan.questionnaires.items():
        named = {item for items in own_scale.scales.values() for item in items}
        for item in sorted({*named, *own_scale.reversed} - set(own_scale.items)):
            found.append(f"questionnaires.{name}: '{item}' is none of its items")
    return found


def find_questionnaire(plan: StudyPlan, name: str) -> Questionnaire:
    """Return an own or standard questionnaire."""
    if name in KNOWN:
        return KNOWN[name]
    own = plan.questionnaires[name]
    return Questionnaire(
        name=name,
        items=own.items,
        high=float(own.points),
        ends=own.ends,
        reversed_items=frozenset(own.reversed),
        scales=own.scales,
    )


@dataclass(frozen=True, kw_only=True)
class Study:
    """A plan with assigned participants; ``orders``: conditions by pseudonym."""

    folder: Path
    plan: StudyPlan
    orders: Mapping[str, tuple[str, ...]]

    def list_steps(self, participant: str) -> list[Step]:
        """Return a participant's steps."""
        plan, orders = self.plan, list(self.orders)
        tasks = deal(list(plan.tasks), len(orders) * len(plan.conditions), plan.seed)
        at = orders.index(participant) * len(plan.conditions)
        steps = [Step(name=f"before_{one}", asks=one) for one in plan.before]
        for k, condition in enumerate(self.orders[participant]):
            steps += [
                Step(
                    name=f"{condition}_{task}_{again + 1}",
                    condition=condition,
                    task=task,
                    repetition=again + 1,
                )
                for task in tasks[at + k]
                for again in range(plan.repetitions)
            ]
            steps += [
                Step(name=f"{condition}_{one}", condition=condition, asks=one)
                for one in plan.after_condition
            ]
        return steps + [Step(name=f"after_{one}", asks=one) for one in plan.after]


def deal_study(plan: StudyPlan, folder: Path) -> Study:
    """Return a study written into a new private folder.

    Raises:
        ConfigError: If the folder has a study, or writing fails.
    """
    if (folder / FILE).exists():
        raise ConfigError(f"{folder}: expected a folder without a study, got {FILE}")
    chance = random.Random(plan.seed)
    names: dict[str, None] = {}
    while len(names) < plan.participants:
        names["".join(chance.choices(ALPHABET, k=_N_LETTERS))] = None
    dealt = deal(list(plan.conditions), plan.participants, plan.seed)
    orders = dict(zip(names, dealt, strict=True))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    tree = TypeAdapter(StudyPlan).dump_python(plan, mode="json")
    text = json.dumps({"plan": tree, "orders": orders}, indent=2, ensure_ascii=False)
    write_text(folder / FILE, text + "\n")
    return Study(folder=folder, plan=plan, orders=orders)


def open_study(folder: Path) -> Study:
    """Return the study of a folder.

    Raises:
        ConfigError: If it is missing or damaged.
    """
    path = folder / FILE
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
        orders = {str(k): tuple(map(str, v)) for k, v in tree["orders"].items()}
        told = tree["plan"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as err:
        raise ConfigError(
            f"{folder}: expected a study, got {err}; make one: paprle study plan "
            "PLAN.yaml --out FOLDER"
        ) from err
    return Study(folder=folder, plan=make_plan(told, path), orders=orders)
