"""The page Sparsity: ReLU beside GELU, one idea a part."""

from ffnviz.analysis.lab.experiment import NEEDS
from ffnviz.analysis.lab.width import WIDTH_NEEDS
from ffnviz.analysis.needs import Capability
from ffnviz.parts.part import Part
from ffnviz.parts.sparsity import activations, awake, bend, gate, keep, swap, training, width
from ffnviz.parts.views import View, part_of_views, view_setting

PHI = view_setting(
    "phi_view",
    {
        "here": "on this sentence",
        "all": "all activations",
        "gate": "GELU as a stochastic gate",
        "gated": "gated FFNs",
    },
)
KEEP = view_setting(
    "keep_view", {"block": "one block, token by token", "width": "every block: a narrower FFN"}
)
TRAINING = view_setting("training_view", {"birth": "all of training", "never": "dead neurons"})

PARTS = (
    part_of_views("The activation function", "bend", "what φ makes of every number", PHI, {
        "here": View(bend.sheet),
        "all": View(activations.all_of_them, needs=NEEDS),
        "gate": View(gate.sheet, gate.SETTINGS, (Capability.PLAIN_FFN,)),
        "gated": View(activations.gated, (activations.GATE,), NEEDS),
    }),
    Part(awake.sheet, "Active neurons", "awake", (awake.THRESHOLD,),
         line="how many neurons each token activates"),
    part_of_views("Keep the top k", "keep", "how few neurons are enough", KEEP, {
        "block": View(keep.sheet, (keep.KEPT,), (Capability.WORD_HEAD,)),
        "width": View(width.sheet, width.SETTINGS, WIDTH_NEEDS),
    }),
    part_of_views("During training", "birth", "how the neurons fell silent", TRAINING, {
        "birth": View(training.record, needs=(Capability.RECORD,)),
        "never": View(training.dead, needs=(Capability.RECORD,)),
    }),
    Part(swap.sheet, "Swap φ", "swap",
         needs=(Capability.PARTNER, Capability.OURS, Capability.PLAIN_FFN),
         line="trained with ReLU, run with GELU"),
)  # fmt: skip
