"""A small network in training: it can be stopped, kept, gone on with, and saved as a folder."""

import io
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from ffnviz.models.encoder.encoder import Encoder
from ffnviz.models.encoder.folder import CARD, write_folder
from ffnviz.models.encoder.tokenizer import Token
from ffnviz.training.learn.text import MAX_TOKENS, TEXTS, text_read, training_sentences
from ffnviz.training.learn.variants import VARIANTS, Variant, new_encoder
from ffnviz.training.loop import descend, optimiser_of
from ffnviz.training.masking import Batch, Recipe, batch_of_sentences, sentence_batches
from ffnviz.training.validation import validate

SHOWN = 3


@dataclass(frozen=True)
class Neurons:
    """Each block's neurons at one moment."""

    # entries of the vocabulary on which each is largest anywhere in the held-out sentences, the
    # largest first, (n_blocks, d_ff, SHOWN)
    strongest: NDArray[np.int16]
    # cosine of each row of W₁ with what it was at the beginning, (n_blocks, d_ff)
    turned: NDArray[np.float16]


@torch.no_grad()
def keys_of(encoder: Encoder) -> Tensor:
    """A copy of all keys, the rows of W₁, (n_blocks, d_ff, d_model)."""
    return torch.stack([block.ffn.expand.weight for block in encoder.blocks])


@torch.no_grad()
def look_at_neurons(encoder: Encoder, first: Tensor, batches: Sequence[Batch]) -> Neurons:
    """All neurons on batches of sentences, without dropout; `first` are the keys at the start."""
    encoder.eval()
    ids = torch.cat([batch.inputs.flatten() for batch in batches]).numpy()
    records = [encoder.stream(batch.inputs).blocks for batch in batches]
    hidden = [
        torch.cat([record.ffn.hidden.flatten(0, 1) for record in block]).numpy()
        for block in zip(*records, strict=True)
    ]
    turned = F.cosine_similarity(keys_of(encoder), first, dim=-1)
    return Neurons(np.stack([_strongest(ids, each) for each in hidden]), turned.half().numpy())


def _strongest(ids: NDArray[np.int64], hidden: NDArray[np.float32]) -> NDArray[np.int16]:
    """The entries with the largest activations anywhere, (d_ff, SHOWN)."""
    order = np.argsort(ids, kind="stable")
    entries, begins = np.unique(ids[order], return_index=True)
    most = np.maximum.reduceat(hidden[order], begins, axis=0)  # (n_entries, d_ff)
    return entries[np.argsort(-most, axis=0, kind="stable")[:SHOWN].T].astype(np.int16)


@dataclass(frozen=True)
class Sparsity:
    """One block's FFN on the held-out sentences."""

    active: float  # share of the hidden values above zero
    dead: float  # share of the neurons that are above zero on no token


@dataclass(frozen=True)
class HeldOut:
    """A network's results on sentences that it does not train on, one word masked in each."""

    loss: float  # mean cross-entropy, in nats
    top5: float  # share of the words that are among the five likeliest
    blocks: tuple[Sparsity, ...]  # one a block


@dataclass(frozen=True)
class Record:
    """A network after some steps."""

    name: str  # of the variant
    step: int  # steps done
    seconds: float  # of the processor, since it began
    text: str  # the sentence that was watched, with its [MASK]
    tokens: tuple[str, ...]  # that it reads of the sentence, as typed
    words: tuple[str, ...]  # the five likeliest for [MASK]
    probabilities: tuple[float, ...]  # theirs
    held_out: HeldOut  # at the last look
    hidden: NDArray[np.float16] | None  # on the sentence, (n_blocks, T, d_ff), if recorded
    neurons: Neurons | None = None  # if recorded

    def to_dict(self) -> dict[str, Any]:
        """As JSON values, without what differs from run to run."""
        return {
            "step": self.step,
            "loss": self.held_out.loss,
            "top5": self.held_out.top5,
            "blocks": [{"active": b.active, "dead": b.dead} for b in self.held_out.blocks],
            "words": dict(zip(self.words, self.probabilities, strict=True)),
        }


STEPS_A_MINUTE = 3_000  # of one core; fixed, so that a curve depends on no clock
STEPS_A_RECORD = 10
STEPS_A_LOOK = 50  # at the held-out sentences
EARLY = 50  # up to here each record has a look: the loss falls fast
K = 5


@dataclass(frozen=True)
class Plan:
    """What is to be trained, and on what."""

    name: str  # of the variant
    text: str  # a sentence with a [MASK] to watch
    steps: int = STEPS_A_MINUTE  # until the learning rate is zero
    seed: int = 0  # of the initial weights and the batches
    # a text of one's own to train on; the everyday sentences, if empty
    own: str = field(default="", repr=False)
    learning_rate: float = 4e-3  # the highest

    @property
    def variant(self) -> Variant:
        """How the network is built."""
        return VARIANTS[self.name]

    @property
    def recipe(self) -> Recipe:
        """About 64 sentences a step, 25% masked."""
        return Recipe(
            seed=self.seed,
            steps=self.steps,
            batch_tokens=544,
            mask_share=0.25,
            learning_rate=self.learning_rate,
            weight_decay=0.01,
            warmup_steps=max(min(50, self.steps), self.steps // 60),
        )


@dataclass(frozen=True)
class _Look:
    """A network's results on the held-out sentences after so many steps."""

    step: int
    held_out: HeldOut
    neurons: Neurons


class Learner:
    """A network on its way through a plan. It can be pickled between two steps."""

    def __init__(self, plan: Plan) -> None:
        tokenizer, _ = text_read(plan.own)
        self.plan = plan
        self.step = 0
        self.tokens = 0  # read so far
        self.seconds = 0.0
        self.encoder = new_encoder(plan.variant, tokenizer.vocab_size, plan.seed)
        self.optimiser = optimiser_of(self.encoder, plan.recipe)
        self._first_keys = keys_of(self.encoder)
        self._last_look: _Look | None = None

    def watch(self, text: str) -> Record:
        """Watch another sentence from now on, and record it now.

        Raises ValueError if no word is hidden in it, and then keeps to the one before.
        """
        before = self.plan
        self.plan = replace(before, text=text)
        try:
            return self._new_record()
        except ValueError:
            self.plan = before
            raise

    def learn(self, steps: int | None = None) -> Iterator[Record]:
        """Train for some steps, or to the end of the plan, and yield records on the way.

        The first record is of the network as it is, the last after the last step.
        """
        last = self.plan.steps if steps is None else min(self.plan.steps, self.step + steps)
        if self.step == 0:
            yield self._new_record()
        while self.step < last:
            with self._timed():
                self.take_step()
            if self.step % STEPS_A_RECORD == 0 or self.step == last:
                yield self._new_record()

    def take_step(self) -> None:
        """Train on one more batch, and record nothing."""
        recipe = self.plan.recipe
        tokenizer, _ = text_read(self.plan.own)
        sentences = training_sentences(self.plan.variant.sentences, self.plan.own)
        rng = np.random.default_rng([recipe.seed, self.step])
        batch = batch_of_sentences(rng, sentences, recipe, tokenizer.mask_id)
        if self.plan.variant.dropout:
            torch.manual_seed(recipe.seed + self.step)
        self.encoder.train()
        record = self.encoder.stream(batch.inputs)
        loss = F.cross_entropy(self.encoder.unembed(record.final[batch.masked]), batch.targets)
        descend(self.encoder, self.optimiser, loss, recipe, self.step)
        self.step += 1
        self.tokens += batch.inputs.numel()

    @torch.no_grad()
    def _new_record(self) -> Record:
        plan, encoder = self.plan, self.encoder
        looks = self.step <= EARLY or self.step % STEPS_A_LOOK == 0 or self.step == plan.steps
        with self._timed():
            # A look depends on no text: watching another one needs no new look.
            if self._last_look is None or (looks and self._last_look.step != self.step):
                self._last_look = self._look()
            tokenizer, _ = text_read(plan.own)
            tokens = _around_hidden(tokenizer.encode(plan.text).tokens, tokenizer.mask_id)
            ids = [token.id for token in tokens]
            place = ids.index(tokenizer.mask_id)
            encoder.eval()
            record = encoder.stream(torch.tensor(ids))
            chances = encoder.unembed(record.final[place]).softmax(-1)
            chances[tokenizer.mask_id] = 0
            best = chances.topk(K)
            hidden = torch.stack([block.ffn.hidden for block in record.blocks]).half().numpy()
            return Record(
                plan.name,
                self.step,
                self.seconds,
                plan.text,
                tuple(token.text.strip() for token in tokens),
                tuple(tokenizer.label(i) for i in best.indices.tolist()),
                tuple(best.values.tolist()),
                self._last_look.held_out,
                hidden if looks else None,
                self._last_look.neurons if looks else None,
            )

    def _look(self) -> _Look:
        batches = _held_out(self.plan.own)
        point = validate(self.encoder, batches)
        blocks = tuple(Sparsity(block.active, block.never_active) for block in point.blocks)
        neurons = look_at_neurons(self.encoder, self._first_keys, batches)
        return _Look(self.step, HeldOut(point.loss, point.top5, blocks), neurons)

    @contextmanager
    def _timed(self) -> Iterator[None]:
        """One thread: the order of sums, and so the curve, is then the same everywhere."""
        before, began = torch.get_num_threads(), time.process_time()
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(before)
            self.seconds += time.process_time() - began


@dataclass(frozen=True)
class Guessing:
    """The result of guessing by frequency alone on the held-out sentences."""

    loss: float  # in nats
    top5: float  # share of the words among the five commonest


@lru_cache(maxsize=TEXTS)
def guessing_by_frequency(own: str = "") -> Guessing:
    """The result of guessing each word as often as it is in the sentences to train on."""
    tokenizer, sentences = text_read(own)
    ids = sentences.training_ids
    counts = np.bincount(ids[sentences.words[ids]], minlength=tokenizer.vocab_size) + 1
    targets = torch.cat([batch.targets for batch in _held_out(own)]).numpy()
    likeliest = np.argsort(-counts, kind="stable")[:K]
    loss = -np.log(counts / counts.sum())[targets].mean()
    return Guessing(float(loss), float(np.isin(targets, likeliest).mean()))


@lru_cache(maxsize=TEXTS)
def _held_out(own: str) -> list[Batch]:
    # The same words are hidden whatever the seed, so that seeds can be compared.
    tokenizer, sentences = text_read(own)
    return sentence_batches(sentences, Recipe(), tokenizer.mask_id)


def _around_hidden(tokens: Sequence[Token], mask_id: int) -> Sequence[Token]:
    """As many tokens around the first [MASK] as the network reads."""
    ids = [token.id for token in tokens]
    if mask_id not in ids:
        raise ValueError("No word is hidden in the sentence: one must be [MASK].")
    first = max(0, min(ids.index(mask_id) - MAX_TOKENS // 2, len(ids) - MAX_TOKENS))
    return tokens[first : first + MAX_TOKENS]


def save(learner: Learner, folder: Path) -> None:
    """Write the network as a model folder; raises ValueError for a variant that none can hold."""
    if not learner.plan.variant.can_be_saved:
        raise ValueError(f"A network with “{learner.plan.variant.label}” cannot be saved.")
    tokenizer, sentences = text_read(learner.plan.own)
    counts = np.bincount(sentences.training_ids, minlength=tokenizer.vocab_size)
    card = _card(learner)
    write_folder(folder, learner.encoder, tokenizer, counts.tolist(), lambda _: {CARD: card})


def zipped(learners: Sequence[Learner]) -> bytes:
    """The model folders of those that can be saved, as one ZIP file; empty if none can."""
    savable = [learner for learner in learners if learner.plan.variant.can_be_saved]
    if not savable:
        return b""
    packed = io.BytesIO()
    with TemporaryDirectory() as temporary, ZipFile(packed, "w", ZIP_DEFLATED) as file:
        for learner in savable:
            plan = learner.plan
            name = f"learned-{plan.name}-seed-{plan.seed}-step-{learner.step}"
            save(learner, Path(temporary) / name)
            for path in sorted((Path(temporary) / name).iterdir()):
                file.write(path, f"{name}/{path.name}")
    return packed.getvalue()


EVERYDAY = "everyday sentences of Tatoeba (https://tatoeba.org), CC BY 2.0 FR"


def _card(learner: Learner) -> str:
    plan, recipe = learner.plan, learner.plan.recipe
    return f"""# A small network ({plan.variant.label})

Trained by ffnviz for {learner.step:,} of {plan.steps:,} steps, of {recipe.batch_tokens} tokens each, with
AdamW at {recipe.learning_rate:g} and {recipe.mask_share:.0%} of the words masked, from seed {plan.seed}.

Data: {"a text of its owner's" if plan.own else EVERYDAY}. It knows nothing else, and what
it fills in is not a statement of fact.
"""  # noqa: E501
