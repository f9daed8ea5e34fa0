"""What each part of a Transformer costs, and who takes over as the sequence grows."""

from collections.abc import Mapping

import numpy as np

from ffnviz.figures.layout import Figure, Trace, axis, bare_axis, figure, line_trace, panel_title
from ffnviz.figures.style import Array
from ffnviz.figures.wording import percent

SHORT = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def short(count: float) -> str:
    """A large count in three digits: 2.10 M."""
    for size, letter in SHORT:
        if count >= size:
            return f"{count / size:.3g} {letter}"
    return f"{count:,.0f}"


def costs(parameters: Mapping[str, int], multiply_adds: Mapping[str, int], twin: str) -> Figure:
    """Two panels of bars, a bar a part, the FFN in the accent."""
    traces: list[Trace] = []
    parts = list(parameters)
    for place, (name, counts) in enumerate(
        (("parameters", parameters), ("multiply-adds", multiply_adds))
    ):
        values = np.array([float(counts[part]) for part in parts])
        total = values.sum()
        traces.append({
            "type": "bar", "orientation": "h", "name": name, "x": values / total * 100,
            "y": parts, "xaxis": f"x{place + 1}", "yaxis": f"y{place + 1}",
            "textposition": "outside", "cliponaxis": False,
            "meta": {"counts": [counts[part] for part in parts], "labels": [], "named": "part"},
            "text": [f"{short(v)} <b>{percent(v / total).replace('<', '&lt;')}</b>"
                     for v in values],
            "textfont": {"size": 17}, "hoverinfo": "none",
            "marker": {"color": [f"@{twin}" if part == "FFN" else "@muted" for part in parts]},
        })  # fmt: skip
    titles = [
        panel_title(f"<b>{short(sum(parameters.values()))}</b> parameters", 0),
        panel_title(f"<b>{short(sum(multiply_adds.values()))}</b> multiply-adds", 0.56),
    ]
    # As far as the longest bar, and room for the words behind it.
    longest = max(max(trace["x"]) for trace in traces)
    hidden = {"range": [0, 1.9 * longest], "showticklabels": False}
    return figure(
        traces,
        bare_axis("% of all", domain=[0, 0.46], **hidden),
        axis("", autorange="reversed", showgrid=False),
        xaxis2=bare_axis("% of all", domain=[0.56, 1], anchor="y2", **hidden),
        yaxis2=axis("", autorange="reversed", showgrid=False, anchor="x2", showticklabels=False),
        annotations=titles,
        meta={"panels": 2},
        showlegend=False,
        bargap=0.3,
        margin={"l": 104, "r": 10, "t": 36, "b": 40},
    )


def share_against_length(
    lengths: Array, shares: Array, now: tuple[float, float], overtaken: float, twin: str
) -> Figure:
    """The FFNs' share of the blocks' multiply-adds, the present length and the crossing marked.

    Args:
        lengths: of the sequence, rising, (n,).
        shares: at each, (n,), from 0 to 1.
        now: the length set, and its share.
        overtaken: where the share is a half; zero or less if nowhere.
        twin: the accent.
    """
    crossing = [overtaken] if lengths[0] <= overtaken <= lengths[-1] else []
    return figure(
        [
            line_trace("FFN", lengths, 100 * shares, f"@{twin}", 4, fill="tozeroy",
                       fillcolor=f"@{twin}/0.18",
                       hovertemplate="%{y:.1f}% at %{x:,.0f} tokens<extra></extra>"),
            {"type": "scatter", "mode": "markers", "name": "now", "x": np.array([now[0]]),
             "y": np.array([100 * now[1]]), "marker": {"size": 15, "color": "@text"},
             "hoverinfo": "skip"},
            {"type": "scatter", "mode": "markers+text", "name": "attention overtakes",
             "x": np.array(crossing), "y": np.full(len(crossing), 50.0),
             "text": [f"  n = {place:,.0f}" for place in crossing],
             "textposition": "middle right" if overtaken < 3_000 else "middle left",
             "textfont": {"size": 17}, "hoverinfo": "skip",
             "marker": {"size": 15, "symbol": "x", "color": "@text"}},
        ],
        axis("sequence length n, tokens", type="log", dtick=1,
             range=[float(np.log10(lengths[0])), float(np.log10(lengths[-1]))]),
        axis("FFN, % of the blocks", range=[0, 100], dtick=25),
        showlegend=False,
        margin={"l": 70, "r": 20, "t": 12, "b": 56},
    )  # fmt: skip
