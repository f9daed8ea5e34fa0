"""Where the content of former parts is: their names stand in links and lectures for ever."""

from ffnviz.state.state import Moved

# Former page and part: page and part now, and the settings that show it.
MOVED: Moved = {
    ("dimensions", "forms"): ("dimensions", "flow", {"shapes_view": "forms"}),
    ("dimensions", "same"): ("dimensions", "flow", {"shapes_view": "same"}),
    ("lab", "width"): ("sparsity", "keep", {"keep_view": "width"}),
    ("lab", "zoo"): ("sparsity", "bend", {"phi_view": "all"}),
    ("sparsity", "gate"): ("sparsity", "bend", {"phi_view": "gate"}),
    ("sparsity", "never"): ("sparsity", "birth", {"training_view": "never"}),
}
