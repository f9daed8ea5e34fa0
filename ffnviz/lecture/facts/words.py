"""Names and words: what is looked at, and the likeliest word, also with a part taken out."""

import torch

from ffnviz.analysis.lab.bend_deleted import WITHOUT_ATTENTION, WITHOUT_FFN, WITHOUT_PHI
from ffnviz.analysis.needs import ours
from ffnviz.analysis.number_format import short
from ffnviz.analysis.prediction import Prediction, predict, predict_without_ffn
from ffnviz.lecture.facts.registry import fact, facts
from ffnviz.parts.lab.without_phi import without_phi
from ffnviz.pictures.wording import Sentence, number, percent, quoted, signed, typed
from ffnviz.state.run import Run


def _prediction(run: Run) -> Prediction:
    return predict(run.model, run.trace, run.token)


def _without(run: Run) -> Prediction:
    return predict_without_ffn(run.model, run.whole, run.state.block, run.place)


def _word(prediction: Prediction) -> Sentence:
    return number(f"“{prediction.words[0]}”")


def _word_if(run: Run, without: str) -> Sentence:
    return _word(without_phi(run).predictions[without])


def _share(prediction: Prediction) -> str:
    return percent(float(prediction.probabilities[0]))


@fact
def says_share_without_ffn(run: Run) -> str:
    """The probability of {says} without this block's FFN."""
    word, n = int(_prediction(run).ids[0]), run.model.sizes.vocab_size
    without = predict_without_ffn(run.model, run.whole, run.state.block, run.place, n)
    return percent(float(without.probabilities[without.ids.tolist().index(word)]))


def _divergence(run: Run, without: str) -> str:
    return f"{short(without_phi(run).divergences[without])} nats"


def _output_without_phi(run: Run) -> tuple[float, float]:
    """This block's FFN output without φ: its norm over that with φ, and the cosine of both."""
    ffn = run.trace.blocks[run.state.block].ffn
    compress = ours(run.model).encoder.blocks[run.state.block].ffn.compress
    with torch.no_grad():
        output, linear = ffn.output[run.token], compress(ffn.pre_activation[run.token])
    cosine = torch.nn.functional.cosine_similarity(output, linear, dim=0)
    return float(linear.norm() / output.norm()), float(cosine)


def _as_spoken(text: str) -> Sentence:
    """A sentence in quotation marks, unless it begins with its own."""
    return typed(text) if text.startswith('"') else quoted(text)


facts({
    "sentence": ("The sentence", lambda run: _as_spoken(run.trace.text)),
    "token": ("The chosen token", lambda run: quoted(run.labels[run.token])),
    "tokens": ("How many tokens the sentence has", lambda run: len(run.labels)),
    "network": ("The network's name", lambda run: number(run.card.label, run.card.colour)),
    "partner": ("The name of the other network",
                lambda run: number(run.partner.card.label, run.partner.card.colour)
                if run.partner else "–"),
    "block": ("The chosen block", lambda run: run.state.block + 1),
    "vocabulary": ("How many entries the vocabulary has", lambda run: run.model.sizes.vocab_size),
    "says": ("The likeliest word at the chosen token", lambda run: _word(_prediction(run))),
    "says_share": ("The likeliest word's probability", lambda run: _share(_prediction(run))),
    "without_ffn": ("The likeliest word without this block's FFN",
                    lambda run: _word(_without(run))),
    "without_ffn_share": ("The probability of {without_ffn} there",
                          lambda run: _share(_without(run))),
    "no_ffns": ("The likeliest word without any FFN", lambda run: _word_if(run, WITHOUT_FFN)),
    "no_attention": ("The likeliest word without any attention",
                     lambda run: _word_if(run, WITHOUT_ATTENTION)),
    "no_phi": ("The likeliest word without φ", lambda run: _word_if(run, WITHOUT_PHI)),
    "no_phi_nats": ("How far removing φ moves the prediction: KL divergence, in nats",
                    lambda run: _divergence(run, WITHOUT_PHI)),
    "no_ffns_nats": ("How far removing every FFN moves the prediction: KL divergence, in nats",
                     lambda run: _divergence(run, WITHOUT_FFN)),
    "folded_rank": ("The rank of W₁W₂, folded into one matrix", lambda run: without_phi(run).rank),
    "no_phi_times": ("How many times as long this block's FFN output would be without φ",
                     lambda run: f"{_output_without_phi(run)[0]:.1f}"),
    "no_phi_cosine": ("The cosine of what this block's FFN writes with φ and without it",
                      lambda run: signed(_output_without_phi(run)[1])),
})  # fmt: skip
