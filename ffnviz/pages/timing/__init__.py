"""Timing: where the time goes, one idea a part."""

from ffnviz.measured import REPEATS
from ffnviz.page import Part
from ffnviz.pages.timing import convolution, devices, growth, products, stages

PARTS = (
    Part(stages.render, "Stage by stage", "stages", (REPEATS,)),
    Part(devices.render, "CPU and GPU", "devices", (REPEATS,)),
    Part(products.render, "How fast the products are", "products", (REPEATS,)),
    Part(growth.render, "How it grows", "growth"),
    Part(convolution.render, "As a convolution", "convolution", (REPEATS,)),
)
