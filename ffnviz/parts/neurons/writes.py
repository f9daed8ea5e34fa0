"""What a neuron writes: words, beside the neurons most like it, and what later neurons read of it.

Attention's keys and values come from the sentence's tokens, one for each head, and its weights are
a softmax (Vaswani et al. 2017, eq. 1; Sukhbaatar et al. 2019, arXiv:1907.01470). The FFN's keys and
values are columns of W₁ and rows of W₂, and its weights are φ (Geva et al. 2021, eq. 2).
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.causal.paths import NeuronPaths, paths_to_later
from ffnviz.analysis.needs import encoder_of, own_attention
from ffnviz.analysis.neurons.memory import (
    RankedWords,
    Similar,
    promoted_ids,
    similar,
    value_norms,
    written_words,
)
from ffnviz.models.network import Network, NotForThisNetwork
from ffnviz.models.trace import ForwardPass, Trace
from ffnviz.parts.neuron_shown import neuron_shown, open_neuron
from ffnviz.parts.neurons.choose import go_to_block, neuron_controls
from ffnviz.parts.sheet import Sheet, row, token_choice, token_setting
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.plot import Array
from ffnviz.pictures.text import table_cell, text_cell
from ffnviz.pictures.wording import Sentence, neuron_name, number, percent, quoted, signed
from ffnviz.state.actions import ChooseNeuron, OpenNeuron
from ffnviz.state.run import Run, token_labels
from ffnviz.state.settings import Values, text_setting
from ffnviz.state.state import Neuron


@dataclass(frozen=True, eq=False)
class Memory:
    """What one memory writes at one token, entry by entry."""

    match: Tensor  # q · k / √d_head, or x · k + b, (…)
    weight: Tensor  # softmax or φ of it; in a gated FFN times the value projection, (…)
    written: Tensor  # weight times value, (…, d_model)
    bias: Tensor  # added once, (d_model,)

    @property
    def output(self) -> Tensor:
        """The sum of all entries and the bias, (d_model,)."""
        return self.written.flatten(0, -2).sum(dim=0) + self.bias

    def strongest(self, k: int) -> NDArray[np.int64]:
        """Indices of the entries with the largest ‖weight · value‖, (k, dimensions)."""
        lengths = self.written.norm(dim=-1)
        best = lengths.flatten().topk(min(k, lengths.numel())).indices
        # NumPy's: PyTorch's own imports a compiler first, which takes two seconds.
        return np.stack(np.unravel_index(best.cpu().numpy(), lengths.shape), axis=-1)


@torch.no_grad()
def attention_memory(model: Network, trace: ForwardPass, block: int, token: int) -> Memory:
    """Attention's entries at a token, (n_heads, T); the trace is of all tokens."""
    module = encoder_of(model).blocks[block].attention
    record = own_attention(trace.blocks[block])
    n_heads, _, d_head = record.keys.shape
    match = (record.keys @ record.queries[:, token, :, None])[..., 0] / d_head**0.5
    weight = record.weights[:, token]  # (n_heads, T)
    heads = module.project_out.weight.view(-1, n_heads, d_head)  # (d_model, n_heads, d_head)
    values = torch.einsum("htd,mhd->htm", record.values, heads)
    bias = dict(module.project_out.named_parameters()).get("bias", 0 * values[0, 0])
    return Memory(match, weight, weight[..., None] * values, bias)


@torch.no_grad()
def ffn_memory(model: Network, trace: ForwardPass, block: int, token: int) -> Memory:
    """The FFN's entries at a token, (d_ff,)."""
    record, view = trace.blocks[block].ffn, model.ffn(block)
    weight = record.hidden[token]
    bias = 0 * view.values[0] if view.output_bias is None else view.output_bias
    return Memory(record.pre_activation[token], weight, weight[:, None] * view.values, bias)


@torch.no_grad()
def keys_moved(
    before: ForwardPass, after: ForwardPass, block: int, pairs: NDArray[np.int64]
) -> Array:
    """‖k′ − k‖ / ‖k‖ for all heads' keys on pairs of tokens of two sentences, (n, 2) -> (n,)."""
    first, second = (
        own_attention(trace.blocks[block]).keys.transpose(0, 1).flatten(1).cpu().double()[tokens]
        for trace, tokens in zip((before, after), pairs.T, strict=True)
    )
    return np.asarray((second - first).norm(dim=1) / first.norm(dim=1))


ENTRIES = 8  # of each memory
N_WORDS = 3
CHANGED = token_setting("changed")
INSTEAD = text_setting("instead", "dog", longest=40).with_control("to")
MEMORIES_SETTINGS = (CHANGED, INSTEAD)


@dataclass(frozen=True)
class Changed:
    """The sentence with another word."""

    trace: Trace  # its trace
    token: int  # the place of the chosen token in it
    # the tokens that correspond, in the sentence and in the changed one, (n, 2)
    pairs: NDArray[np.int64]
    at: int  # the token that was changed, in the sentence


def memories_sheet(run: Run, values: Values) -> Sheet:
    """The strongest entries of both memories, beside how far another word moves the keys."""
    tokens, here = run.whole.tokens, run.place
    attention = attention_memory(run.model, run.whole, run.state.block, here)
    ffn = ffn_memory(run.model, run.whole, run.state.block, here)
    # Tokens with characters of their own in the sentence can be changed.
    possible = [at for at, token in enumerate(tokens) if token.end > token.start and at != here]
    if not possible:
        alone = "The sentence has one token: there is no other word to change."
        same = Changed(run.whole, here, np.zeros((0, 2), dtype=np.int64), here)
        left = the_list(run, attention, ffn, same), text_cell("alone", alone, tone="info")
        return Sheet([row(*left, widths=(1.5, 1))], [])
    at = values[CHANGED] - 1
    if at not in possible:  # by default the one that attention reads most
        read = attention.written.norm(dim=-1).sum(dim=0)
        at = max(possible, key=lambda place: float(read[place]))
    changed = with_another_word(run, at, values[INSTEAD])
    pictures = the_list(run, attention, ffn, changed), the_keys(run, values[INSTEAD], changed)
    others = [place for place in range(len(tokens)) if place != here]
    choice = token_choice("Change", CHANGED, token_labels(tokens), others, at)
    return Sheet([row(*pictures, widths=(1.5, 1))], [choice, INSTEAD])


def with_another_word(run: Run, at: int, word: str) -> Changed:
    """The trace of the sentence with another word for one token."""
    token, text, n = run.whole.tokens[at], run.subject.text, len(run.whole.tokens)
    stretch = text[token.start : token.end]
    blank = stretch[: len(stretch) - len(stretch.lstrip())]  # a token may begin with its blank
    trace = run.model.trace(text[: token.start] + blank + word + text[token.end :])
    more = len(trace.tokens) - n  # where the word is more tokens, or none
    pairs = [(place, place if place <= at else place + more) for place in range(n)]
    kept = [pair for pair in pairs if pair[1] < len(trace.tokens) and (more >= 0 or pair[0] != at)]
    place = run.place if run.place < at else run.place + more
    return Changed(trace, min(max(place, 0), len(trace.tokens) - 1), np.array(kept), at)


def the_list(run: Run, attention: Memory, ffn: Memory, changed: Changed) -> Cell:
    """The strongest entries of both, the longest first."""
    block, labels = run.state.block, token_labels(run.whole.tokens)
    changed_places = dict(changed.pairs.tolist())
    # Of each entry: the length of what it writes, its row in the table, and its neuron, if any.
    entries: list[tuple[float, list[str | float], int | None]] = []

    def add(memory: Memory, then: Memory, heads: bool) -> None:
        best = memory.strongest(ENTRIES)
        written = memory.written[tuple(best.T)]
        promoted = promoted_ids(run.model, written, N_WORDS)
        for key, vector, ids in zip(map(tuple, best.tolist()), written, promoted, strict=True):
            last, length = key[-1], float(vector.norm())
            name = f"“{labels[last]}”, head {key[0] + 1}" if heads else neuron_name(block, last)
            same = (*key[:-1], changed_places.get(last, -1) if heads else last)
            words = ", ".join(run.model.tokenizer.label(int(word)) for word in ids)
            line = [
                "attention" if heads else "FFN",
                name,
                round(float(memory.match[key]), 2),
                round(float(memory.weight[key]), 2),
                words,
                round(length, 2),
                "—" if same[-1] < 0 else round(float(then.weight[same]), 2),
            ]
            entries.append((length, line, None if heads else last))

    place = run.model, changed.trace, block, changed.token
    add(attention, attention_memory(*place), True)
    add(ffn, ffn_memory(*place), False)
    entries.sort(key=lambda entry: -entry[0])
    sentence = f"{_strongest(run, attention, ffn)}, and it writes {entries[0][1][4]}."

    def opened(at: int) -> OpenNeuron | None:
        neuron = entries[at][2]
        return None if neuron is None else open_neuron(run, neuron)

    head, table = Head(sentence, "two-memories", run.card.colour), [each for _, each, _ in entries]
    columns = ("memory", "key", "match", "weight", "writes", "length", "weight then")
    return table_cell("memories", head, columns, table, opened)


def the_keys(run: Run, word: str, changed: Changed) -> Cell:
    """How far the other word moves attention's key of each token, and the FFN's keys."""
    block, labels = run.state.block, token_labels(run.whole.tokens)
    moved = keys_moved(run.whole, changed.trace, block, changed.pairs)
    names = [labels[here] for here in changed.pairs[:, 0]]
    most = int(moved.argmax()) if len(moved) else 0
    d_ff = run.model.sizes.d_ff
    sentence = (
        f"With {quoted(word)} for {quoted(labels[changed.at])}, the key by which attention finds "
        f"{quoted(names[most])} moves by {number(percent(float(moved[most])))}; the FFN's {d_ff:,} "
        "keys are weights, and stay where they are."
    )
    shown = np.sort(np.argsort(-moved)[:20])
    of_both = [*(names[at] for at in shown), f"FFN: {d_ff:,} keys"]
    colours = [*[run.card.colour] * len(shown), "muted"]
    return bars_cell(
        Head(sentence, "keys-moved", run.card.colour),
        [Bars("", of_both, np.array([*100 * moved[shown], 0.0]), colours)],
        alt="How far attention's keys move when a word changes; the FFN's do not.",
        of="key moved, % of its length",
        named="key of",
    )


def _strongest(run: Run, attention: Memory, ffn: Memory) -> Sentence:
    """Which entry writes most, and how well its key matches."""
    (head, token), (neuron,) = attention.strongest(1)[0].tolist(), ffn.strongest(1)[0].tolist()
    if attention.written[head, token].norm() < ffn.written[neuron].norm():
        match = ffn.match[neuron]
        name = number(f"neuron {neuron_name(run.state.block, neuron)}")
    else:
        match = attention.match[head, token]
        label = token_labels(run.whole.tokens)[token]
        name = f"{number(f'head {head + 1}')} of attention at {quoted(label)}"
    return (
        "Attention and the FFN both add up values, each times its weight. The strongest entry here "
        f"is {name}: the match of its key is {signed(float(match))}"
    )


WORDS = 14
NEURONS = 10
LARGEST = 0.9995  # a share that percent would round to all


def sheet(run: Run, _: Values) -> Sheet:
    """The neuron's words, beside the neurons most like it."""
    neuron = neuron_shown(run)
    return Sheet([row(its_words(run, neuron), most_like_it(run, neuron))], neuron_controls(run))


def its_words(run: Run, neuron: int) -> Cell:
    """The words whose logits its value raises and lowers most."""
    promoted, suppressed = written_words(run.model, run.state.block, neuron, WORDS)
    norm, larger_than = value_norms(run.model, run.state.block, neuron)
    longer = f"is longer than {percent(larger_than)} of the block's"
    if larger_than >= LARGEST:
        longer = "is the longest in its block"
    elif percent(larger_than) == percent(1):
        longer = "is among the longest in its block"
    likelier, rarer = number(f"“{promoted.words[0]}”"), quoted(suppressed.words[0])
    moves = f"When active, it makes {likelier} likelier and {rarer} less likely"
    sentence = f"{moves}; its value vector, of length {norm:.2f}, {longer}."
    panels = word_panels(run, promoted, suppressed)
    alt = "The words whose logits the neuron raises most, and those it lowers most."
    of = "added to the logit by a unit of activation"
    return bars_cell(Head(sentence, "writes", run.card.colour), panels, "written-words", alt, of=of)


def word_panels(run: Run, promoted: RankedWords, suppressed: RankedWords) -> list[Bars]:
    """The words that a vector promotes, beside those it suppresses."""
    return [
        Bars("promoted", promoted.words, promoted.scores.numpy(), run.card.colour),
        Bars("suppressed", suppressed.words, suppressed.scores.numpy(), "muted"),
    ]


def most_like_it(run: Run, neuron: int) -> Cell:
    """The neurons with the most similar keys and values; a click opens one."""
    block = run.state.block
    by_key, by_value = similar(run.model, block, neuron, NEURONS)
    sentence = (
        f"The most similar key is that of neuron {number(neuron_name(block, by_key.neurons[0]))} "
        f"(cosine {by_key.cosines[0]:.2f}), the most similar value vector that of neuron "
        f"{neuron_name(block, by_value.neurons[0])} ({by_value.cosines[0]:.2f})."
    )

    def bars(title: str, alike: Similar, colour: str) -> Bars:
        names = [neuron_name(block, n) for n in alike.neurons]
        return Bars(title, names, alike.cosines, colour, alike.neurons)

    return bars_cell(
        Head(sentence, "similar", run.card.colour),
        [bars("by key", by_key, "muted"), bars("by value vector", by_value, run.card.colour)],
        key="similar-neurons",
        alt="The neurons of this block whose keys and values are most like this one's.",
        of="cosine; click a bar to open that neuron",
        on_choose=lambda other: ChooseNeuron(run.neuron(other)),
    )


LATER = 12  # later neurons that are shown, and later blocks


def paths_sheet(run: Run, _: Values) -> Sheet:
    """The later neurons it feeds most, beside the share of its effect that is direct."""
    neuron, block, controls = neuron_shown(run), run.state.block, neuron_controls(run)

    def none(key: str, why: str) -> Sheet:
        return Sheet([row(text_cell(key, why, tone="info"))], controls)

    if block == run.model.sizes.n_blocks - 1:
        controls += [] if block == 0 else [go_to_block(0)]
        why = f"Block {block + 1} is the last: no FFN reads what its neurons write."
        return none("last-block", why)
    try:
        paths = run.subject.per_sentence(
            ("paths", block, neuron, run.place),
            partial(paths_to_later, run.whole, block, neuron, run.place, LATER),
        )
    except NotForThisNetwork as error:
        return none("no-paths", str(error))
    if not any(each.direct.any() for each in paths):
        why = (
            f"Neuron {neuron_name(block, neuron)} is 0 on {quoted(run.labels[run.token])}, so it "
            "writes nothing there that a later neuron could read."
        )
        return none("silent", why)
    pictures = strongest_paths(run, neuron, paths), by_block(run, neuron, paths)
    return Sheet([row(*pictures, widths=(1.5, 1))], controls)


def strongest_paths(run: Run, neuron: int, paths: tuple[NeuronPaths, ...]) -> Cell:
    """The later neurons with the largest direct effect, beside the rest; a click opens one."""
    block, d_ff = run.state.block, run.model.sizes.d_ff
    ends = [(block + 1 + later, int(m)) for later, each in enumerate(paths) for m in each.strongest]
    direct, rest = (
        np.array([float(getattr(paths[to - block - 1], kind)[m]) for to, m in ends])
        for kind in ("direct", "rest")
    )
    order = np.argsort(-np.abs(direct), kind="stable")[:LATER]
    ends, direct, rest = [ends[at] for at in order], direct[order], rest[order]
    verb = "raises" if direct[0] > 0 else "lowers"
    sentence = (
        f"On {quoted(run.labels[run.token])} neuron {neuron_name(block, neuron)} {verb} the "
        f"pre-activation of {neuron_name(*ends[0])} most: by {number(signed(abs(direct[0])))} "
        f"through the stream; all else that it changes on the way adds {signed(rest[0])}."
    )
    names = [neuron_name(*end) for end in ends]
    ids = np.array([to * d_ff + m for to, m in ends])

    def opened(chosen: int) -> OpenNeuron:
        neuron = Neuron(run.card.id, *divmod(chosen, d_ff))
        return OpenNeuron(neuron, "neurons", "wakes", run.state.token)

    head = Head(sentence, "paths", run.card.colour)
    panels = [
        Bars("value · key", names, direct, run.card.colour, ids),
        Bars("the rest", names, rest, "muted", ids),
    ]
    alt = "What the neuron adds to the pre-activations of later neurons, directly and otherwise."
    of = "added to the pre-activation; click a bar to open that neuron"
    return bars_cell(head, panels, alt=alt, of=of, named="neuron", on_choose=opened)


def by_block(run: Run, neuron: int, paths: tuple[NeuronPaths, ...]) -> Cell:
    """The direct effect and the measured one on all neurons of each later block."""
    block = run.state.block
    later = np.unique(np.linspace(0, len(paths) - 1, min(LATER, len(paths))).round().astype(int))
    names = [f"block {block + 2 + each}" for each in later]
    direct, rest, total = (
        np.array([np.linalg.norm(getattr(paths[each], kind)) for each in later])
        for kind in ("direct", "rest", "total")
    )
    most = int(total.argmax())
    explained = 1 - (rest[most] / max(total[most], 1e-30)) ** 2
    sentence = (
        f"Without neuron {neuron_name(block, neuron)} at this token, {names[most]}'s "
        "pre-activations change most; direct effects explain "
        f"{number(percent(max(0.0, float(explained))))} of that change."
    )
    return bars_cell(
        Head(sentence, "paths-blocks", run.card.colour),
        [
            Bars("value · key", names, direct, run.card.colour),
            Bars("measured", names, total, "muted"),
        ],
        alt="The norm of what the neuron adds to each later block's pre-activations.",
        of="norm over the block's neurons",
        named="block",
    )
