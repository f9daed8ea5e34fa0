"""The Lab: what textbooks say, tested live; each part is an experiment."""

from ffnviz.analysis.lab.experiment import FFN_NEEDS, NEEDS
from ffnviz.parts.lab import (
    fit,
    influence,
    linear,
    local_map,
    positions,
    residual,
    summary,
    trained,
    without_phi,
)
from ffnviz.parts.part import Part, View, part_of_views

PARTS = (
    Part(summary.sheet, "All claims", "claims", (), FFN_NEEDS,
         line="what textbooks say, tested here"),
    part_of_views("Position-wise", "positions", "each token goes through by itself",
                  "positions_view", {
        "moved": View("tokens moved", positions.sheet, positions.SETTINGS, FFN_NEEDS),
        "sharing": View("shared weights", positions.sharing_sheet, needs=FFN_NEEDS),
        "convolution": View("convolution", positions.convolution_sheet, needs=FFN_NEEDS),
        "hears": View("beside other layers", influence.sheet, influence.SETTINGS, NEEDS,
                      further=True),
        "gradients": View("gradients", influence.gradients_sheet, influence.GRADIENT_SETTINGS,
                          NEEDS, further=True),
    }),
    Part(without_phi.sheet, "Without φ", "bend", (), NEEDS, line="two matrices become one"),
    part_of_views("Linear?", "linear", "which parts of a block are linear", "linear_view", {
        "tests": View("part by part", linear.sheet, linear.SETTINGS, FFN_NEEDS),
        "token": View("one token, one matrix", local_map.sheet, local_map.SETTINGS, further=True),
        "frozen": View("the block frozen", linear.frozen_sheet, linear.FROZEN_SETTINGS, NEEDS,
                       further=True),
        "together": View("two changes", influence.interaction_sheet,
                         influence.INTERACTION_SETTINGS, further=True),
    }),
    part_of_views("Fit a function", "fit", "a curve, drawn by a few neurons", "fit_view", {
        "trained": View("trained", fit.sheet, fit.SETTINGS, FFN_NEEDS),
        "hand": View("by hand", fit.hand_sheet, fit.HAND_SETTINGS),
    }),
    part_of_views("Residual and LayerNorm", "residual", "what each part adds, and its scale",
                  "residual_view", {
        "stream": View("the residual stream", residual.sheet, residual.SETTINGS, NEEDS),
        "dropout": View("dropout", residual.dropout_sheet, residual.DROPOUT_SETTINGS, NEEDS,
                        further=True),
    }),
    Part(trained.sheet, "What a network needs", "trained", (),
         line="small ones that lack one part"),
)  # fmt: skip
