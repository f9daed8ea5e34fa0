"""How everything looks: the colours, and the plotly template. The one style file.

The accents are Okabe & Ito's vermillion and blue (2008). The signed scale runs from violet through
the background to green, a pair that stays apart for colour-blind eyes.
"""

from dataclasses import asdict, dataclass

import plotly.graph_objects as go

FONT = '"Source Sans", "Source Sans 3", sans-serif'


@dataclass(frozen=True)
class Palette:
    """The colours of one theme, as CSS hexadecimal.

    Attributes:
        background: also what zero looks like.
        text, muted, line: for type, lesser type, and axes.
        relu, gelu: the accent of each activation function.
        positive, negative: far ends of the signed scale; *_mid are its halfway points.
    """

    background: str
    text: str
    muted: str
    line: str
    relu: str
    gelu: str
    positive: str
    positive_mid: str
    negative: str
    negative_mid: str

    def accent(self, twin: str) -> str:
        """The accent of a twin."""
        return self.relu if twin == "relu" else self.gelu


LIGHT = Palette(
    background="#ffffff",
    text="#1a1c23",
    muted="#555a66",
    line="#d5d8df",
    relu="#b84f00",
    gelu="#0067a3",
    positive="#00421f",
    positive_mid="#2fa35f",
    negative="#3d0a4f",
    negative_mid="#9a62b5",
)
DARK = Palette(
    background="#0e1117",
    text="#f2f4f8",
    muted="#a9b0bd",
    line="#343a46",
    relu="#ff9d4d",
    gelu="#62bdf5",
    positive="#d9ffe3",
    positive_mid="#35b36c",
    negative="#f3d9ff",
    negative_mid="#9c5fc0",
)


def palette(dark: bool) -> Palette:
    """The colours of the dark or the light theme."""
    return DARK if dark else LIGHT


def palettes() -> dict[str, dict[str, str]]:
    """Both themes as plain values, for components, which see the theme only in the browser."""
    return {"light": asdict(LIGHT), "dark": asdict(DARK)}


def template(colours: Palette) -> go.layout.Template:
    """The plotly template all our figures share."""
    axis = {
        "gridcolor": colours.line,
        "linecolor": colours.line,
        "zerolinecolor": colours.line,
        "tickfont": {"size": 17},
        "title": {"font": {"size": 16}},
        "fixedrange": True,
    }
    return go.layout.Template(
        layout={
            "font": {"family": FONT, "size": 17, "color": colours.text},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "margin": {"l": 8, "r": 8, "t": 30, "b": 8},
            "xaxis": axis,
            "yaxis": axis,
            "showlegend": False,
            "hoverlabel": {"font": {"size": 17}},
        }
    )
