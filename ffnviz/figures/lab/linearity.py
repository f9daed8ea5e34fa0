"""How far from linear each part is, against what rounding may make."""

from collections.abc import Mapping

import numpy as np

from ffnviz.analysis.number_format import short
from ffnviz.figures.layout import Figure, axis, figure, vertical_line

LEAST = 1e-17


def off_linear(
    tried: Mapping[str, tuple[float, ...]], allowed: float, labels: tuple[str, ...], twin: str
) -> Figure:
    """A bar a part and test on a logarithmic scale, and a line where rounding ends.

    Args:
        tried: part → how far each test is off.
        allowed: what rounding may make, the largest of all parts'.
        labels: of the tests, one or two; one has no legend.
        twin: the accent.
    """
    short_names = [name.removeprefix("all ") for name in tried]
    names = [f"{name.split(' (')[0]}, held" if "(" in name else name for name in short_names]
    tests = zip(zip(*tried.values(), strict=True), labels, (f"@{twin}", "@muted"), strict=False)
    axis_end = np.log10(LEAST)
    return figure(
        [
            {"type": "bar", "orientation": "h", "name": label, "y": names,
             # From the axis' end on: a bar on a logarithmic scale has no zero to start from.
             "x": np.log10(np.maximum(values, LEAST)) - axis_end, "base": axis_end,
             "marker": {"color": colour},
             "meta": {"numbers": "customdata", "values": list(values), "named": "map"},
             "customdata": np.array(values),
             "hovertemplate": "%{y}: %{customdata:.2g}<extra>%{fullData.name}</extra>",
             "text": [short(value, 1) for value in values], "textposition": "outside",
             "textfont": {"size": 16}, "cliponaxis": False}
            for values, label, colour in tests
        ],
        axis("off by (share), logarithmic", range=[axis_end, 2],
             tickvals=list(range(-16, 1, 4)),
             ticktext=[f"10<sup>{k}</sup>" if k else "1" for k in range(-16, 1, 4)]),
        axis("", autorange="reversed", showgrid=False, tickfont={"size": 16}),
        barmode="group",
        legend={"orientation": "h", "x": 0, "y": 1.05, "yanchor": "bottom"},
        showlegend=len(labels) > 1,
        bargap=0.3,
        margin={"l": 170, "r": 20, "t": 58 if len(labels) > 1 else 26, "b": 56},
        shapes=[vertical_line(np.log10(allowed))],
        annotations=[{"text": "rounding ends here", "x": np.log10(allowed), "y": 1,
                      "yref": "paper", "yanchor": "bottom", "xanchor": "left",
                      "showarrow": False}],
    )  # fmt: skip
