"""Patch: activations of one sentence, put into the pass over another."""

from dataclasses import replace

from ffnviz.analysis.causal.patch import PatchMap, map_of_traces
from ffnviz.analysis.spread import Progress
from ffnviz.parts.neurons.compare import OTHER, other_sentence
from ffnviz.parts.neurons.patch_pictures import PATCHED, PLACES, map_cell, the_patch
from ffnviz.parts.neurons.sentence_pair import SentencePair, sentence_pair
from ffnviz.parts.sheet import Button, Measured, Measurement, Sheet, Soon, row
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.text import text_cell
from ffnviz.state.actions import ShowState
from ffnviz.state.run import Run
from ffnviz.state.settings import Values

SETTINGS = (OTHER, PATCHED)
TO_TRY = "He drank a cup of", "He read a book of"  # then a mask, for who fills in words
AT_ONCE, UNASKED = 3e10, 3e13  # multiplications: done while the page is made, and without a button
LABEL = "Patch"


def sheet(run: Run, values: Values) -> Sheet:
    """The map of all patches, beside what the chosen one does to the answer."""
    setting, options = other_sentence(run), dict(PATCHED.options)
    if not (run.card.attention_seen or run.card.pre_norm):
        del options["attention"]
    text, at = values[setting], values[PATCHED]
    at = at if at in options else PATCHED.default
    first, second = (f"{each} [MASK]." if run.card.has_mask else each for each in TO_TRY)
    tried = {**dict(run.state.settings), OTHER.name: second}
    example = replace(run.state, sentence=first, token=None, settings=tuple(sorted(tried.items())))
    controls = (
        setting, replace(PATCHED, options=options),
        Button("Try “a cup of …” and “a book of …”", ShowState(example)),
    )  # fmt: skip
    pair = sentence_pair(run, text)
    if isinstance(pair, str):
        return Sheet([row(text_cell("nothing-to-patch", pair, tone="info"))], controls)
    pictures = the_map(run, text, pair, at), the_patch(run, pair, at)
    return Sheet([row(*pictures, widths=(1.3, 1))], controls)


def the_map(run: Run, text: str, pair: SentencePair, at: str) -> Cell | Measurement[PatchMap]:
    """How far every patch takes the answer; measured in the background where it takes long."""
    sizes = run.model.sizes
    per_token = 4 * sizes.d_model**2 + 2 * sizes.d_model * sizes.d_ff
    work = sizes.n_blocks**2 * len(pair.pairs) * len(pair.into.tokens) * per_token
    if work <= AT_ONCE:
        patches = run.subject.per_sentence(
            ("patch", text, at), lambda: all_patches(run, lambda _: None, text, at)
        )
        return map_cell(run, pair, at, patches)
    setup = (run.card.id, run.device, run.state.sentence, text, at)

    def after(measured: Measured[PatchMap]) -> list[Cell]:
        return [map_cell(run, pair, at, measured.result)]

    name, n = f"patch {at}", sizes.n_blocks * len(pair.pairs)
    what = (
        "Which part of the second sentence makes its answer? The network reads the first once for "
        f"each block and token, with {PATCHED.options[at]} of the second put in there alone: "
        f"{sizes.n_blocks} blocks × {len(pair.pairs)} tokens."
    )
    before = [Soon("patch-map", what)]
    return Measurement(name, setup, all_patches, after, (text, at), before, LABEL,
                       f"Patching {n:,} times …", on_request=work > UNASKED)  # fmt: skip


def all_patches(run: Run, progress: Progress, text: str, at: str) -> PatchMap:
    """Patch every block at every token that has a counterpart.

    Raises:
        ValueError: if the sentences cannot be compared.
    """
    pair = sentence_pair(run, text)
    if isinstance(pair, str):
        raise ValueError(pair)
    place, neurons = PLACES[at]
    return map_of_traces(run.model, pair.given, pair.into, pair.measure, pair.pairs, pair.judged,
                         at=place, neurons=neurons, progress=progress)  # fmt: skip
