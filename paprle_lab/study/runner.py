"""A participant's sessions and questionnaires."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from paprle.config import resolve
from paprle.contracts.errors import SessionError
from paprle.hosts import run
from paprle.hosts.exit_codes import NOT_FOLLOWED
from paprle_lab.study.answer_log import Book
from paprle_lab.study.plan import PREFERENCE, Step, find_questionnaire
from paprle_lab.study.scales import Questionnaire

WITHHELD = "-"


@dataclass(frozen=True)
class StudyDialogue:
    """Output and questions; ``ask`` returns None at the end of input."""

    say: Callable[[str], None]
    ask: Callable[[str], str | None]


def lead(book: Book, dialogue: StudyDialogue) -> int:
    """Return the exit code of a participant's open steps.

    Completed steps are kept; that of a failed session stays open.

    Raises:
        SessionError: If input ends, or the participant is locked.
    """
    with book.hold():
        return _lead(book, dialogue)


def _lead(book: Book, dialogue: StudyDialogue) -> int:
    steps = book.study.list_steps(book.participant)
    for k, step in enumerate(steps):
        if book.find(step).exists():
            continue
        where = f", {step.condition}" if step.condition else ""
        dialogue.say(f"step {k + 1} of {len(steps)}{where}: {step.task or step.asks}")
        if step.task:
            code = _drive(book, step, dialogue)
            if code:
                return code
        elif step.asks == PREFERENCE:
            book.note(step, {"answers": _ask_preference(book, dialogue)})
        else:
            asked = find_questionnaire(book.study.plan, step.asks)
            book.note(step, {"answers": ask_all(asked, dialogue)})
    dialogue.say(f"participant {book.participant} has done all {len(steps)} steps")
    return 0


def list_settings(book: Book, step: Step) -> list[str]:
    """Return a session's settings."""
    plan = book.study.plan
    out = (book.folder / step.name).resolve()
    return [
        *plan.common,
        *plan.conditions[step.condition],
        *plan.tasks[step.task],
        "session.episodes=1",
        f"record.dir={out}",
    ]


def _drive(book: Book, step: Step, dialogue: StudyDialogue) -> int:
    out = book.folder / step.name
    before = set(out.glob("episode_*.mcap"))
    code = run(resolve(list_settings(book, step)))
    made = sorted(set(out.glob("episode_*.mcap")) - before)
    if code not in {0, NOT_FOLLOWED} or not made:
        dialogue.say(
            f"'{step.name}' was not recorded (exit code {code}); the same command "
            "does it again"
        )
        return code or 1
    episode = made[-1].relative_to(book.study.folder).as_posix()
    book.note(step, {"episode": episode, "exit_code": code})
    return 0


def ask_all(asked: Questionnaire, dialogue: StudyDialogue) -> dict[str, float | None]:
    """Return answers by item, None where withheld.

    Raises:
        SessionError: If input ends.
    """
    low, high = asked.ends
    scale = f"{asked.low:g} {low} … {asked.high:g} {high}"
    if asked.step != 1.0:
        scale += f", in steps of {asked.step:g}"
    dialogue.say(f"{asked.name}: {scale}; {WITHHELD} to give no answer")
    answers: dict[str, float | None] = {}
    for k, (item, text) in enumerate(asked.items.items()):
        question = f"{k + 1}/{len(asked.items)} {text}: "
        while item not in answers:
            word = _hear(dialogue, question)
            if word == WITHHELD:
                answers[item] = None
                continue
            try:
                value = float(word.replace(",", "."))
            except ValueError:
                value = float("nan")
            if asked.accepts(value):
                answers[item] = value
            else:
                dialogue.say(f"expected {scale}, got '{word}'")
    return answers


def _ask_preference(book: Book, dialogue: StudyDialogue) -> dict[str, str | None]:
    order = book.study.orders[book.participant]
    numbers = {str(k + 1): name for k, name in enumerate(order)}
    told = ", ".join(f"{k} {name}" for k, name in numbers.items())
    while True:
        word = _hear(dialogue, f"which did you like best? {told}: ")
        if word == WITHHELD:
            return {PREFERENCE: None}
        choice = numbers.get(word, word)
        if choice in order:
            return {PREFERENCE: choice}
        dialogue.say(f"expected 1 … {len(order)}, got '{word}'")


def _hear(dialogue: StudyDialogue, question: str) -> str:
    word = dialogue.ask(question)
    if word is None:
        raise SessionError(
            "study: no answer came; complete answers are kept, and the same command "
            "resumes"
        )
    return word.strip()
