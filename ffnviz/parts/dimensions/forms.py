"""Ways to write it: rows, columns, NumPy, a batch; each is run, and each gives the same."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ffnviz.analysis.measuring import Progress, Spread, in_turn
from ffnviz.analysis.needs import Capability, require
from ffnviz.analysis.number_format import short
from ffnviz.models.network import Network
from ffnviz.parts.sheet import Measured, Measurement, Sheet, Soon, measured_on, row
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.text import code_cell, text_cell
from ffnviz.pictures.wording import Sentence, number, strong
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, choice_setting

NEEDS = (Capability.PLAIN_FFN,)
BATCH, TOKENS = 32, 128  # as in the usual example, (32, 128, 512)
RUNS = 5
SEED = 31

Shape = tuple[int, ...]
Way = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Form:
    """One way of writing the FFN."""

    n_tokens: int  # computed together
    shapes: tuple[Shape, Shape, Shape]  # of the input, the hidden layer, and the output
    # the largest difference to the network's own output; for the batch, to its texts one by one
    difference: float
    time: Spread  # in milliseconds


@torch.no_grad()
def forms(run: Run, progress: Progress) -> dict[str, Form]:
    """Run each way: "batch" on random values, "numpy" only for a φ that NumPy has."""
    model, block = run.model, run.state.block
    require(model, NEEDS)
    record, widths = run.trace.blocks[block].ffn, (model.sizes.d_model, model.sizes.d_ff)
    x, n = record.input, len(record.input)
    generator = torch.Generator().manual_seed(SEED)
    batch = torch.randn(BATCH, TOKENS, widths[0], generator=generator).to(model.device)
    rows, columns, by_numpy = _ways(model, block)
    tasks: dict[str, Callable[[], Tensor]] = {
        "rows": lambda: rows(x),
        "columns": lambda: columns(x.mT).mT,
        "numpy": lambda: by_numpy(x),
        "batch": lambda: rows(batch),
    }
    if not model.ffn(block).phi.numpy:
        del tasks["numpy"]
    outputs = {name: task() for name, task in tasks.items()}
    expected = dict.fromkeys(tasks, record.output)
    expected["batch"] = torch.stack([rows(text) for text in batch])
    times = in_turn(tasks, RUNS, 1, model.device, progress)

    def shape(name: str, width: int) -> Shape:
        by_name: dict[str, Shape] = {"columns": (width, n), "batch": (BATCH, TOKENS, width)}
        return by_name.get(name, (n, width))

    return {
        name: Form(
            BATCH * TOKENS if name == "batch" else n,
            (shape(name, widths[0]), shape(name, widths[1]), shape(name, widths[0])),
            float((outputs[name] - expected[name]).abs().max()),
            times[name],
        )
        for name in tasks
    }


def _ways(model: Network, block: int) -> tuple[Way, Way, Way]:
    """φ(X W₁ + b₁) W₂ + b₂; W₂ᵀ φ(W₁ᵀ X + b₁) + b₂, tokens as columns; the first in NumPy."""
    ffn = model.ffn(block)
    phi, w1, w2 = ffn.phi.function, ffn.keys.mT, ffn.values
    b1 = w1.new_zeros(w1.shape[1]) if ffn.key_bias is None else ffn.key_bias
    b2 = w2.new_zeros(w2.shape[1]) if ffn.output_bias is None else ffn.output_bias
    arrays = [weights.detach().cpu().float().numpy() for weights in (w1, b1, w2, b2)]

    def rows(x: Tensor) -> Tensor:
        return phi(x @ w1 + b1) @ w2 + b2

    def columns(x: Tensor) -> Tensor:
        return w2.mT @ phi(w1.mT @ x + b1[:, None]) + b2[:, None]

    def by_numpy(x: Tensor) -> Tensor:
        w1, b1, w2, b2 = arrays
        z = x.cpu().numpy() @ w1 + b1
        output = ffn.phi.in_numpy(z).astype(np.float32) @ w2 + b2
        return torch.from_numpy(output).to(x.device)

    return rows, columns, by_numpy


WAYS = {"rows": "rows", "columns": "columns", "numpy": "NumPy", "batch": f"a batch of {BATCH}"}
FORM = choice_setting("form", WAYS).with_control("Way to write it")
SETTINGS = (FORM,)
NAMES = {name: f"{name}, PyTorch" for name in FORM.options} | {"numpy": "rows, NumPy"}
BY_ROWS = "Y = φ(X W₁ + b₁) W₂ + b₂"
EQUATIONS = {
    "rows": BY_ROWS,
    "columns": "Yᵀ = W₂ᵀ φ(W₁ᵀ Xᵀ + b₁) + b₂",
    "numpy": BY_ROWS,
    "batch": f"{BY_ROWS}, for each of {BATCH} × {TOKENS} tokens",
}
START = """\
import math
import ffnviz, numpy as np, torch
from torch.nn import functional as F

trace = ffnviz.load("{network}").trace({text!r})
record = trace.blocks[{block}].ffn
ffn = ffnviz.load("{network}").ffn({block})
W1, W2 = ffn.keys.T, ffn.values   # ({d_model}, {d_ff}), ({d_ff}, {d_model})
b1 = {b1}
b2 = {b2}
"""
CODE = {
    "rows": """
x = record.input                  # ({n}, {d_model})
z = x @ W1 + b1                   # ({n}, {d_ff})
y = {torch} @ W2 + b2
print((y - record.output).abs().max())
""",
    "columns": """
x = record.input.T                # ({d_model}, {n}): a token a column
z = W1.T @ x + b1[:, None]        # ({d_ff}, {n})
y = W2.T @ {torch} + b2[:, None]
print((y.T - record.output).abs().max())
""",
    "numpy": """
W1, W2, b1, b2, x = (each.detach().cpu().numpy()
                     for each in (W1, W2, b1, b2, record.input))
z = x @ W1 + b1                   # ({n}, {d_ff})
y = ({numpy}) @ W2 + b2
print(np.abs(y - record.output.cpu().numpy()).max())
""",
    "batch": """
x = torch.randn({batch}, {tokens}, {d_model})
z = x @ W1 + b1                   # ({batch}, {tokens}, {d_ff})
y = {torch} @ W2 + b2
print(x.shape, z.shape, y.shape)
""",
}


def sheet(run: Run, values: Values) -> Sheet:
    """The equation and its code beside what each way gives."""
    setup = (run.card.id, run.state.sentence, run.device, run.state.block)
    form = values[FORM]
    equation = text_cell("equation", strong(EQUATIONS[form]))
    written = [equation, code_cell("code", code(run, form))]
    if form == "columns":
        written.append(text_cell("textbooks", "Many textbooks write columns; their W is Wᵀ here."))

    def after(measured: Measured[dict[str, Form]]) -> list[Cell]:
        return [what_each_gives(run, measured.result, form, measured_on(measured))]

    soon = Soon("forms", "What each way of writing it gives, and how long it takes", 300)
    given = Measurement("forms", setup, forms, after, before=[soon])
    return Sheet([row(written, given, widths=(1.1,))])


def code(run: Run, form: str) -> str:
    """A way of writing this block's FFN that runs in a notebook."""
    sizes, phi, ffn = run.model.sizes, run.card.phi, run.model.ffn(run.state.block)
    given = {
        "network": run.card.id,
        "text": run.trace.text,
        "block": run.state.block,
        "n": len(run.labels),
        "d_model": sizes.d_model,
        "d_ff": sizes.d_ff,
        "b1": "ffn.key_bias" if ffn.key_bias is not None else f"torch.zeros({sizes.d_ff})",
        "b2": "ffn.output_bias" if ffn.output_bias is not None else f"torch.zeros({sizes.d_model})",
        "torch": phi.torch,
        "numpy": phi.numpy or "φ(z)",
        "batch": BATCH,
        "tokens": TOKENS,
    }
    return (START + CODE[form]).format(**given)


def what_each_gives(run: Run, by_form: dict[str, Form], wanted: str, under: Sentence) -> Cell:
    """Shapes, the largest difference, and the times; of rows, where the chosen way was not run."""
    way = wanted if wanted in by_form else "rows"
    form = by_form[way]
    shapes = " → ".join(f"({', '.join(f'{n:,}' for n in shape)})" for shape in form.shapes)
    exact, against = form.difference == 0, "what the network computed"
    if way == "batch":
        against = "what its texts give one by one" if exact else "its texts one by one"
    differs = f"differs from {against} by at most {short(form.difference, 1)}"
    if exact:
        differs = f"gives exactly {against}"
    times = {name: 1_000 * each.time.median / each.n_tokens for name, each in by_form.items()}
    sentence = f"{number(shapes)} takes {short(times[way], 3)} microseconds a token, and {differs}."
    colours = [run.card.colour if name == way else "muted" for name in times]
    names = [NAMES[name] for name in times]
    return bars_cell(
        Head(sentence, "forms", run.card.colour, under=under),
        [Bars("", names, np.array(list(times.values())), colours)],
        alt="The time that each way of writing the FFN takes for a token.",
        of="microseconds a token, median",
    )
