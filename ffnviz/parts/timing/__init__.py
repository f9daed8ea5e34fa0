"""The page Timing: where the time and the memory go."""

from ffnviz.analysis.needs import Capability
from ffnviz.parts.results import REPEATS
from ffnviz.parts.timing import devices, products, stages
from ffnviz.parts.views import View, part_of_views

OURS = (Capability.OURS,)

PARTS = (
    part_of_views("Stage by stage", "stages", "where the time of a pass goes", "stages_view", {
        "here": View("on this device", stages.sheet, (REPEATS,)),
        "devices": View("CPU and GPU", devices.sheet, (REPEATS,), OURS),
        "products": View("matmul throughput", products.sheet, (REPEATS,), OURS, further=True),
    }),
)  # fmt: skip
