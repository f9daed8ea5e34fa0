"""The Lab: what the textbook says, tested live; a part an experiment."""

from ffnviz.analysis.lab.experiment import FFN_NEEDS, NEEDS
from ffnviz.parts.lab import (
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
)
from ffnviz.parts.part import Part

PARTS = (
    Part(summary.sheet, "All claims", "claims", needs=FFN_NEEDS),
    Part(positions.sheet, "Position-wise", "positions", positions.SETTINGS, FFN_NEEDS),
    Part(sharing.sheet, "Sharing", "sharing", needs=FFN_NEEDS),
    Part(convolution.sheet, "Convolution", "convolution", needs=FFN_NEEDS),
    Part(bend.sheet, "Delete the bend", "bend", needs=NEEDS),
    Part(linear.sheet, "Linear?", "linear", linear.SETTINGS, FFN_NEEDS),
    Part(fit.sheet, "Fit a function", "fit", fit.SETTINGS, FFN_NEEDS),
    Part(hears.sheet, "Who hears whom", "hears", hears.SETTINGS, NEEDS),
    Part(residual.sheet, "Residual", "residual", residual.SETTINGS, NEEDS),
    Part(dropout.sheet, "Dropout", "dropout", dropout.SETTINGS, NEEDS),
)
