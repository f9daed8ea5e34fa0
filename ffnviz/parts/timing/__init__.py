"""The page Timing: where the time and the memory go."""

from ffnviz.analysis.needs import Capability
from ffnviz.parts.part import View, part_of_views
from ffnviz.parts.sheet import REPEATS
from ffnviz.parts.timing import stages

OURS = (Capability.OURS,)

LINE = "where the time of a pass goes"
VIEWS = {
    "here": View("on this device", stages.sheet, (REPEATS,)),
    "devices": View("CPU and GPU", stages.devices_sheet, (REPEATS,), OURS),
    "products": View("matrix products", stages.products_sheet, (REPEATS,), OURS, further=True),
}
PARTS = (part_of_views("Stage by stage", "stages", LINE, "stages_view", VIEWS),)
