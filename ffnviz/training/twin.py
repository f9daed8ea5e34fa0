"""From a folder of books to a finished model folder: vocabulary, training, record, card."""

import copy
import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers, trainers
from tokenizers import Tokenizer as BytePairTokenizer

from ffnviz.models.activations import ACTIVATIONS
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
from ffnviz.models.encoder.tokenizer import MASK, Tokenizer
from ffnviz.training.corpus import Corpus, CorpusError, encode_corpus, read_books, split_books
from ffnviz.training.loop import Progress, hardware, train
from ffnviz.training.masking import Recipe, other_batches, validation_batches
from ffnviz.training.validation import look


def train_tokenizer(lines: Iterable[str], vocab_size: int) -> Tokenizer:
    """A byte-level BPE tokenizer of paragraphs, with [MASK] as id 0.

    `vocab_size` counts all entries, among them [MASK] and the 256 bytes.
    """
    # lstrip: a typed "the [MASK]" then reads as in training, where [MASK] stands for " mat",
    # its space included. normalized: also [mask] is found, the text being lower-cased by then.
    mask = AddedToken(MASK, special=True, lstrip=True, normalized=True)
    bpe = BytePairTokenizer(models.BPE())
    bpe.normalizer = normalizers.Lowercase()
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=[mask],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator((" " + line for line in lines), trainer)
    return Tokenizer(bpe)


SOURCES = {
    "encyclopedia-articles": "WikiText-2, from Wikipedia, CC BY-SA 3.0",
    "everyday-sentences": "Tatoeba, CC BY 2.0 FR",
}


def model_card(record: dict[str, Any]) -> str:
    """The card in Markdown: data, recipe, results, limits."""
    config = record["config"]
    label = ACTIVATIONS[config["activation"]].label
    runs = [record, *record.get("further", [])]
    names = {"sentences": "single sentences", "facts": "everyday facts"}
    besides = [words for name, words in names.items() if any(name in run["corpus"] for run in runs)]
    paragraphs = [
        f"# The {label} twin",
        f"A small Transformer encoder that fills in masked words, made to be looked at: "
        f"{config['n_blocks']} {config['norm']}-LayerNorm blocks, d_model {config['d_model']:,}, "
        f"{config['n_heads']} heads, d_ff {config['d_ff']:,}, {label} in the feed-forward "
        f"network, byte-level BPE of {config['vocab_size']:,} lower-cased entries, at most "
        f"{config['max_tokens']} tokens. Its twin has the same seed, initial weights and "
        "batches; only the activation function differs. The weights are stored as float16.",
        *_data(record),
        *_recipe(record),
        *_results(record),
        "## Limits",
        "It has read a few dozen English books, most of them from the nineteenth century, and "
        f"{' and '.join(besides) + ' besides' if besides else 'nothing else'}: "
        "it knows their words, their manners and their prejudices. It is small and was trained "
        "briefly; its guesses are often wrong, and nothing it fills in is a statement of fact. "
        f"A difference in quality between it and its twin says nothing about {label}: on models "
        "of this size a change of seed makes a larger one.",
    ]
    return "\n\n".join(paragraphs) + "\n"


def _data(record: dict[str, Any]) -> list[str]:
    corpus = record["corpus"]
    paragraphs = [
        "## Data",
        f"Books as plain text, named by their files. Trained on {len(corpus['training_books'])} "
        f"({corpus['training_tokens']:,} tokens): {', '.join(corpus['training_books'])}.",
        f"Held out as whole books ({corpus['held_out_tokens']:,} tokens), seen neither by the "
        f"encoder nor by the tokenizer in training: {', '.join(corpus['held_out_books'])}.",
        *_beside_the_books(corpus),
    ]
    for run in record.get("further", []):
        books = {*corpus["training_books"], *corpus["held_out_books"]}
        more = [name for name in run["corpus"]["training_books"] if name not in books]
        added = f", with {', '.join(map(_sourced, more))} added" if more else ""
        paragraphs += [
            f"It then went on with these books{added}.",
            *_beside_the_books(run["corpus"]),
        ]
    return paragraphs


def _beside_the_books(corpus: dict[str, Any]) -> list[str]:
    """What is trained on besides the books, a paragraph each."""
    paragraphs = []
    if "sentences" in corpus:
        sentences = corpus["sentences"]
        paragraphs.append(
            f"Single sentences: {_sourced(sentences['name'])}, "
            f"{sentences['training_tokens']:,} tokens to train on. Those whose SHA-1 begins with "
            f"a 1 are held out ({sentences['held_out_tokens']:,} tokens)."
        )
    if "facts" in corpus:
        facts = corpus["facts"]
        paragraphs.append(
            f"Everyday facts, written for ffnviz (assets/facts): {facts['n']:,} in "
            f"{facts['training_wordings']:,} wordings to train on, their answers masked; "
            f"{facts['held_out_wordings']:,} other wordings of the same facts are held out."
        )
    return paragraphs


def _sourced(name: str) -> str:
    return f"{name} ({SOURCES[name]})" if name in SOURCES else name


def _recipe(record: dict[str, Any]) -> list[str]:
    further = record.get("further", [])
    first = record["tokens_seen"] - sum(run["tokens_seen"] for run in further)
    paragraphs = ["## Recipe", *_run({**record, "tokens_seen": first}, record["config"])]
    for run in further:
        paragraphs += ["Further training, which began with the weights of the above:"]
        paragraphs += _run(run, record["config"])
        if run.get("kept"):
            paragraphs += [
                f"The weights are the mean of those at its end ({1 - run['kept']:.0%}) and at its "
                f"beginning ({run['kept']:.0%}), as in Wortsman et al. 2022 (arXiv:2109.01903)."
            ]
    return paragraphs


def _run(run: dict[str, Any], config: dict[str, Any]) -> list[str]:
    r = run["recipe"]
    share, of_facts = r.get("sentence_share", 0), r.get("fact_share", 0)
    of_sentences = f" {of_facts:.0%} of the steps are facts;" if of_facts else ""
    if share:
        others = "others" if of_facts else "steps"
        of_sentences += f" {share:.0%} of the {others} are single sentences of one length;"
    return [
        f"{run['tokens_seen']:,} tokens seen in {r['steps']:,} steps of about "
        f"{r['batch_tokens']:,};{of_sentences} half the {'other ' if of_sentences else ''}steps "
        f"with sequences of {r['usual_length']} tokens, the others of 6 to {config['max_tokens']}. "
        f"{r['mask_share']:.0%} of the tokens masked; in {r['end_share']:.0%} of the sequences "
        f"only the last one. AdamW, learning rate {r['learning_rate']:g} (warm-up "
        f"{r['warmup_steps']} steps, cosine to 0), weight decay {r['weight_decay']:g}, "
        f"β = {r['betas'][0]:g}, {r['betas'][1]:g}, gradient norm clipped at {r['clip']:g}, "
        f"dropout {config['dropout']:g}, seed {r['seed']}.",
        f"Hardware: {run['hardware']}. Time: {run['seconds'] / 60:.0f} minutes.",
    ]


def _results(record: dict[str, Any]) -> list[str]:
    final, start = record["final"], record["points"][0]
    asked = {
        "sentences": "one masked word in each of {:,} held-out sentences",
        "facts": "the answers in {:,} held-out wordings of facts",
    }
    besides = ""
    for name, words in asked.items():
        if name in final:
            results = final[name]
            besides += (
                f" On {words.format(results['n_masked'])}: loss {results['loss']:.3f} nats, "
                f"top-1 {results['top1']:.1%}, top-5 {results['top5']:.1%}."
            )
    rows = [
        f"| {i} | {before['active']:.1%} | {after['active']:.1%} | "
        f"{after['near_zero']['0.01']:.1%} | {after['near_zero']['0.1']:.1%} | "
        f"{after['never_active']:.1%} |"
        for i, (before, after) in enumerate(
            zip(start["blocks"], final["blocks"], strict=True), start=1
        )
    ]
    return [
        "## Results",
        f"On {final['n_masked']:,} masked tokens of the held-out books "
        f"({final['n_tokens']:,} tokens): loss {final['loss']:.3f} nats "
        f"(perplexity {math.exp(final['loss']):.1f}), top-1 {final['top1']:.1%}, "
        f"top-5 {final['top5']:.1%}.{besides}",
        "| block | hidden > 0 at initialisation | hidden > 0 | within 0.01 of zero | "
        "within 0.1 of zero | neurons never > 0 |\n"
        "| --- | --- | --- | --- | --- | --- |\n" + "\n".join(rows),
        f"training.json holds the same at {len(record['points'])} points of the training.",
    ]


def prepare(
    corpus_folder: Path,
    recipe: Recipe,
    vocab_size: int,
    work: Path,
    tokenizer: Tokenizer | None = None,
) -> tuple[Tokenizer, Corpus]:
    """The tokenizer, if not given read from `work` or trained on the books, and the corpus."""
    training, validation = split_books(read_books(corpus_folder), recipe.held_out)
    kept = work / "tokenizer.json"
    if tokenizer is None and kept.exists():
        tokenizer = _kept_tokenizer(kept, vocab_size)
    if tokenizer is None:
        lines = (line for book in training for line in book.paragraphs)
        tokenizer = train_tokenizer(lines, vocab_size)
        if tokenizer.vocab_size != vocab_size:
            raise CorpusError(
                f"the training books give a vocabulary of {tokenizer.vocab_size:,} entries only; "
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
            f"{path} has {tokenizer.vocab_size:,} entries; {vocab_size:,} are needed. "
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
    """A trained model folder, to continue its training; raises ModelFolderError."""
    encoder, tokenizer, _ = read_folder(folder)
    try:
        record = json.loads((folder / TRAINING).read_bytes())
        model_card(continued(record, record))  # which read all that will be needed of it
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        why = "it is not a training record, which is needed to go on from it"
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
    further = {key: value for key, value in run.items() if key != "points"}
    return {
        **record,
        "tokens_seen": record["tokens_seen"] + run["tokens_seen"],
        "points": [*points, {**first, **last}, *others],
        "further": [*record.get("further", []), further],
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

    Returns the training record, which is also written as training.json; where an `earlier` training
    is continued, that one's record with this run in it. `kept` is the share of the earlier weights
    in what is written: (1 − kept) of the weights at the end, and kept of those at the beginning
    (Wortsman et al. 2022, “Robust fine-tuning of zero-shot models”), so that less of the earlier
    training is forgotten.
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
