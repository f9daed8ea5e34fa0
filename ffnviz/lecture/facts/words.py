"""Names and words: what is looked at, and what the network says, whole or with a part taken out."""

from collections.abc import Callable

import torch
from torch import Tensor

from ffnviz.analysis.lab.bend_deleted import (
    WITHOUT_ATTENTION,
    WITHOUT_FFN,
    WITHOUT_PHI,
    WithoutPhi,
    fold,
    remove_phi,
)
from ffnviz.analysis.needs import ours
from ffnviz.analysis.number_format import short
from ffnviz.analysis.prediction import Prediction, predict, predict_without_ffn
from ffnviz.figures.wording import Number, Typed, number, percent, quoted, signed
from ffnviz.parts.lab.subject import cached_result, experiment_subject
from ffnviz.state.run import Run


def _told(run: Run) -> Prediction:
    return predict(run.model, run.trace, run.token)


def _without(run: Run) -> Prediction:
    return predict_without_ffn(run.model, run.whole, run.state.block, run.place)


def _deleted(run: Run) -> WithoutPhi:
    block = run.state.block
    folded = run.subject.per_network(
        f"folded {block}", lambda: fold(experiment_subject(run).double.ffn)
    )
    return cached_result(run, "bend deleted", lambda subject: remove_phi(subject, folded=folded))


def _word(prediction: Prediction) -> Number:
    return number(f"“{prediction.words[0]}”")


def _share(prediction: Prediction) -> Number:
    return number(percent(float(prediction.probabilities[0])))


def _then(run: Run) -> Number:
    """The probability, without this block's FFN, of the word that is likeliest with it."""
    word, without = (
        int(_told(run).ids[0]),
        predict_without_ffn(
            run.model, run.whole, run.state.block, run.place, run.model.sizes.vocab_size
        ),
    )
    place = without.ids.tolist().index(word)
    return number(percent(float(without.probabilities[place])))


def _moved(run: Run, without: str) -> Number:
    return number(f"{short(_deleted(run).divergences[without])} nats")


def _straight(run: Run) -> tuple[Tensor, Tensor]:
    """What this block's FFN writes on the chosen token, (d_model,), and what it would without φ."""
    ffn = run.trace.blocks[run.state.block].ffn
    compress = ours(run.model).encoder.blocks[run.state.block].ffn.compress
    with torch.inference_mode():
        straight: Tensor = compress(ffn.pre_activation[run.token])
    return ffn.output[run.token], straight


def _no_phi_times(run: Run) -> Number:
    written, straight = _straight(run)
    return number(f"{float(straight.norm() / written.norm()):.1f}")


def _no_phi_cosine(run: Run) -> Number:
    written, straight = _straight(run)
    return number(signed(float(torch.nn.functional.cosine_similarity(written, straight, dim=0))))


FACTS: dict[str, Callable[[Run], Number | Typed]] = {
    "sentence": lambda run: (f"“{run.trace.text}”", "typed"),
    "token": lambda run: quoted(run.labels[run.token]),
    "tokens": lambda run: number(f"{len(run.labels)}"),
    "network": lambda run: number(run.card.label, run.card.colour),
    "partner": lambda run: (
        number(run.partner.card.label, run.partner.card.colour) if run.partner else number("–")
    ),
    "block": lambda run: number(f"{run.state.block + 1}"),
    "vocabulary": lambda run: number(f"{run.model.sizes.vocab_size:,}"),
    "says": lambda run: _word(_told(run)),
    "says_share": lambda run: _share(_told(run)),
    "without_ffn": lambda run: _word(_without(run)),
    "without_ffn_share": lambda run: _share(_without(run)),
    "says_share_without_ffn": _then,
    "no_ffns": lambda run: _word(_deleted(run).predictions[WITHOUT_FFN]),
    "no_attention": lambda run: _word(_deleted(run).predictions[WITHOUT_ATTENTION]),
    "no_phi": lambda run: _word(_deleted(run).predictions[WITHOUT_PHI]),
    "no_phi_nats": lambda run: _moved(run, WITHOUT_PHI),
    "no_ffns_nats": lambda run: _moved(run, WITHOUT_FFN),
    "no_phi_times": _no_phi_times,
    "no_phi_cosine": _no_phi_cosine,
    "folded_rank": lambda run: number(f"{_deleted(run).rank:,}"),
}
