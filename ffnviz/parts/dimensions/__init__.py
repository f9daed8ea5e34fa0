"""Dimensions: expand and compress, one idea a part."""

from ffnviz.analysis.needs import Capability
from ffnviz.parts.dimensions import cost, flow, forms, plane, rank, separate, warp
from ffnviz.parts.part import Part

PARTS = (
    Part(flow.sheet, "The flow of shapes", "flow", needs=(Capability.OURS, Capability.PLAIN_FFN)),
    Part(
        forms.sheet,
        "Ways to write it",
        "forms",
        forms.SETTINGS,
        (Capability.OURS, Capability.PLAIN_FFN),
    ),
    Part(cost.sheet, "What it costs", "cost", cost.SETTINGS),
    Part(rank.sheet, "Why expand", "rank"),
    Part(separate.sheet, "Separate the inseparable", "separate", separate.SETTINGS),
    Part(warp.sheet, "The warp", "warp", warp.SETTINGS, (Capability.PLAIN_FFN,)),
    Part(plane.sheet, "Tokens in the plane", "plane"),
)
