"""Dimensions: expand and compress, one idea a part."""

from ffnviz.analysis.needs import Capability
from ffnviz.parts.dimensions import cost, flow, forms, plane, rank, same, separate, warp
from ffnviz.parts.part import Part

PARTS = (
    Part(flow.render, "The flow of shapes", "flow", needs=(Capability.OURS, Capability.PLAIN_FFN)),
    Part(
        forms.render,
        "Ways to write it",
        "forms",
        forms.SETTINGS,
        (Capability.OURS, Capability.PLAIN_FFN),
    ),
    Part(cost.render, "What it costs", "cost", cost.SETTINGS),
    Part(rank.render, "Why expand", "rank"),
    Part(separate.render, "Separate the inseparable", "separate", separate.SETTINGS),
    Part(warp.render, "The warp", "warp", warp.SETTINGS, (Capability.PLAIN_FFN,)),
    Part(plane.render, "Tokens in the plane", "plane"),
    Part(same.render, "One FFN for all tokens", "same", needs=(Capability.PLAIN_FFN,)),
)
