"""The Lab: what the textbook says, tested live; a part an experiment."""

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
    Part(summary.render, "All claims", "claims"),
    Part(positions.render, "Position-wise", "positions", positions.SETTINGS),
    Part(sharing.render, "Sharing", "sharing"),
    Part(convolution.render, "Convolution", "convolution"),
    Part(bend.render, "Delete the bend", "bend"),
    Part(linear.render, "Linear?", "linear", linear.SETTINGS),
    Part(fit.render, "Fit a function", "fit", fit.SETTINGS),
    Part(hears.render, "Who hears whom", "hears", hears.SETTINGS),
    Part(residual.render, "Residual", "residual", residual.SETTINGS),
    Part(zoo.render, "Zoo", "zoo", zoo.SETTINGS),
    Part(width.render, "How wide?", "width", width.SETTINGS),
    Part(dropout.render, "Dropout", "dropout", dropout.SETTINGS),
)
