"""Two sentences aligned token by token, and the two words that tell their answers apart."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.causal.measure import LogitDifference, telling_words, usual_place
from ffnviz.analysis.neurons.compare import pairs
from ffnviz.models.trace import Trace
from ffnviz.parts.neurons.compare import NO_PAIRS, has_mask
from ffnviz.state.run import Run


@dataclass(frozen=True)
class SentencePair:
    """Two aligned sentences, and the measure that tells their answers apart.

    Attributes:
        given: the second sentence, whose activations are taken.
        into: the first, with all its tokens.
        pairs: tokens that correspond, in `given` and in `into`, (n, 2).
        judged: where each answers, in `given` and in `into`.
        measure: logit(word) − logit(instead); the second says `word` rather than `instead`.
    """

    given: Trace
    into: Trace
    pairs: NDArray[np.int64]
    judged: tuple[int, int]
    measure: LogitDifference

    @property
    def words(self) -> tuple[int, int]:
        """The ids of the two words that tell the answers apart."""
        return self.measure.word, self.measure.instead or 0

    def partner(self, token: int) -> int | None:
        """The token of the second sentence that corresponds to one of the first, if one does."""
        return next((given for given, into in self.pairs.tolist() if into == token), None)


def sentence_pair(run: Run, text: str) -> SentencePair | str:
    """The sentence paired with another, or why neither can be patched into the other."""
    if not text:
        return "Type a second sentence, whose activations are put into the first."
    given, into = run.model.trace(text), run.whole
    corresponding = pairs(given.ids.tolist(), into.ids.tolist())
    if not len(corresponding):
        return NO_PAIRS
    if has_mask(run, given) != has_mask(run, into):
        return "One sentence has a [MASK] and the other has none: give both the same question."
    judged = usual_place(run.model, given), usual_place(run.model, into)
    measure = telling_words(given.logits_at(judged[0]), into.logits_at(judged[1]))
    if measure is None:
        return "Both sentences get the same answer: there is no way to go from one to the other."
    return SentencePair(given, into, corresponding, judged, measure)
