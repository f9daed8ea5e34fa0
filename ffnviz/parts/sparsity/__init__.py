"""The page Activation: ReLU beside GELU, one idea a part."""

from ffnviz.analysis.lab.experiment import NEEDS
from ffnviz.analysis.lab.width import WIDTH_NEEDS
from ffnviz.analysis.needs import Capability
from ffnviz.parts.part import View, part_of_views
from ffnviz.parts.sparsity import activations, awake, gate, keep

PARTS = (
    part_of_views("The activation function", "bend", "what φ makes of every number", "phi_view", {
        "here": View("on this sentence", activations.bend_sheet),
        "all": View("all activations", activations.all_of_them, needs=NEEDS),
        "gate": View("GELU as a stochastic gate", gate.sheet, gate.SETTINGS,
                     (Capability.PLAIN_FFN,), further=True),
        "gated": View("gated FFNs", activations.gated, (activations.GATE,), NEEDS, further=True),
    }),
    part_of_views("Active neurons", "awake", "how many, and how the rest fell silent",
                  "training_view", {
        "now": View("on this sentence", awake.sheet, (awake.THRESHOLD,)),
        "birth": View("during training", awake.record, needs=(Capability.RECORD,)),
        "never": View("neurons that never fire", awake.dead, needs=(Capability.RECORD,)),
    }),
    part_of_views("Keep the top k", "keep", "how few neurons are enough", "keep_view", {
        "block": View("one block, token by token", keep.sheet, (keep.KEPT,),
                      (Capability.WORD_HEAD,)),
        "width": View("every block: a narrower FFN", keep.width_sheet, keep.WIDTH_SETTINGS,
                      WIDTH_NEEDS),
    }),
)  # fmt: skip
