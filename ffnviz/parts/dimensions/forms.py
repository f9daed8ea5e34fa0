"""Ways to write it: rows, columns, NumPy, a batch; each is run, and each gives the same."""

import numpy as np
import streamlit as st

from ffnviz.analysis.dimensions.forms import BATCH, TOKENS, Form, forms
from ffnviz.analysis.number_format import short
from ffnviz.analysis.spread import Progress
from ffnviz.figures.bars import Bars, named_bars
from ffnviz.figures.wording import Sentence, number
from ffnviz.parts.measurement import about, measure_button
from ffnviz.parts.part import Navigator, live
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run
from ffnviz.state.settings import choice_setting

RUNS = 5
FORM = choice_setting(
    "form",
    {"rows": "rows", "columns": "columns", "numpy": "NumPy", "batch": f"a batch of {BATCH}"},
)
SETTINGS = (FORM,)
NAMES = {
    "rows": "rows, PyTorch", "columns": "columns, PyTorch", "numpy": "rows, NumPy",
    "batch": "batch, PyTorch",
}  # fmt: skip
EQUATIONS = {
    "rows": "Y = φ(X W₁ + b₁) W₂ + b₂",
    "columns": "Yᵀ = W₂ᵀ φ(W₁ᵀ Xᵀ + b₁) + b₂",
    "numpy": "Y = φ(X W₁ + b₁) W₂ + b₂",
    "batch": f"Y = φ(X W₁ + b₁) W₂ + b₂, for each of {BATCH} × {TOKENS} tokens",
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


@live
def render(run: Run, navigator: Navigator) -> None:
    """The equation and its code beside what each way gives."""
    setup = (run.card.id, run.state.sentence, run.device, run.state.block)
    written, given = st.columns([1.1, 1], gap="medium")
    with written:
        form = str(st.segmented_control("Way to write it", required=True,
                                        label_visibility="collapsed",
                                        **navigator.options(FORM)))  # fmt: skip
        st.markdown(f"**{EQUATIONS[form]}**")
        st.code(code(run, form), language=None, wrap_lines=True)
        if form == "columns":
            st.markdown("Many textbooks write columns, and call W what is Wᵀ here.")
    with given:
        measured = measure_button("forms", setup, run, measure)
        if measured is None:
            return
        what_each_gives(run, measured.result, form, f"{measured.when} {measured.setup}")
        about(measured, setup, run)


def measure(run: Run, progress: Progress) -> dict[str, Form]:
    """All ways, on the sentence and on a batch."""
    return forms(run.model, run.trace, run.state.block, RUNS, progress)


def code(run: Run, form: str) -> str:
    """A way of writing this block's FFN that runs in a notebook."""
    sizes, phi, ffn = run.model.sizes, run.card.phi, run.model.ffn(run.state.block)
    given = {
        "network": run.card.id, "text": run.trace.text, "block": run.state.block,
        "n": len(run.labels), "d_model": sizes.d_model, "d_ff": sizes.d_ff,
        "b1": "ffn.key_bias" if ffn.key_bias is not None else f"torch.zeros({sizes.d_ff})",
        "b2": "ffn.output_bias" if ffn.output_bias is not None
              else f"torch.zeros({sizes.d_model})",
        "torch": phi.torch, "numpy": phi.numpy or "φ(z)", "batch": BATCH, "tokens": TOKENS,
    }  # fmt: skip
    return (START + CODE[form]).format(**given)


def what_each_gives(run: Run, found: dict[str, Form], form: str, version: str) -> None:
    """Shapes, the largest difference, and the times."""
    shown = found.get(form, found["rows"])
    way = form if form in found else "rows"
    shapes = " → ".join(f"({', '.join(f'{n:,}' for n in shape)})" for shape in shown.shapes)
    against = "its texts one by one" if way == "batch" else "what the network computed"
    each = 1_000 * shown.time.median / shown.n_tokens
    sentence: Sentence = [
        number(shapes), f" takes {short(each, 3)} microseconds a token, and differs from {against} "
        "by at most ", number(short(shown.difference, 1)), ".",
    ]  # fmt: skip
    accent = f"@{run.card.colour}"
    bars = Bars(
        "",
        [NAMES[name] for name in found],
        np.array([1_000 * form.time.median / form.n_tokens for form in found.values()]),
        [accent if name == way else "@muted" for name in found],
    )
    chart(
        Head(sentence, "forms", run.card.colour),
        named_bars([bars], "microseconds a token, median"),
        "The time that each way of writing the FFN takes for a token.",
        f"{run.stamp} {version} {form}",
        key="forms",
        height=390,
    )
