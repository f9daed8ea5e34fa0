"""The model card of a trained twin, written from its training record."""

from typing import Any

from ffnviz.models.activations import ACTIVATIONS


def model_card(record: dict[str, Any]) -> str:
    """The card in Markdown: data, recipe, results, limits."""
    label = ACTIVATIONS[record["config"]["activation"]].label
    return (
        "\n\n".join(
            [
                f"# The {label} twin",
                _what(record, label),
                _data(record),
                _recipe(record),
                _results(record),
                _limits(label),
            ]
        )
        + "\n"
    )


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
    return (
        "## Data\n\n"
        f"Books as plain text, named by their files. Trained on {len(corpus['training_books'])} "
        f"({corpus['training_tokens']:,} tokens): {', '.join(corpus['training_books'])}.\n\n"
        f"Held out as whole books ({corpus['held_out_tokens']:,} tokens), seen neither by the "
        f"encoder nor by the tokenizer in training: {', '.join(corpus['held_out_books'])}."
    )


def _recipe(record: dict[str, Any]) -> str:
    r = record["recipe"]
    return (
        "## Recipe\n\n"
        f"{record['tokens_seen']:,} tokens seen in {r['steps']:,} steps of about "
        f"{r['batch_tokens']:,}; half the steps with sequences of {r['usual_length']} tokens, the "
        f"others of 6 to {record['config']['max_tokens']}. {r['mask_share']:.0%} of the tokens "
        f"masked; in {r['end_share']:.0%} of the sequences only the last one. AdamW, learning rate "
        f"{r['learning_rate']:g} (warm-up {r['warmup_steps']} steps, cosine to 0), weight decay "
        f"{r['weight_decay']:g}, β = {r['betas'][0]:g}, {r['betas'][1]:g}, gradient norm clipped "
        f"at {r['clip']:g}, dropout {record['config']['dropout']:g}, seed {r['seed']}.\n\n"
        f"Hardware: {record['hardware']}. Time: {record['seconds'] / 60:.0f} minutes."
    )


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
        f"(perplexity {2.718281828459045 ** final['loss']:.1f}), top-1 {final['top1']:.1%}, "
        f"top-5 {final['top5']:.1%}.\n\n"
        "| block | hidden > 0 at initialisation | hidden > 0 | within 0.01 of zero | "
        "within 0.1 of zero | units never > 0 |\n"
        "| --- | --- | --- | --- | --- | --- |\n" + "\n".join(rows) + "\n\n"
        f"training.json holds the same at {len(record['points'])} points of the training."
    )


def _limits(label: str) -> str:
    return (
        "## Limits\n\n"
        "It has read a few dozen English books, most of the nineteenth century, and nothing else: "
        "it knows their words, their manners and their prejudices. It is small and was trained "
        "briefly; its guesses are often wrong, and nothing it fills in is a statement of fact. "
        f"A difference in quality between it and its twin says nothing about {label}: on models "
        "of this size a change of seed makes a larger one."
    )
