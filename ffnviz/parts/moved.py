"""Where the content of former parts is now: links and lectures keep their names for ever."""

from ffnviz.state.state import Moved

# Former page and part: page and part now, and the settings that show it.
MOVED: Moved = {
    ("block", "decoder"): ("block", "block", {"kind_view": "decoder"}),
    ("dimensions", "forms"): ("dimensions", "flow", {"shapes_view": "forms"}),
    ("dimensions", "plane"): ("dimensions", "warp", {}),
    ("dimensions", "rank"): ("dimensions", "wider", {}),
    ("dimensions", "same"): ("dimensions", "flow", {"shapes_view": "same"}),
    ("lab", "convolution"): ("lab", "positions", {"positions_view": "convolution"}),
    ("lab", "dropout"): ("lab", "residual", {"residual_view": "dropout"}),
    ("lab", "hears"): ("lab", "positions", {"positions_view": "hears"}),
    ("lab", "sharing"): ("lab", "positions", {"positions_view": "sharing"}),
    ("lab", "width"): ("sparsity", "keep", {"keep_view": "width"}),
    ("lab", "zoo"): ("sparsity", "bend", {"phi_view": "all"}),
    ("learn", "bet"): ("learn", "train", {"train_view": "bet"}),
    ("neurons", "name"): ("neurons", "browse", {"browse_view": "name"}),
    ("neurons", "probes"): ("neurons", "wakes", {"activations_view": "tags"}),
    ("neurons", "values"): ("neurons", "wakes", {"activations_view": "values"}),
    ("sparsity", "birth"): ("sparsity", "awake", {"training_view": "birth"}),
    ("sparsity", "gate"): ("sparsity", "bend", {"phi_view": "gate"}),
    ("sparsity", "never"): ("sparsity", "awake", {"training_view": "never"}),
    ("sparsity", "swap"): ("sparsity", "bend", {}),
    ("timing", "convolution"): ("lab", "positions", {"positions_view": "convolution"}),
    ("timing", "devices"): ("timing", "stages", {"stages_view": "devices"}),
    ("timing", "grouped"): ("lab", "positions", {"positions_view": "convolution"}),
    ("timing", "growth"): ("dimensions", "cost", {"cost_view": "growth"}),
    ("timing", "memory"): ("dimensions", "cost", {"cost_view": "memory"}),
    ("timing", "products"): ("timing", "stages", {"stages_view": "products"}),
    ("vocabulary", "write"): ("vocabulary", "softmax", {"softmax_view": "write"}),
}
