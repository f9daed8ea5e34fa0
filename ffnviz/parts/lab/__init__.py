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
from ffnviz.parts.views import View, part_of_views, view_setting

POSITIONS_VIEW = view_setting(
    "positions_view", {"moved": "tokens moved", "sharing": "shared weights"}
)
CONVOLUTION_VIEW = view_setting(
    "convolution_view", {"equal": "the same numbers", "times": "time", "grouped": "in groups"}
)
LINEAR_VIEW = view_setting(
    "linear_view",
    {
        "tests": "part by part",
        "token": "one token, one matrix",
        "frozen": "the block frozen",
        "together": "two changes",
    },
)
FIT_VIEW = view_setting("fit_view", {"trained": "trained", "hand": "by hand"})

PARTS = (
    Part(summary.sheet, "All claims", "claims", (), FFN_NEEDS,
         line="what textbooks say, tested here"),
    part_of_views("Position-wise", "positions", "each token goes through by itself",
                  POSITIONS_VIEW, {
        "moved": View(positions.sheet, positions.SETTINGS, FFN_NEEDS),
        "sharing": View(sharing.sheet, needs=FFN_NEEDS),
    }),
    part_of_views("As a convolution", "convolution", "the same FFN as a 1 × 1 convolution",
                  CONVOLUTION_VIEW, {
        "equal": View(convolution.sheet, needs=FFN_NEEDS),
        "times": View(convolution_times.sheet, (REPEATS,), NEEDS),
        "grouped": View(grouped.sheet, grouped.SETTINGS, NEEDS),
    }),
    Part(without_phi.sheet, "Without φ", "bend", (), NEEDS, line="two matrices become one"),
    part_of_views("Linear?", "linear", "which parts of a block are linear", LINEAR_VIEW, {
        "tests": View(linear.sheet, linear.SETTINGS, FFN_NEEDS),
        "token": View(local_map.sheet, local_map.SETTINGS),
        "frozen": View(frozen.sheet, frozen.SETTINGS, NEEDS),
        "together": View(interaction.sheet, interaction.SETTINGS),
    }),
    part_of_views("Fit a function", "fit", "a curve, drawn by a few neurons", FIT_VIEW, {
        "trained": View(fit.sheet, fit.SETTINGS, FFN_NEEDS),
        "hand": View(hand.sheet, hand.SETTINGS),
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
