"""Is a name for a neuron any good? It must say where the neuron fires on sentences not seen yet."""

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
    """A sentence or a word of one: what a name is to say "it fires here" about."""

    text: str
    sentence: int


@dataclass(frozen=True)
class Score:
    """How well a guess says where a neuron fires."""

    guessed: int  # places the guess names
    fired: int  # places where it fires
    both: int  # places that are both
    n: int  # all places
    missed: tuple[Unit, ...]  # some where it fires and the guess does not say so
    wrong: tuple[Unit, ...]  # some that the guess names and where it does not fire

    @property
    def precision(self) -> float | None:
        """Share of the places named at which it fires; None if none is named."""
        return self.both / self.guessed if self.guessed else None

    @property
    def recall(self) -> float | None:
        """Share of the places where it fires that are named; None if it fires nowhere."""
        return self.both / self.fired if self.fired else None

    @property
    def chance(self) -> float:
        """The precision of naming places blindly."""
        return self.fired / self.n


@dataclass(frozen=True)
class ProbeInputs:
    """What the FFNs read on a set of sentences, from which any neuron is soon computed.

    Attributes:
        inputs: one tensor a block, all tokens one after the other, (n_tokens, d_model).
        words: all words of all sentences.
        word_of_token: the place in `words` of each token's word, (n_tokens,).
        tags: of each sentence.
        n_sentences: how many.
    """

    inputs: tuple[Tensor, ...]
    words: tuple[Unit, ...]
    word_of_token: NDArray[np.int64]
    tags: tuple[tuple[str, ...], ...]
    sentences: tuple[str, ...]


@torch.inference_mode()
def probe_inputs(model: Network, probes: Sequence[Probe]) -> ProbeInputs:
    """One pass over the sentences."""
    max_tokens = model.sizes.max_tokens
    inputs: list[list[Tensor]] = [[] for _ in range(model.sizes.n_blocks)]
    words: list[Unit] = []
    word_of_token: list[int] = []
    seen: list[Probe] = []
    for batch in batches(probes, model.tokenizer, max_tokens):
        for kept, block in zip(inputs, model.walk(batch.ids.to(model.device)), strict=True):
            kept.append(block.ffn.input.flatten(0, 1))
        for probe in batch.probes:
            matches = list(WORD.finditer(probe.text))
            ends = [match.end() for match in matches]
            for token in model.tokenizer.encode(probe.text, max_tokens).tokens:
                # A token belongs to the word in which it ends; a blank, to the word behind it.
                place = int(np.searchsorted(ends, token.end))
                word_of_token.append(len(words) + min(place, len(matches) - 1))
            words += [Unit(match.group(), len(seen)) for match in matches]
            seen.append(probe)
    return ProbeInputs(
        tuple(torch.cat(kept) for kept in inputs), tuple(words), np.array(word_of_token),
        tuple(probe.tags for probe in seen), tuple(probe.text for probe in seen),
    )  # fmt: skip


@torch.inference_mode()
def word_values(model: Network, read: ProbeInputs, block: int, neuron: int) -> NDArray[np.float32]:
    """How far from zero a neuron is on each word: the furthest on its tokens, (n_words,)."""
    hidden = model.ffn(block).neuron(read.inputs[block], neuron)
    sizes = np.zeros(len(read.words), np.float32)
    np.maximum.at(sizes, read.word_of_token, hidden.float().abs().cpu().numpy())
    return sizes


def score_tag(
    read: ProbeInputs, sizes: NDArray[np.floating], level: float, tag: str, k: int = 5
) -> Score:
    """A tag as the guess: it fires, beyond `level`, in the sentences of that tag."""
    strongest = np.zeros(len(read.sentences))
    np.maximum.at(strongest, [word.sentence for word in read.words], sizes)
    units = [Unit(text, number) for number, text in enumerate(read.sentences)]
    guessed = np.array([tag in tags for tags in read.tags])
    return _score(units, guessed, active(strongest, level), k)


def score_words(
    read: ProbeInputs,
    sizes: NDArray[np.floating],
    level: float,
    words: Collection[str],
    k: int = 5,
) -> Score:
    """A list of words as the guess: it fires, beyond `level`, on these words."""
    wanted = {as_read(word).lower() for word in words}
    guessed = np.array([as_read(word.text).lower() in wanted for word in read.words])
    return _score(read.words, guessed, active(sizes, level), k)


def _score(
    units: Sequence[Unit], guessed: NDArray[np.bool_], fired: NDArray[np.bool_], k: int
) -> Score:
    missed, wrong = np.flatnonzero(fired & ~guessed), np.flatnonzero(guessed & ~fired)
    return Score(
        int(guessed.sum()), int(fired.sum()), int((guessed & fired).sum()), len(units),
        tuple(units[place] for place in missed[:k]), tuple(units[place] for place in wrong[:k]),
    )  # fmt: skip
