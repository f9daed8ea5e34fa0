"""From a folder of books to a finished model folder: vocabulary, training, record, card."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ffnviz.models.encoder.atomic import replace_file
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.encoder import Encoder
from ffnviz.models.encoder.folder import CARD, TRAINING, write_folder
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.training.card import model_card
from ffnviz.training.corpus import Corpus, CorpusError, encode_corpus, read_books, split_books
from ffnviz.training.hardware import hardware
from ffnviz.training.loop import Progress, TrainingResult, train
from ffnviz.training.masking import validation_batches
from ffnviz.training.recipe import Recipe
from ffnviz.training.validation import validate
from ffnviz.training.vocabulary import train_tokenizer


def prepare(
    corpus_folder: Path, recipe: Recipe, vocab_size: int, work: Path
) -> tuple[Tokenizer, Corpus]:
    """The tokenizer, trained on the training books unless `work` has it, and the encoded corpus.

    Raises:
        CorpusError: if the folder cannot be trained on, or the tokenizer in `work` does not fit.
        OSError: if the tokenizer cannot be written to `work`.
    """
    training, validation = split_books(read_books(corpus_folder), recipe.held_out)
    kept = work / "tokenizer.json"
    if kept.exists():
        tokenizer = _kept_tokenizer(kept, vocab_size)
    else:
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


def make_twin(
    config: EncoderConfig,
    recipe: Recipe,
    tokenizer: Tokenizer,
    corpus: Corpus,
    checkpoint: Path,
    out: Path,
    device: torch.device,
    report: Callable[[Progress], None],
) -> dict[str, Any]:
    """Train, measure what will be written on all held-out tokens, and write the model folder.

    Returns the training record, which is also written as training.json.

    Raises:
        CheckpointError: if the checkpoint cannot be gone on from.
        ModelFolderError: if `out` holds what is no part of a model.
        OSError: if the checkpoint or the folder cannot be written.
    """
    result = train(config, recipe, corpus, tokenizer.mask_id, checkpoint, device, report)
    counts = np.bincount(corpus.training, minlength=config.vocab_size).tolist()
    batches = validation_batches(
        corpus.validation, recipe, tokenizer.mask_id, config.max_tokens, None
    )
    record = _record(config, recipe, corpus, result, device)

    def describe(shipped: Encoder) -> dict[str, str]:  # the float16 weights a reader will load
        final = validate(shipped.to(device), batches)
        record["final"] = {"tokens": result.tokens, **final.to_dict(units=True)}
        return {TRAINING: json.dumps(record, indent=1) + "\n", CARD: model_card(record)}

    write_folder(out, result.encoder, tokenizer, counts, describe)
    return record


def _record(
    config: EncoderConfig,
    recipe: Recipe,
    corpus: Corpus,
    result: TrainingResult,
    device: torch.device,
) -> dict[str, Any]:
    return {
        "config": config.to_dict(),
        "recipe": recipe.to_dict(),
        "corpus": {
            "training_books": list(corpus.training_books),
            "training_tokens": len(corpus.training),
            "held_out_books": list(corpus.validation_books),
            "held_out_tokens": len(corpus.validation),
        },
        "hardware": hardware(device),
        "tokens_seen": result.tokens,
        "seconds": round(result.seconds),
        "points": result.points,
    }
