"""What an intervention changed, block by block."""

from ffnviz.figures.layout import Figure, axis, escaped, figure
from ffnviz.figures.style import Array
from ffnviz.figures.wording import percent


def changes(output: Array, stream: Array, twin: str) -> Figure:
    """How far each block's FFN output and the stream behind it moved.

    Args:
        output: ‖change‖ / ‖plain‖ of each block's FFN output, (n_blocks,).
        stream: the same of the stream after each block, (n_blocks,).
        twin: the accent.
    """
    places = [f"block {number}" for number in range(1, len(output) + 1)]
    largest = max(float(output.max()), float(stream.max()), 1e-3)
    traces = [
        {"type": "bar", "orientation": "h", "name": name, "y": places, "x": 100 * values,
         "meta": {"named": "block", "labels": []},
         "text": [escaped(percent(float(v))) for v in values], "textposition": "outside",
         "cliponaxis": False, "hoverinfo": "none", "marker": {"color": colour}}
        for name, values, colour in (("FFN output", output, f"@{twin}"),
                                     ("stream after the block", stream, "@muted"))
    ]  # fmt: skip
    return figure(
        traces,
        axis("moved by, % of its length", range=[0, 120 * largest], zeroline=False),
        axis("", autorange="reversed", showgrid=False),
        barmode="group",
        margin={"l": 84, "r": 20, "t": 36, "b": 52},
    )  # fmt: skip
