"""Numbers of the FFN as one part of the network: what it writes, costs, and shares."""

from collections.abc import Callable

import numpy as np

from ffnviz.analysis.dimensions.cost import (
    Shape,
    multiply_adds,
    overtaking_length,
    parameters,
    shape_of,
)
from ffnviz.analysis.dimensions.position_wise import position_wise
from ffnviz.analysis.dimensions.rank import out_of_reach, reach
from ffnviz.analysis.journey.path import FfnPath, Vector, ffn_path
from ffnviz.analysis.lab.linearity import Linearity, try_linearity
from ffnviz.analysis.needs import ours
from ffnviz.analysis.number_format import short
from ffnviz.analysis.prediction import predict
from ffnviz.analysis.vocabulary.lens import Contributions, contributions
from ffnviz.figures.wording import Number, number, percent, signed
from ffnviz.parts.lab.subject import cached_result
from ffnviz.state.run import Run


def _path(run: Run) -> FfnPath:
    return ffn_path(run.trace, run.state.block, run.token)


def _norm(values: Vector) -> Number:
    return number(f"{float(np.linalg.norm(values)):.1f}")


def _contributions(run: Run) -> Contributions:
    word = int(predict(run.model, run.trace, run.token, 1).ids[0])
    return contributions(run.model, run.trace, run.token, word)


def _added(run: Run, part: str) -> Number:
    found = _contributions(run)
    place = found.parts.index(f"{part} {run.state.block + 1}")
    return number(signed(float(found.added[place])))


def _most_added(run: Run) -> Number:
    found = _contributions(run)
    place = int(found.added.argmax())
    return number(f"{found.parts[place]}, {signed(float(found.added[place]))}")


def _shape(run: Run) -> Shape:
    return shape_of(ours(run.model).encoder.config)


def _ffn_share(counts: dict[str, int]) -> Number:
    return number(percent(counts["FFN"] / sum(counts.values())))


def _ffn_of_block(run: Run) -> Number:
    counts = parameters(_shape(run))
    return number(percent(counts["FFN"] / (counts["FFN"] + counts["attention"] + _norms(run))))


def _over_attention(counts: dict[str, int]) -> Number:
    return number(f"{counts['FFN'] / counts['attention']:.1f}")


def _norms(run: Run) -> int:
    """The LayerNorms' parameters within the blocks; the last stands behind all."""
    shape = _shape(run)
    return (shape.n_attentions + shape.n_blocks) * shape.norm_vectors * shape.d_model


def _alone(run: Run) -> Number:
    found = position_wise(run.model, run.trace, run.state.block)
    return number(short(found.alone))


def _linearity(run: Run) -> Linearity:
    return cached_result(run, "linearity", try_linearity)


def _outside(run: Run) -> Number:
    block = run.state.block
    reached = run.subject.per_network(f"reach of block {block}", lambda: reach(run.model, block))
    return number(percent(out_of_reach(reached, run.trace, block).after))


FACTS: dict[str, Callable[[Run], Number]] = {
    "input_norm": lambda run: _norm(_path(run).input),
    "output_norm": lambda run: _norm(_path(run).output),
    "stream_norm": lambda run: _norm(_path(run).stream),
    "new_stream_norm": lambda run: _norm(_path(run).new_stream),
    "ffn_added": lambda run: _added(run, "FFN"),
    "attention_added": lambda run: _added(run, "attention"),
    "most_added": _most_added,
    "logit": lambda run: number(signed(_contributions(run).logit)),
    "ffn_parameters": lambda run: number(
        f"{parameters(_shape(run))['FFN'] // _shape(run).n_blocks:,}"
    ),
    "ffn_of_all": lambda run: _ffn_share(parameters(_shape(run))),
    "ffn_of_block": _ffn_of_block,
    "ffn_work": lambda run: _ffn_share(multiply_adds(_shape(run))),
    "ffn_over_attention": lambda run: _over_attention(parameters(_shape(run))),
    "ffn_work_over_attention": lambda run: _over_attention(multiply_adds(_shape(run))),
    "cost_tokens": lambda run: number(f"{_shape(run).n_tokens:,}"),
    "overtaken_at": lambda run: number(f"{overtaking_length(_shape(run)):,.0f}"),
    "alone_difference": _alone,
    "out_of_reach": _outside,
    "linear_parts": lambda run: number(f"{sum(t.check.passed for t in _linearity(run).tried)}"),
    "tried_parts": lambda run: number(f"{len(_linearity(run).tried)}"),
}
