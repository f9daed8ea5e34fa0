"""Timing: where the time goes, one idea a part."""

from ffnviz.analysis.needs import Capability
from ffnviz.parts.part import Part
from ffnviz.parts.results import REPEATS
from ffnviz.parts.timing import convolution, devices, grouped, growth, memory, products, stages

OURS = (Capability.OURS,)
PARTS = (
    Part(stages.sheet, "Stage by stage", "stages", (REPEATS,)),
    Part(devices.sheet, "CPU and GPU", "devices", (REPEATS,), OURS),
    Part(products.sheet, "How fast the products are", "products", (REPEATS,), OURS),
    Part(growth.sheet, "How it grows", "growth", needs=OURS),
    Part(
        memory.sheet,
        "Memory while it runs",
        "memory",
        memory.SETTINGS,
        (*OURS, Capability.PLAIN_FFN),
    ),
    Part(
        convolution.sheet,
        "As a convolution",
        "convolution",
        (REPEATS,),
        (*OURS, Capability.PLAIN_FFN),
    ),
    Part(
        grouped.sheet, "Grouped 1 × 1", "grouped", grouped.SETTINGS, (*OURS, Capability.PLAIN_FFN)
    ),
)
