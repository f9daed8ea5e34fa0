"""A question that is voted on, seen in an experiment, and voted on again; alone or with a class."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.head import Head, Part, to_spans
from ffnviz.pictures.sent import entry, one_of, place

STEPS = ("ask", "see", "why")  # the first vote, the experiment and the second vote, the reason
OPTIONS = 3
FIRST_OF_CLASS = 9_000  # votes of a class on these lie beyond those on any lecture's scenes


@dataclass(frozen=True)
class Experiment:
    """What was seen."""

    did: Sequence[Part]  # what was done
    # name, number in words, and a share from 0 to 1; None draws nothing
    rows: Sequence[tuple[str, str, float | None]]


@dataclass(frozen=True)
class VoteQuestion:
    """A question."""

    at: int  # its place among all, from 0
    ask: Sequence[Part]  # the question
    options: Sequence[str]  # to choose from
    # which is right, of each question that was asked before too; None if not known
    answers: Sequence[int | None]
    step: str  # one of STEPS
    experiment: Experiment | None  # from the second step on; None if it cannot be made
    missing: str  # why it cannot be made
    why: str  # the reason, in the last step
    leads: str  # what the part is called where it is looked at further


def vote_cell(
    key: str,
    head: Head,
    question: VoteQuestion,
    believed: Sequence[str],
    votes: Sequence[tuple[int | None, int | None]],
    on_step: Callable[[int, str], Any],
    on_vote: Callable[[int, int], Any],
    on_lead: Callable[[], Any],
) -> Cell:
    """The question, and the votes on all of them.

    Args:
        key: unique on the sheet.
        head: above the picture.
        question: the one that is shown.
        believed: the misconceptions, one a question.
        votes: one's own two votes on each.
        on_step: gives the action for the place of a question and a step of it.
        on_vote: gives the action for an option: 0 is the first vote, 1 the second.
        on_lead: gives the action for looking further.
    """

    def stepped(sent: Any) -> Any:
        at, step = place(entry(sent, "at"), len(believed)), one_of(entry(sent, "step"), STEPS)
        return None if at is None or step is None else on_step(at, step)

    def voted(sent: Any) -> Any:
        round_, option = place(entry(sent, "round"), 2), place(entry(sent, "option"), OPTIONS)
        return None if round_ is None or option is None else on_vote(round_, option)

    experiment = question.experiment
    data = {
        **vars(question),
        "head": head.to_json(),
        "ask": to_spans(question.ask),
        "experiment": experiment and {"did": to_spans(experiment.did), "rows": experiment.rows},
        "believed": list(believed),
        "votes": [list(each) for each in votes],
        "scene": FIRST_OF_CLASS,
    }
    return Cell("vote_question", key, data, events={
        "step": stepped, "vote": voted, "lead": lambda _: on_lead()
    })  # fmt: skip
