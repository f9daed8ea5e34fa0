"""From a folder of books to a finished model folder: vocabulary, training, record, card."""

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ffnviz.models.encoder.atomic import replace_file
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.encoder import Encoder
from ffnviz.models.encoder.folder import (
    CARD,
    TRAINING,
    ModelFolderError,
    read_folder,
    write_folder,
)
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.training.card import model_card
from ffnviz.training.corpus import Corpus, CorpusError, encode_corpus, read_books, split_books
from ffnviz.training.hardware import hardware
from ffnviz.training.loop import Progress, train
from ffnviz.training.masking import other_batches, validation_batches
from ffnviz.training.recipe import Recipe
from ffnviz.training.validation import look
from ffnviz.training.vocabulary import train_tokenizer


def prepare(
    corpus_folder: Path,
    recipe: Recipe,
    vocab_size: int,
    work: Path,
    tokenizer: Tokenizer | None = None,
) -> tuple[Tokenizer, Corpus]:
    """The tokenizer, if not given read from `work` or trained on the books, and the corpus.

    Raises:
        CorpusError: if the folder cannot be trained on, or the tokenizer in `work` does not fit.
        OSError: if the tokenizer cannot be written to `work`.
    """
    training, validation = split_books(read_books(corpus_folder), recipe.held_out)
    kept = work / "tokenizer.json"
    if tokenizer is None and kept.exists():
        tokenizer = _kept_tokenizer(kept, vocab_size)
    if tokenizer is None:
        lines = (line for book in training for line in book.paragraphs)
        tokenizer = train_tokenizer(lines, vocab_size)
        if tokenizer.vocab_size != vocab_size:
            raise CorpusError(
                f"the training books give a vocabulary of {tokenizer.vocab_size:,} entries only, "
                f"{vocab_size:,} are needed: add more text."
            )
        replace_file(kept, tokenizer.to_json())
    return tokenizer, encode_corpus(training, validation, tokenizer)


def _kept_tokenizer(path: Path, vocab_size: int) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_json(path.read_bytes())
    except OSError as error:
        raise CorpusError(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise CorpusError(f"{path}: {error}. Remove it to train a new one.") from error
    if tokenizer.vocab_size != vocab_size:
        raise CorpusError(
            f"{path} has {tokenizer.vocab_size:,} entries, {vocab_size:,} are needed. "
            "Remove it to train a new one."
        )
    return tokenizer


@dataclass(frozen=True)
class Earlier:
    """A finished training to continue."""

    encoder: Encoder
    tokenizer: Tokenizer
    record: dict[str, Any]


def read_earlier(folder: Path) -> Earlier:
    """A trained model folder, to continue its training.

    Raises:
        ModelFolderError: if it cannot be read, or has no record of its training.
    """
    encoder, tokenizer, _ = read_folder(folder)
    try:
        record = json.loads((folder / TRAINING).read_bytes())
        model_card(continued(record, record))  # which read all that will be needed of it
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        why = "it is no record of a training, which is needed to go on from it"
        raise ModelFolderError(folder / TRAINING, why) from error
    return Earlier(encoder, tokenizer, record)


def continued(record: dict[str, Any], run: dict[str, Any]) -> dict[str, Any]:
    """The record of a training with a further run in it.

    Its points go on counting steps and tokens. The run's first point has the weights of the last
    one, and adds what was not measured there. The run's other facts follow under “further”;
    tokens seen are those of all runs.
    """
    *points, last = record["points"]
    first, *others = run["points"]
    others = [
        {**point, **{key: point[key] + last[key] for key in ("step", "tokens")}} for point in others
    ]
    return {
        **record,
        "tokens_seen": record["tokens_seen"] + run["tokens_seen"],
        "points": [*points, {**first, **last}, *others],
        "further": [
            *record.get("further", []),
            {key: value for key, value in run.items() if key != "points"},
        ],
    }


def make_twin(
    config: EncoderConfig,
    recipe: Recipe,
    tokenizer: Tokenizer,
    corpus: Corpus,
    checkpoint: Path,
    out: Path,
    device: torch.device,
    report: Callable[[Progress], None],
    earlier: Earlier | None = None,
    kept: float = 0.0,
) -> dict[str, Any]:
    """Train, measure what will be written on all held-out tokens, and write the model folder.

    Returns the training record, which is also written as training.json; with an earlier training,
    that one's record with this run in it.

    Args:
        config: of the network.
        recipe: of the training.
        tokenizer: that encoded the corpus.
        corpus: to train on, and held out.
        checkpoint: the file from which an interrupted run goes on.
        out: the model folder to write.
        device: that trains.
        report: called now and then.
        earlier: a finished training to continue.
        kept: the share of the earlier weights in what is written: (1 − kept) of the weights at the
            end, and kept of those at the beginning (Wortsman et al. 2022, “Robust fine-tuning of
            zero-shot models”), so that less of the earlier training is forgotten.

    Raises:
        CheckpointError: if the checkpoint cannot be gone on from.
        ModelFolderError: if `out` holds what is no part of a model.
        OSError: if the checkpoint or the folder cannot be written.
    """
    mask_id = tokenizer.mask_id
    begin_with = earlier.encoder if earlier else None
    before = copy.deepcopy(begin_with.state_dict()) if begin_with else {}
    result = train(config, recipe, corpus, mask_id, checkpoint, device, report, begin_with)
    counts = np.bincount(corpus.training, minlength=config.vocab_size)
    if corpus.sentences:
        counts += np.bincount(corpus.sentences.training_ids, minlength=config.vocab_size)
    books = validation_batches(corpus.validation, recipe, mask_id, config.max_tokens, None)
    others = other_batches(corpus, recipe, mask_id)
    record = {
        "recipe": recipe.to_dict(),
        "corpus": corpus.to_dict(),
        "hardware": hardware(device),
        "tokens_seen": result.tokens,
        "seconds": round(result.seconds),
        "points": result.points,
    }
    if before and kept:
        record["kept"] = kept
        after = result.encoder.state_dict()
        mixed = {name: torch.lerp(after[name], before[name].to(device), kept) for name in before}
        result.encoder.load_state_dict(mixed)
    if earlier:
        record = continued(earlier.record, record)
    else:
        record = {"config": config.to_dict(), **record}

    def describe(shipped: Encoder) -> dict[str, str]:  # the float16 weights a reader will load
        final = look(shipped.to(device), books, others, units=True)
        record["final"] = {"tokens": record["tokens_seen"], **final}
        return {TRAINING: json.dumps(record, indent=1) + "\n", CARD: model_card(record)}

    write_folder(out, result.encoder, tokenizer, counts.tolist(), describe)
    return record
