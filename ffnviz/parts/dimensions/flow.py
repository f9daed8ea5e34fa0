"""The shapes that flow through an FFN, beside the code that does it."""

from ffnviz.analysis.dimensions.position_wise import against_sequential
from ffnviz.analysis.number_format import short
from ffnviz.figures.dimensions.flow import flow
from ffnviz.figures.wording import Sentence, number
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.code import code_cell
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run
from ffnviz.state.settings import Values

CODE = """\
# In PyTorch, with these weights
import ffnviz
import torch
from torch import nn

model = ffnviz.load("{network}")
trace = model.trace({text!r})
# what block {number} did
record = trace.blocks[{block}].ffn
trained = model.encoder.blocks[{block}].ffn

expand = nn.Linear({d_model}, {d_ff})
compress = nn.Linear({d_ff}, {d_model})
expand.load_state_dict(
    trained.expand.state_dict())
compress.load_state_dict(
    trained.compress.state_dict())

x = record.input              # ({n}, {d_model})
with torch.no_grad():
    hidden = expand(x)        # ({n}, {d_ff})
    hidden = nn.{label}()(hidden)
    output = compress(hidden) # ({n}, {d_model})
print(x.shape, "->", output.shape)
print((output - record.output).abs().max())
"""


def sheet(run: Run, _: Values) -> Sheet:
    """The diagram beside the code."""
    block, n, label = run.state.block, len(run.labels), run.card.phi.label
    d_model, d_ff = run.model.sizes.d_model, run.model.sizes.d_ff
    difference = against_sequential(run.model, run.trace, block)
    agreement = f"differ by at most {short(difference)}" if difference else "give exactly the same"
    sentence: Sentence = [
        f"Your {n} tokens go through as ",
        number(f"({n}, {d_model:,}) → ({n}, {d_ff:,}) → ({n}, {d_model:,})"),
        f": expanded {d_ff / d_model:g} times, activated, and projected back. PyTorch's own layers "
        f"with the same weights {agreement}.",
    ]  # fmt: skip
    picture = chart_cell(
        Head(sentence, "flow", run.card.colour),
        flow(n, d_model, d_ff, label, run.card.colour),
        f"From {n} by {d_model} to {n} by {d_ff} and back.",
        height=630,
    )
    code = CODE.format(
        network=run.card.id, text=run.trace.text, block=block, number=block + 1, n=n, label=label,
        d_model=d_model, d_ff=d_ff,
    )  # fmt: skip
    return Sheet([row(picture, code_cell("code", code), widths=(1.2,))])
