"""Bars in panels side by side; a phone stacks them, see chart.js."""

from collections.abc import Sequence

from ffnviz.figures.layout import Figure, Trace, axis, layout, panel_title

GAP = 0.05


def bar_panels(
    bars: Sequence[Trace],
    titles: Sequence[str],
    reach: Sequence[tuple[float, float]],
    unit: str,
    bargap: float,
    margin: dict[str, int],
) -> Figure:
    """A panel a list of horizontal bars, from left to right, their texts at the bars' ends.

    Args:
        bars: a trace a panel, with y counting from 0; all that bars have in common is added.
        titles: said above each; may hold <br>, and so must be escaped where it is typed.
        reach: each panel's x axis, from and to: room for its longest bars and their texts.
        unit: what the numbers are, under the first panel.
        bargap: as in Plotly's layout.
        margin: likewise.
    """
    width = (1 - GAP * (len(bars) - 1)) / len(bars)
    rows = max((len(trace["y"]) for trace in bars), default=1)
    bare = {"showticklabels": False, "showgrid": False, "zeroline": False}
    traces, axes, headings = [], {}, []
    for place, (trace, title, ends) in enumerate(zip(bars, titles, reach, strict=True)):
        left, number = place * (width + GAP), place + 1
        axes[f"xaxis{number}"] = axis(
            unit if place == 0 else "", domain=[left, left + width], range=list(ends),
            showline=False, anchor=f"y{number}", **bare,
        )  # fmt: skip
        axes[f"yaxis{number}"] = axis(
            "", range=[rows - 0.4, -0.6], anchor=f"x{number}", **bare
        )  # fmt: skip
        traces.append({
            "type": "bar", "orientation": "h", "name": title.replace("<br>", " "),
            "xaxis": f"x{number}", "yaxis": f"y{number}", "textposition": "outside",
            "cliponaxis": False, "textangle": 0, "hoverinfo": "none", **trace,
            "meta": {**trace.get("meta", {}), "unit": unit},
        })  # fmt: skip
        headings.append(panel_title(title, left, 1.01))
    return {
        "data": traces,
        "layout": layout(
            axes.pop("xaxis1"), axes.pop("yaxis1"), **axes, meta={"panels": len(bars)},
            annotations=headings, showlegend=False, bargap=bargap, margin=margin,
        ),
    }  # fmt: skip
