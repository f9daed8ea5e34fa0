"""Scoring a guess at what a neuron stands for, by where it fires on unseen sentences."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.needs import Capability
from ffnviz.analysis.neurons.probes import Probe
from ffnviz.analysis.neurons.texts import batches
from ffnviz.analysis.sparsity.awake import active
from ffnviz.models.network import Network
from ffnviz.models.spelling import as_read

NEEDS: tuple[Capability, ...] = ()
WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")


@dataclass(frozen=True)
class Unit:
    """A sentence or a word: what a guess says the neuron fires on, or not."""

    text: str
    sentence: int  # the number of its sentence


@dataclass(frozen=True)
class Score:
    """How well a guess says on which units a neuron fires."""

    guessed: int  # units that the guess names
    fired: int  # units on which the neuron fires
    both: int  # units for which both is true
    n: int  # all units
    missed: tuple[Unit, ...]  # some on which it fires, and which the guess does not name
    wrong: tuple[Unit, ...]  # some that the guess names, and on which it does not fire

    @property
    def precision(self) -> float | None:
        """Share of the guessed units on which it fires; None if none is guessed."""
        return self.both / self.guessed if self.guessed else None

    @property
    def recall(self) -> float | None:
        """Share of the units on which it fires that are guessed; None if it never fires."""
        return self.both / self.fired if self.fired else None

    @property
    def chance(self) -> float:
        """The precision of guessing at random."""
        return self.fired / self.n


@dataclass(frozen=True)
class ProbeInputs:
    """The FFNs' inputs on a set of sentences, from which any neuron is computed fast.

    Attributes:
        inputs: of each block, on all tokens of all sentences, (n_tokens, d_model).
        words: all words of all sentences.
        word_of_token: the index of each token's word in `words`, (n_tokens,).
        tags: of each sentence.
        sentences: their texts.
    """

    inputs: tuple[Tensor, ...]
    words: tuple[Unit, ...]
    word_of_token: NDArray[np.int64]
    tags: tuple[tuple[str, ...], ...]
    sentences: tuple[str, ...]


@torch.no_grad()
def probe_inputs(model: Network, probes: Sequence[Probe]) -> ProbeInputs:
    """Run the network over the sentences once."""
    max_tokens = model.sizes.max_tokens
    inputs: list[list[Tensor]] = [[] for _ in range(model.sizes.n_blocks)]
    words: list[Unit] = []
    word_of_token: list[int] = []
    in_order: list[Probe] = []
    for batch in batches(probes, model.tokenizer, max_tokens):
        for of_block, block in zip(inputs, model.walk(batch.ids.to(model.device)), strict=True):
            of_block.append(block.ffn.input.flatten(0, 1))
        for probe in batch.probes:
            matches = list(WORD.finditer(probe.text))
            ends = [match.end() for match in matches]
            for token in model.tokenizer.encode(probe.text, max_tokens).tokens:
                # A token belongs to the word in which it ends; a blank, to the next word.
                word = int(np.searchsorted(ends, token.end))
                word_of_token.append(len(words) + min(word, len(matches) - 1))
            words += [Unit(match.group(), len(in_order)) for match in matches]
            in_order.append(probe)
    return ProbeInputs(
        tuple(map(torch.cat, inputs)), tuple(words), np.array(word_of_token),
        tuple(probe.tags for probe in in_order), tuple(probe.text for probe in in_order),
    )  # fmt: skip


@torch.no_grad()
def word_values(
    model: Network, probed: ProbeInputs, block: int, neuron: int
) -> NDArray[np.float32]:
    """A neuron's largest |hidden| on the tokens of each word, (n_words,)."""
    hidden = model.ffn(block).neuron(probed.inputs[block], neuron)
    magnitudes = np.zeros(len(probed.words), np.float32)
    np.maximum.at(magnitudes, probed.word_of_token, hidden.float().abs().cpu().numpy())
    return magnitudes


def score_tag(
    probed: ProbeInputs, magnitudes: NDArray[np.floating], level: float, tag: str, k: int = 5
) -> Score:
    """Score the guess that a neuron fires, beyond `level`, in the sentences with a tag."""
    strongest = np.zeros(len(probed.sentences))
    np.maximum.at(strongest, [word.sentence for word in probed.words], magnitudes)
    units = [Unit(text, number) for number, text in enumerate(probed.sentences)]
    guessed = np.array([tag in tags for tags in probed.tags])
    return _score(units, guessed, active(strongest, level), k)


def score_words(
    probed: ProbeInputs,
    magnitudes: NDArray[np.floating],
    level: float,
    words: Collection[str],
    k: int = 5,
) -> Score:
    """Score the guess that a neuron fires, beyond `level`, on a list of words."""
    guess = {as_read(word).lower() for word in words}
    guessed = np.array([as_read(word.text).lower() in guess for word in probed.words])
    return _score(probed.words, guessed, active(magnitudes, level), k)


def _score(
    units: Sequence[Unit], guessed: NDArray[np.bool_], fired: NDArray[np.bool_], k: int
) -> Score:
    missed, wrong = np.flatnonzero(fired & ~guessed), np.flatnonzero(guessed & ~fired)
    return Score(
        int(guessed.sum()), int(fired.sum()), int((guessed & fired).sum()), len(units),
        tuple(units[place] for place in missed[:k]), tuple(units[place] for place in wrong[:k]),
    )  # fmt: skip
