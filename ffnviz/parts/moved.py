"""Where the content of former parts is now: links and lectures keep their names for ever."""

from ffnviz.state.state import Moved

# Former page and part: page and part now, and the settings that show it.
MOVED: Moved = {
    ("dimensions", "forms"): ("dimensions", "flow", {"shapes_view": "forms"}),
    ("dimensions", "plane"): ("dimensions", "warp", {}),
    ("dimensions", "same"): ("dimensions", "flow", {"shapes_view": "same"}),
    ("lab", "sharing"): ("lab", "positions", {"positions_view": "sharing"}),
    ("lab", "width"): ("sparsity", "keep", {"keep_view": "width"}),
    ("lab", "zoo"): ("sparsity", "bend", {"phi_view": "all"}),
    ("neurons", "probes"): ("neurons", "wakes", {"activations_view": "tags"}),
    ("neurons", "values"): ("neurons", "wakes", {"activations_view": "values"}),
    ("sparsity", "gate"): ("sparsity", "bend", {"phi_view": "gate"}),
    ("sparsity", "never"): ("sparsity", "birth", {"training_view": "never"}),
    ("sparsity", "swap"): ("sparsity", "bend", {}),
    ("timing", "convolution"): ("lab", "convolution", {"convolution_view": "times"}),
    ("timing", "devices"): ("timing", "stages", {"stages_view": "devices"}),
    ("timing", "grouped"): ("lab", "convolution", {"convolution_view": "grouped"}),
    ("timing", "products"): ("timing", "stages", {"stages_view": "products"}),
}
