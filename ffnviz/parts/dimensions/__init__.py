"""Dimensions: expand and compress, one idea per part."""

from ffnviz.analysis.needs import Capability
from ffnviz.parts.dimensions import cost, flow, folds, forms, memory, separate, warp, wider
from ffnviz.parts.part import Part, View, part_of_views

OUR_FFN = (Capability.OURS, Capability.PLAIN_FFN)

PARTS = (
    part_of_views("Shapes and code", "flow", "512 → 2,048 → 512, and its program",
                  "shapes_view", {
        "flow": View("shapes", flow.sheet, needs=OUR_FFN),
        "forms": View("ways to write it", forms.sheet, forms.SETTINGS, OUR_FFN),
        "same": View("tokens and batches", flow.sheet_of_shapes, needs=(Capability.PLAIN_FFN,)),
    }),
    part_of_views("Cost", "cost", "weights, work and memory", "cost_view", {
        "parts": View("breakdown", cost.sheet, cost.SETTINGS),
        "growth": View("growth", cost.growth_sheet, needs=(Capability.OURS,)),
        "memory": View("memory", memory.sheet, memory.SETTINGS, OUR_FFN, further=True),
    }),
    Part(wider.sheet, "Why wider?", "wider", wider.SETTINGS,
         line="what a bend does, what width adds"),
    Part(separate.sheet, "Linear separability", "separate", separate.SETTINGS,
         line="points that no line separates"),
    part_of_views("Folding a plane", "warp", "what W₁, φ and W₂ do to a flat grid",
                  "warp_view", {
        "plane": View("a plane of tokens", warp.sheet, warp.SETTINGS, (Capability.PLAIN_FFN,)),
        "line": View("a line, folded again and again", folds.sheet, folds.SETTINGS, further=True),
    }),
)  # fmt: skip
