"""The likeliest words as bars, with the FFN and without it."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from ffnviz.figures.style import Palette, template

LABEL_WIDTH = 92  # pixels for the words left of the bars


def prediction_bars(
    panels: Sequence[tuple[str, Sequence[str], NDArray[np.floating]]],
    accents: Sequence[str],
    colours: Palette,
    height: int,
) -> go.Figure:
    """Panels of horizontal bars side by side, all on one scale.

    Args:
        panels: for each its title, words, and their probabilities, the likeliest first.
        accents: the colour of each panel's bars.
        colours: of the theme.
        height: in pixels.
    """
    highest = max(float(probabilities.max()) for _, _, probabilities in panels)
    figure = make_subplots(
        rows=1,
        cols=len(panels),
        subplot_titles=[title for title, _, _ in panels],
        horizontal_spacing=0.24,
    )
    for column, ((_, words, probabilities), accent) in enumerate(
        zip(panels, accents, strict=True), start=1
    ):
        figure.add_trace(_bars(words, probabilities, accent), row=1, col=column)
    ranks = np.arange(max(len(words) for _, words, _ in panels))
    figure.update_xaxes(range=[0, highest * 1.45], visible=False)
    figure.update_yaxes(autorange="reversed", showgrid=False, tickvals=ranks, ticklen=4)
    for column, (_, words, _) in enumerate(panels, start=1):
        figure.update_yaxes(ticktext=[escape(word) for word in words], col=column)
    margin = {"l": LABEL_WIDTH, "r": 4, "t": 28, "b": 0}
    figure.update_layout(template=template(colours), height=height, bargap=0.25, margin=margin)
    figure.update_annotations(font={"size": 17, "color": colours.muted})
    return figure


def _bars(words: Sequence[str], probabilities: NDArray[np.floating], accent: str) -> go.Bar:
    return go.Bar(
        y=np.arange(len(words)),
        x=probabilities,
        orientation="h",
        marker={"color": accent},
        text=[percent(float(p)) for p in probabilities],
        textposition="outside",
        cliponaxis=False,
        customdata=[escape(word) for word in words],
        hovertemplate="%{customdata}: %{x:.4f}<extra></extra>",
    )


def escape(text: str) -> str:
    """Text that plotly shows as it is: its labels read a few tags and these three entities."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def percent(share: float) -> str:
    """A share as a short percentage that never shows something as nothing."""
    if 0 < share < 0.001:
        return "<0.1%"
    return f"{share:.1%}" if share < 0.1 else f"{share:.0%}"
