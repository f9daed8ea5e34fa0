"""The page Timing: where the time and the memory go."""

from ffnviz.analysis.needs import Capability
from ffnviz.parts.part import Part
from ffnviz.parts.results import REPEATS
from ffnviz.parts.timing import devices, growth, memory, products, stages
from ffnviz.parts.views import View, part_of_views, view_setting

OURS = (Capability.OURS,)
VIEW = view_setting(
    "stages_view",
    {"here": "on this device", "devices": "CPU and GPU", "products": "matmul throughput"},
)

PARTS = (
    part_of_views("Stage by stage", "stages", "where the time of a pass goes", VIEW, {
        "here": View(stages.sheet, (REPEATS,)),
        "devices": View(devices.sheet, (REPEATS,), OURS),
        "products": View(products.sheet, (REPEATS,), OURS),
    }),
    Part(growth.sheet, "Growth", "growth", (), OURS, line="slower with more tokens and neurons"),
    Part(memory.sheet, "Memory", "memory", memory.SETTINGS, (*OURS, Capability.PLAIN_FFN),
         line="what activations take, chunks save"),
)  # fmt: skip
