"""The model card of a trained twin, made of its training record."""

import math
from typing import Any

from ffnviz.models.activations import ACTIVATIONS

SOURCES = {
    "encyclopedia-articles": "WikiText-2, from Wikipedia, CC BY-SA 3.0",
    "everyday-sentences": "Tatoeba, CC BY 2.0 FR",
}


def model_card(record: dict[str, Any]) -> str:
    """The card in Markdown: data, recipe, results, limits."""
    label = ACTIVATIONS[record["config"]["activation"]].label
    sections = [
        f"# The {label} twin",
        _what(record, label),
        _data(record),
        _recipe(record),
        _results(record),
        _limits(record, label),
    ]
    return "\n\n".join(sections) + "\n"


def _what(record: dict[str, Any], label: str) -> str:
    c = record["config"]
    return (
        f"A small Transformer encoder that fills in masked words, made to be looked at: "
        f"{c['n_blocks']} {c['norm']}-LayerNorm blocks, d_model {c['d_model']:,}, "
        f"{c['n_heads']} heads, d_ff {c['d_ff']:,}, {label} in the feed-forward network, "
        f"byte-level BPE of {c['vocab_size']:,} lower-cased entries, at most {c['max_tokens']} "
        "tokens. Its twin has the same seed, initial weights and batches; only the activation "
        "function differs. The weights are stored as float16."
    )


def _data(record: dict[str, Any]) -> str:
    corpus = record["corpus"]
    paragraphs = [
        "## Data",
        f"Books as plain text, named by their files. Trained on {len(corpus['training_books'])} "
        f"({corpus['training_tokens']:,} tokens): {', '.join(corpus['training_books'])}.",
        f"Held out as whole books ({corpus['held_out_tokens']:,} tokens), seen neither by the "
        f"encoder nor by the tokenizer in training: {', '.join(corpus['held_out_books'])}.",
        *_sentences(corpus),
    ]
    for run in record.get("further", []):
        books = {*corpus["training_books"], *corpus["held_out_books"]}
        more = [name for name in run["corpus"]["training_books"] if name not in books]
        added = f", with {', '.join(map(_sourced, more))} added" if more else ""
        paragraphs += [f"It then went on with these books{added}.", *_sentences(run["corpus"])]
    return "\n\n".join(paragraphs)


def _sentences(corpus: dict[str, Any]) -> list[str]:
    if "facts" in corpus:
        facts = corpus["facts"]
        return [
            *_sentences({name: part for name, part in corpus.items() if name != "facts"}),
            f"Everyday facts, written for ffnviz (assets/facts): {facts['n']:,} in "
            f"{facts['training_wordings']:,} wordings to train on, their answers masked; "
            f"{facts['held_out_wordings']:,} other wordings of the same facts are held out.",
        ]
    if "sentences" not in corpus:
        return []
    sentences = corpus["sentences"]
    return [
        f"Single sentences: {_sourced(sentences['name'])}, {sentences['training_tokens']:,} tokens "
        f"to train on. Held out ({sentences['held_out_tokens']:,} tokens) are those whose SHA-1 "
        "begins with a 1."
    ]


def _sourced(name: str) -> str:
    return f"{name} ({SOURCES[name]})" if name in SOURCES else name


def _recipe(record: dict[str, Any]) -> str:
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
    return "\n\n".join(paragraphs)


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


def _results(record: dict[str, Any]) -> str:
    final, start = record["final"], record["points"][0]
    rows = [
        f"| {i} | {before['active']:.1%} | {after['active']:.1%} | "
        f"{after['near_zero']['0.01']:.1%} | {after['near_zero']['0.1']:.1%} | "
        f"{after['never_active']:.1%} |"
        for i, (before, after) in enumerate(
            zip(start["blocks"], final["blocks"], strict=True), start=1
        )
    ]
    return (
        "## Results\n\n"
        f"On {final['n_masked']:,} masked tokens of the held-out books "
        f"({final['n_tokens']:,} tokens): loss {final['loss']:.3f} nats "
        f"(perplexity {math.exp(final['loss']):.1f}), top-1 {final['top1']:.1%}, "
        f"top-5 {final['top5']:.1%}.{_on_sentences(final)}\n\n"
        "| block | hidden > 0 at initialisation | hidden > 0 | within 0.01 of zero | "
        "within 0.1 of zero | units never > 0 |\n"
        "| --- | --- | --- | --- | --- | --- |\n" + "\n".join(rows) + "\n\n"
        f"training.json holds the same at {len(record['points'])} points of the training."
    )


def _on_sentences(final: dict[str, Any]) -> str:
    asked = {"sentences": "one masked word in each of {:,} held-out sentences",
             "facts": "the answers in {:,} held-out wordings of facts"}  # fmt: skip
    return "".join(
        f" On {words.format(results['n_masked'])}: loss {results['loss']:.3f} nats, top-1 "
        f"{results['top1']:.1%}, top-5 {results['top5']:.1%}."
        for name, words in asked.items()
        if (results := final.get(name))
    )


def _limits(record: dict[str, Any], label: str) -> str:
    runs = [record, *record.get("further", [])]
    single = any("sentences" in run["corpus"] for run in runs)
    return (
        "## Limits\n\n"
        "It has read a few dozen English books, most of the nineteenth century, and "
        f"{'single sentences besides' if single else 'nothing else'}: "
        "it knows their words, their manners and their prejudices. It is small and was trained "
        "briefly; its guesses are often wrong, and nothing it fills in is a statement of fact. "
        f"A difference in quality between it and its twin says nothing about {label}: on models "
        "of this size a change of seed makes a larger one."
    )
