"""Twelve questions: predict, see the experiment on the typed sentence, and vote again."""

import re

from ffnviz.analysis.exercises.evidence import Evidence
from ffnviz.analysis.needs import missing
from ffnviz.figures.wording import Sentence, number, quoted
from ffnviz.models.network import NotForThisNetwork
from ffnviz.parts.exercises.questions import QUESTIONS, Question
from ffnviz.parts.experiments import cached_result
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.head import Head
from ffnviz.pictures.vote_question import OPTIONS, STEPS, Experiment, VoteQuestion, vote_cell
from ffnviz.state.actions import OpenPage, Set
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, Values, choice_setting

WHICH = choice_setting("misconception", {each.name: each.believed for each in QUESTIONS})
STEP = choice_setting("vote_step", {"ask": "vote", "see": "the experiment", "why": "the reason"})
NONE = "-"  # of a vote that nobody has cast
NO_VOTES = NONE * 2 * len(QUESTIONS)


def _legal(text: str) -> str:
    """Two signs a question: the option of each vote, or “-” without one."""
    pattern = f"[0-{OPTIONS - 1}{NONE}]{{{len(NO_VOTES)}}}"
    return text if re.fullmatch(pattern, text) else NO_VOTES


VOTES: Setting[str] = Setting("votes", NO_VOTES, _legal, str)
SETTINGS = (WHICH, STEP, VOTES)


def sheet(run: Run, values: Values) -> Sheet:
    """The chosen question, as far as it has been answered."""
    names = [each.name for each in QUESTIONS]
    at, step, votes = names.index(values[WHICH]), values[STEP], values[VOTES]
    question = QUESTIONS[at]
    evidence = None if step == "ask" else tried(run, question)
    seen = evidence if isinstance(evidence, Evidence) else None
    cast = [None if sign == NONE else int(sign) for sign in votes]
    pairs = list(zip(cast[::2], cast[1::2], strict=True))
    options = [question.options[(n + at) % OPTIONS] for n in range(OPTIONS)]
    asked = VoteQuestion(
        at, filled(question.ask, run), options,
        answers(run, at, step, [None not in pair for pair in pairs]), step,
        Experiment(filled(question.did, run), seen.rows) if seen else None,
        evidence if isinstance(evidence, str) else "",
        question.why if step == "why" else "",
        question.leads[0].capitalize(),
    )  # fmt: skip

    def vote(round_: int, option: int) -> Set:
        place = 2 * at + round_
        changed = votes[:place] + str(option) + votes[place + 1 :]
        later = STEPS[min(STEPS.index(step) + 1, 2)]
        return Set({VOTES.name: changed, STEP.name: later})

    head = Head(
        ["Question ", number(str(at + 1)), f" of {len(QUESTIONS)}: predict, see, vote again."],
        "vote", run.card.colour,
    )  # fmt: skip
    return Sheet([row(vote_cell(
        "vote", head, asked, [each.believed for each in QUESTIONS], pairs,
        lambda place, to: Set({WHICH.name: names[place], STEP.name: to}), vote,
        lambda: OpenPage(question.leads[0], question.leads[1]),
    ))], [])  # fmt: skip


def tried(run: Run, question: Question) -> Evidence | str:
    """What the experiment finds on this block and token, or why it cannot be made."""
    lacking = missing(run.card, question.needs, partner=run.partner is not None)
    if lacking:
        return f"Not for {run.card.label}: {lacking[0].value}"
    try:
        return cached_result(run, f"misconception {question.name}", question.see)
    except NotForThisNetwork as error:
        return str(error)


def answers(run: Run, at: int, step: str, done: list[bool]) -> list[int | None]:
    """The right option of each question that has been gone through, and of no other.

    Options are rotated by the question's place, so that the right one is first, second or last.
    """
    results = [
        tried(run, question) if step == "why" and (is_done or place == at) else None
        for place, (question, is_done) in enumerate(zip(QUESTIONS, done, strict=True))
    ]
    return [
        (each.answer - place) % OPTIONS if isinstance(each, Evidence) else None
        for place, each in enumerate(results)
    ]


def filled(text: str, run: Run) -> Sentence:
    """A sentence with d_ff, the number of tokens and the chosen token of the page."""
    text = text.replace("{d_ff}", f"{run.model.sizes.d_ff:,}")
    before, token, after = text.replace("{tokens}", str(len(run.labels))).partition("{token}")
    return [before, quoted(run.labels[run.token]), after] if token else [before]
