"""The Lab: what textbooks say, tested live; each part is an experiment."""

from ffnviz.analysis.lab.experiment import FFN_NEEDS, NEEDS
from ffnviz.parts.lab import (
    convolution,
    convolution_times,
    dropout,
    fit,
    frozen,
    grouped,
    hand,
    influence,
    interaction,
    linear,
    local_map,
    positions,
    residual,
    sharing,
    summary,
    trained,
    without_phi,
)
from ffnviz.parts.part import Part
from ffnviz.parts.results import REPEATS
from ffnviz.parts.views import View, part_of_views

PARTS = (
    Part(summary.sheet, "All claims", "claims", (), FFN_NEEDS,
         line="what textbooks say, tested here"),
    part_of_views("Position-wise", "positions", "each token goes through by itself",
                  "positions_view", {
        "moved": View("tokens moved", positions.sheet, positions.SETTINGS, FFN_NEEDS),
        "sharing": View("shared weights", sharing.sheet, needs=FFN_NEEDS),
    }),
    part_of_views("As a convolution", "convolution", "the same FFN as a 1 × 1 convolution",
                  "convolution_view", {
        "equal": View("the same numbers", convolution.sheet, needs=FFN_NEEDS),
        "times": View("time", convolution_times.sheet, (REPEATS,), NEEDS),
        "grouped": View("in groups", grouped.sheet, grouped.SETTINGS, NEEDS),
    }),
    Part(without_phi.sheet, "Without φ", "bend", (), NEEDS, line="two matrices become one"),
    part_of_views("Linear?", "linear", "which parts of a block are linear", "linear_view", {
        "tests": View("part by part", linear.sheet, linear.SETTINGS, FFN_NEEDS),
        "token": View("one token, one matrix", local_map.sheet, local_map.SETTINGS),
        "frozen": View("the block frozen", frozen.sheet, frozen.SETTINGS, NEEDS),
        "together": View("two changes", interaction.sheet, interaction.SETTINGS),
    }),
    part_of_views("Fit a function", "fit", "a curve, drawn by a few neurons", "fit_view", {
        "trained": View("trained", fit.sheet, fit.SETTINGS, FFN_NEEDS),
        "hand": View("by hand", hand.sheet, hand.SETTINGS),
    }),
    Part(influence.sheet, "Input influence", "hears", influence.SETTINGS, NEEDS,
         line="which inputs an output depends on"),
    Part(residual.sheet, "Residual and LayerNorm", "residual", residual.SETTINGS, NEEDS,
         line="what each layer adds, and its scale"),
    Part(dropout.sheet, "Dropout", "dropout", dropout.SETTINGS, NEEDS,
         line="random neurons left out, pass by pass"),
    Part(trained.sheet, "What a network needs", "trained", (),
         line="small ones, trained with and without it"),
)  # fmt: skip
