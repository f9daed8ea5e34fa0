"""Where the content of former parts is: their names stand in links and lectures for ever."""

from ffnviz.state.state import Moved

# Former page and part: page and part now, and the settings that show it.
MOVED: Moved = {
    ("dimensions", "same"): ("lab", "positions", {"positions_view": "same"}),
    ("lab", "sharing"): ("lab", "positions", {"positions_view": "sharing"}),
    ("neurons", "probes"): ("neurons", "wakes", {"activations_view": "tags"}),
    ("neurons", "values"): ("neurons", "wakes", {"activations_view": "values"}),
    ("timing", "convolution"): ("lab", "convolution", {"convolution_view": "times"}),
    ("timing", "devices"): ("timing", "stages", {"stages_view": "devices"}),
    ("timing", "grouped"): ("lab", "convolution", {"convolution_view": "grouped"}),
    ("timing", "products"): ("timing", "stages", {"stages_view": "products"}),
}
