"""Claims with their verdicts, bets on what will be seen, and votes; alone or with a class."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ffnviz.pictures.cell import Cell, Head, entry, event, one_of, place, to_data
from ffnviz.pictures.wording import Sentence, to_spans

FIRST_BET = 9_500  # bets of a class lie beyond its votes on scenes and on misconceptions


@dataclass(frozen=True, kw_only=True)
class Bet:
    """What is bet on, the options, and whether the bet was won."""

    ask: str  # the question
    options: Sequence[str]  # to choose from
    bet: int | None  # one's own, as the place of an option; None if none is placed
    scene: int  # the question's own number, among all that a class votes and bets on
    begun: bool  # whether it is being tried, so that a class sees what it has bet
    outcome: int | None  # which option has won; None if that is not known yet
    on_bet: Callable[[int], Any]  # gives the action for the place of an option

    def to_cell(self, key: str) -> Cell:
        """On a sheet, where `key` is unique."""
        placed = event(self.on_bet, place, len(self.options))
        return Cell("bet", key, to_data(self), events={"bet": placed})


STEPS = ("ask", "see", "why")  # the first vote, the experiment and the second vote, the reason
OPTIONS = 3
FIRST_QUESTION = 9_000  # votes of a class on these lie beyond those on any lecture's scenes


@dataclass(frozen=True)
class Experiment:
    """What was seen."""

    did: Sentence  # what was done
    # name, number in words, and a share from 0 to 1; None draws nothing
    rows: Sequence[tuple[str, str, float | None]]


@dataclass(frozen=True)
class VoteQuestion:
    """A question."""

    at: int  # its place among all, from 0
    ask: Sentence  # the question
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
    question: VoteQuestion,  # the one that is shown
    believed: Sequence[str],  # the misconceptions, one a question
    votes: Sequence[tuple[int | None, int | None]],  # one's own two votes on each
    # gives the action for the place of a question and a step of it
    on_step: Callable[[int, str], Any],
    # gives the action for an option: 0 is the first vote, 1 the second
    on_vote: Callable[[int, int], Any],
    on_lead: Callable[[], Any],  # gives the action for looking further
) -> Cell:
    """The question, and the votes on all of them."""

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
        "votes": to_data(votes),
        "scene": FIRST_QUESTION,
    }
    events = {"step": stepped, "vote": voted, "lead": lambda _: on_lead()}
    return Cell("vote_question", key, data, events=events)


@dataclass(frozen=True)
class Claim:
    """One claim."""

    claim: str  # what is said
    kind: str  # "holds", "constructed", "only if", "fails" or "undecided"; its colour
    sign: str  # one character for it
    verdict: str  # in words, with what limits it
    expected: str  # what one sees if it is true
    measured: str  # what was seen
    check: str  # the number against its tolerance
    said: str = ""  # by whom, for the file
    limits: str = ""  # the end of the verdict, which says no more than when or where it is so
    label: str = ""  # what stands before the claim: where one reads it, or that it is often thought


def verdicts_cell(
    head: Head,
    # a title, empty if there is none, and its claims
    groups: Sequence[tuple[str, Sequence[Claim]]],
    key: str,
    dense: bool = False,  # verdict and measurement in one line, without the test
    # gives the action for a group's number, when one asks to be led there
    on_choose: Callable[[int], Any] | None = None,
) -> Cell:
    """Claims with their verdicts."""
    data = {"groups": to_data(groups), "dense": dense, "head": head.to_json()}
    events = {} if on_choose is None else {"group": event(on_choose, place, len(groups))}
    return Cell("verdicts", key, data, events=events)
