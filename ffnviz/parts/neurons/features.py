"""Features of a sparse autoencoder: their values, the words one writes, what all of them miss."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import torch

from ffnviz.analysis.features import (
    WORDS_NEEDS,
    FeatureExamples,
    Features,
    features_of,
    replaced,
    sae_examples,
    sae_words,
    without_start,
)
from ffnviz.analysis.measuring import Progress
from ffnviz.analysis.needs import Capability, missing
from ffnviz.analysis.neurons.probes import read_probes
from ffnviz.analysis.prediction import Prediction, predict
from ffnviz.models.config import config
from ffnviz.models.sae import Sae, SaeError, read_sae
from ffnviz.parts.neurons.activations import active_on
from ffnviz.parts.neurons.choose import (
    error_cell,
    go_to_block,
    passage,
    tokens_read,
    what_others_say,
)
from ffnviz.parts.neurons.writes import word_panels
from ffnviz.parts.sheet import (
    Choice,
    Control,
    Measured,
    Measurement,
    NumberBox,
    Sheet,
    Soon,
    row,
    set_to,
)
from ffnviz.pictures import neuron_chart as figures
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.text import passages_cell, text_cell
from ffnviz.pictures.wording import number, percent, quoted, typed
from ffnviz.state.actions import ChooseToken
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, count_setting, text_setting
from ffnviz.state.state import LARGEST

STRONGEST, WORDS = 10, 7
DICTIONARY = text_setting("dictionary", longest=120)  # by its folder's name
FEATURE = count_setting("feature", -1, -1, LARGEST)  # −1: the strongest on the token
SETTINGS = (DICTIONARY, FEATURE)


def sheet(run: Run, values: Values) -> Sheet:
    """The token's strongest features and one of them on all tokens, beside what it writes."""
    device = str(run.model.device)
    paths = [path for network, path in config().saes if network == run.card.id]
    try:
        dictionaries = {path: _opened(path, device) for path in paths}
    except SaeError as error:
        title = "The dictionary of features cannot be read."
        return Sheet([row(error_cell("no-sae", title, error))], [])
    in_block = {path: sae for path, sae in dictionaries.items() if sae.block == run.state.block}
    if not in_block:
        blocks = sorted({sae.block for sae in dictionaries.values()})
        note = f"There is no feature dictionary for block {run.state.block + 1}."
        return Sheet([row(text_cell("no-sae", note, tone="info"))], list(map(go_to_block, blocks)))
    names = [sae.name for sae in in_block.values()]
    chosen = names.index(values[DICTIONARY]) if values[DICTIONARY] in names else 0
    path, sae = list(in_block.items())[chosen]
    features = features_of(run.model, run.trace, sae)
    feature = values[FEATURE]
    if not 0 <= feature < sae.d_sae:
        feature = int(features.values[run.token].argmax())
    by_name = Choice("Dictionary", names, lambda at: set_to(DICTIONARY, names[at]), chosen)
    by_number = NumberBox("Feature", feature, 0, sae.d_sae - 1, lambda n: set_to(FEATURE, n))
    controls: list[Control] = [by_name, by_number] if len(names) > 1 else [by_number]
    left = [strongest_features(run, sae, features), on_this_sentence(run, features, feature)]
    right: list[Cell | Measurement[FeatureExamples]] = [
        *what_it_writes(run, sae, feature),
        *what_it_misses(run, sae, path, features),
        *(what_others_say(run, feature, dictionary=sae.source) if sae.source else []),
        its_examples(run, path, feature),
    ]
    return Sheet([row(left, right, widths=(1, 1))], controls)


def strongest_features(run: Run, sae: Sae, features: Features) -> Cell:
    """The features that are most active on the token; a click chooses one."""
    values = features.values[run.token]
    active = int((values > 0).sum())
    best = values.topk(min(STRONGEST, max(1, active)))
    ids = best.indices.cpu().numpy()
    sentence = (
        f"On {quoted(run.labels[run.token])}, {number(f'{active:,} of {sae.d_sae:,} features')} of "
        f"{typed(sae.name)} are active."
    )
    return bars_cell(
        Head(sentence, "features", run.card.colour),
        [Bars("", list(map(str, ids)), best.values.float().cpu().numpy(), run.card.colour, ids)],
        key="strongest-features",
        alt="The features that are most active on the chosen token.",
        of="activation; click a bar to choose that feature",
        named="feature",
        on_choose=lambda feature: set_to(FEATURE, feature),
    )


def on_this_sentence(run: Run, features: Features, feature: int) -> Cell:
    """The feature's value on every token."""
    values = features.values[:, feature].float().cpu().numpy()
    sentence = active_on(run, f"Feature {feature} is active", values, values > 0)
    colour = run.card.colour
    figure = figures.values(run.labels, values, run.token, colour, 0.0, "activation")
    alt = "The feature's value on each token of the sentence."
    head = Head(sentence, "", colour)
    return chart_cell(head, figure, alt, key="feature-values", height=260, on_choose=ChooseToken)


def what_it_writes(run: Run, sae: Sae, feature: int) -> list[Cell]:
    """The words that its direction promotes and suppresses."""
    lacking = missing(run.card, WORDS_NEEDS)
    if lacking:
        return [text_cell("no-words", lacking[0].value, tone="info")]
    promoted, suppressed = sae_words(run.model, sae, feature, WORDS)
    sentence = (
        f"Feature {feature} promotes {number(f'“{promoted.words[0]}”')} and suppresses "
        f"{quoted(suppressed.words[0])}."
    )
    head, panels = Head(sentence, "writes", run.card.colour), word_panels(run, promoted, suppressed)
    alt = "The words whose logits the feature raises most, and those it lowers most."
    of = "added to the logit by a unit of activation"
    return [bars_cell(head, panels, "feature-words", alt, of=of)]


def what_it_misses(run: Run, sae: Sae, path: Path, features: Features) -> list[Cell]:
    """How far the reconstruction x̂ is from x, and how the answer changes with it in x's place."""
    missed = float(features.missed[run.token])
    here = f"On this token, the dictionary misses {number(percent(missed))} of x."
    if missing(run.card, (Capability.WORD_HEAD,)):
        return [text_cell("missed", here)]
    place = run.place

    def answers() -> tuple[float, float, float, Prediction, Prediction]:
        swapped = replaced(run.model, run.whole, sae, place)  # its traces are not kept
        plain = predict(run.model, swapped.plain, place, 1)
        changed = predict(run.model, swapped.trace, place, 1)
        return swapped.unexplained, swapped.divergence, swapped.without, plain, changed

    unexplained, divergence, without, *guesses = run.subject.per_sentence(
        ("sae", str(path), place), answers
    )
    (word, before), (instead, now) = (
        (guess.words[0], percent(float(guess.probabilities[0]))) for guess in guesses
    )
    became = f"{instead} ({now}) instead of {word} ({before})"
    if word == instead:
        became = f"still {word}, {now} instead of {before}"
    answer = (
        f"With the dictionary's sum x̂ in place of the activations x at all tokens, the "
        f"answer at {quoted(run.labels[run.token])} is {became}; the prediction moves by "
        f"{number(f'{divergence:.3g} nats')}. With zeros there, it would move by {without:.3g}."
    )
    left = number(percent(unexplained))
    share = f"{here} Over the sentence, it leaves {left} of the variance unexplained."
    start = without_start(run.model, run.whole, sae)
    return [text_cell("missed", share, answer), *([text_cell("start", start)] if start else [])]


def its_examples(run: Run, path: Path, feature: int) -> Measurement[FeatureExamples]:
    """The probe sentences in which it is strongest, found on request."""
    setup = (run.card.id, run.model.fingerprint, str(path))

    def after(measured: Measured[FeatureExamples]) -> Sequence[Cell]:
        result = measured.result
        share = result.active[feature] / result.n_tokens
        sentence = (
            f"Its strongest examples; active on {number(f'{percent(float(share))} of tokens')}."
        )
        found = zip(
            result.values[:, feature].tolist(),
            result.texts[:, feature].tolist(),
            result.tokens[:, feature].tolist(),
            strict=True,
        )
        shown = [
            passage(result.read[text], tokens_read(run, result.read[text]), token, value)
            for value, text, token in found
            if value > 0
        ]
        return [passages_cell(Head(sentence, "", run.card.colour), shown, "feature-examples")]

    return Measurement(
        "feature examples",
        setup,
        find_examples,
        after,
        (str(path),),
        [Soon("", "Its strongest examples", 160)],
        label="Find its strongest examples",
        doing="Reading the probe sentences …",
        on_request=True,
    )


def find_examples(run: Run, progress: Progress, path: str) -> FeatureExamples:
    """Find where each feature is strongest in our probe sentences."""
    texts = [probe.text for probe in read_probes()]
    sae = _opened(Path(path), str(run.model.device))
    return sae_examples(run.model, sae, texts, progress=lambda n: progress(n / len(texts)))


@lru_cache(maxsize=8)  # weights, which the cache of what can be computed again has no room for
def _opened(path: Path, device: str) -> Sae:
    return read_sae(path, torch.device(device))
