"""The Lab: what the textbook says, tested live; a part an experiment."""

from ffnviz.analysis.lab.experiment import NEEDS
from ffnviz.page import Part
from ffnviz.pages.lab import (
    bend,
    convolution,
    dropout,
    fit,
    hears,
    linear,
    positions,
    residual,
    sharing,
    summary,
    width,
    zoo,
)

PARTS = (
    Part(summary.render, "All claims", "claims", needs=NEEDS),
    Part(positions.render, "Position-wise", "positions", positions.SETTINGS, NEEDS),
    Part(sharing.render, "Sharing", "sharing", needs=NEEDS),
    Part(convolution.render, "Convolution", "convolution", needs=NEEDS),
    Part(bend.render, "Delete the bend", "bend", needs=NEEDS),
    Part(linear.render, "Linear?", "linear", linear.SETTINGS, NEEDS),
    Part(fit.render, "Fit a function", "fit", fit.SETTINGS, NEEDS),
    Part(hears.render, "Who hears whom", "hears", hears.SETTINGS, NEEDS),
    Part(residual.render, "Residual", "residual", residual.SETTINGS, NEEDS),
    Part(zoo.render, "Zoo", "zoo", zoo.SETTINGS, NEEDS),
    Part(width.render, "How wide?", "width", width.SETTINGS, NEEDS),
    Part(dropout.render, "Dropout", "dropout", dropout.SETTINGS, NEEDS),
)
