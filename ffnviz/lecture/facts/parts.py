"""Numbers of the FFN as one part of the network: what it writes, costs, and shares."""

from collections.abc import Callable

import numpy as np

from ffnviz.analysis.cost import Shape, multiply_adds, overtaking_length, parameters, shape_of
from ffnviz.analysis.journey import FfnPath, Vector, ffn_path
from ffnviz.analysis.lab.linearity import Linearity, try_linearity
from ffnviz.analysis.lens import Contributions, contributions
from ffnviz.analysis.needs import ours
from ffnviz.analysis.number_format import short
from ffnviz.analysis.prediction import predict
from ffnviz.lecture.facts.registry import fact, facts
from ffnviz.parts.dimensions.flow import position_wise
from ffnviz.parts.dimensions.wider import BEND_ALONE, TOYS, answers_of
from ffnviz.parts.experiments import cached_for_block
from ffnviz.pictures.wording import percent, signed
from ffnviz.state.run import Run


def _path(run: Run) -> FfnPath:
    return ffn_path(run.trace, run.state.block, run.token)


def _norm(values: Vector) -> str:
    return f"{float(np.linalg.norm(values)):.1f}"


def _contributions(run: Run) -> Contributions:
    word = int(predict(run.model, run.trace, run.token, 1).ids[0])
    return contributions(run.model, run.trace, run.token, word)


def _added(run: Run, part: str) -> str:
    shares = _contributions(run)
    return signed(float(shares.added[shares.parts.index(f"{part} {run.state.block + 1}")]))


_IN_WORDS = {
    "word": "the word's embedding",
    "position": "the position's embedding",
    "embedding": "the embedding",
    "LayerNorm's bias": "the last LayerNorm's bias",
}


@fact
def most_added(run: Run) -> str:
    """The part that adds most to the likeliest word's logit, and how much."""
    shares = _contributions(run)
    place = int(shares.added.argmax())
    part = shares.parts[place]
    return f"{_IN_WORDS.get(part, part)} ({signed(float(shares.added[place]))})"


def _shape(run: Run) -> Shape:
    return shape_of(ours(run.model).encoder.config)


def _share(count: Callable[[Shape], dict[str, int]], run: Run) -> str:
    counts = count(_shape(run))
    return percent(counts["FFN"] / sum(counts.values()))


@fact
def ffn_of_block(run: Run) -> str:
    """The FFN's share of one block's parameters."""
    shape, counts = _shape(run), parameters(_shape(run))
    # Of the LayerNorms within the blocks; the final one is in none.
    norms = (shape.n_attentions + shape.n_blocks) * shape.norm_vectors * shape.d_model
    return percent(counts["FFN"] / (counts["FFN"] + counts["attention"] + norms))


def _over_attention(count: Callable[[Shape], dict[str, int]], run: Run) -> str:
    counts = count(_shape(run))
    return f"{counts['FFN'] / counts['attention']:.1f}"


def _linearity(run: Run) -> Linearity:
    return cached_for_block(run, ("linearity",), try_linearity)


def _of_toy(toy: str) -> None:
    """Register the errors of “Why wider?” on a toy."""

    def error(place: int) -> Callable[[Run], str]:
        return lambda run: percent(answers_of(run)[toy].fits[place].median)

    facts(
        {
            f"{toy}_bend": (
                f"In “Why wider?”, the error on the {toy} with d_ff = d_model",
                error(BEND_ALONE),
            ),
            f"{toy}_four": (f"The same on the {toy} with d_ff = 4 × d_model", error(-2)),
            f"{toy}_wide": (f"The same on the {toy} with d_ff = 8 × d_model", error(-1)),
            f"{toy}_no_phi": (
                f"The least error on the {toy} without φ, at any d_ff",
                lambda run: percent(answers_of(run)[toy].toy.without),
            ),
        }
    )


for _toy in TOYS:
    _of_toy(_toy)

facts({
    "input_norm": ("The norm of the FFN's input", lambda run: _norm(_path(run).input)),
    "output_norm": ("The norm of the FFN's output", lambda run: _norm(_path(run).output)),
    "stream_norm": ("The norm of the residual stream before the FFN's output is added",
                    lambda run: _norm(_path(run).stream)),
    "new_stream_norm": ("The norm of the residual stream after it",
                        lambda run: _norm(_path(run).new_stream)),
    "ffn_added": ("What this block's FFN adds to the likeliest word's logit",
                  lambda run: _added(run, "FFN")),
    "attention_added": ("What this block's attention adds to the likeliest word's logit",
                        lambda run: _added(run, "attention")),
    "logit": ("The likeliest word's logit", lambda run: signed(_contributions(run).logit)),
    "ffn_parameters": ("How many parameters one FFN has",
                       lambda run: parameters(_shape(run))["FFN"] // _shape(run).n_blocks),
    "ffn_of_all": ("The FFNs' share of all parameters", lambda run: _share(parameters, run)),
    "ffn_work": ("The FFNs' share of all multiplications", lambda run: _share(multiply_adds, run)),
    "ffn_over_attention": ("How many times as many parameters the FFNs have as attention",
                           lambda run: _over_attention(parameters, run)),
    "ffn_work_over_attention": ("How many times as many multiplications the FFNs take as attention",
                                lambda run: _over_attention(multiply_adds, run)),
    "cost_tokens": ("The number of tokens for which multiplications are counted",
                    lambda run: _shape(run).n_tokens),
    "overtaken_at": ("The number of tokens at which attention costs as much as the FFNs",
                     lambda run: f"{overtaking_length(_shape(run)):,.0f}"),
    "linear_parts": ("How many of the tested parts are linear",
                     lambda run: sum(tried.check.passed for tried in _linearity(run).tried)),
    "tried_parts": ("How many parts were tested", lambda run: len(_linearity(run).tried)),
    "alone_difference": (
        "The largest difference if the FFN sees each token alone",
        lambda run: short(position_wise(run.model, run.trace, run.state.block).alone)),
})  # fmt: skip
