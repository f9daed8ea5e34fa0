"""The stations of a token's way through a block, and the parts about each."""

from functools import cache

from ffnviz.parts import PAGES
from ffnviz.parts.part import Page, Part
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


FFN = ("expand", "activation", "hidden", "compress")
STATIONS = {  # in order: the sign in a drawing, and the name
    "attention": ("attn", "Attention"),
    "norm": ("LN", "LayerNorm"),
    "expand": ("W₁", "W₁: expand"),
    "activation": ("φ", "φ: the activation function"),
    "hidden": ("h", "h: the hidden activations"),
    "compress": ("W₂", "W₂: compress"),
    "residual": ("+", "The residual stream"),
    "softmax": ("p", "Softmax"),
}
BLOCK = ("attention", "norm", *FFN, "residual")
PLACES: dict[tuple[str, str], tuple[str, ...]] = {  # page and name of a part: its stations
    ("block", "block"): BLOCK,
    ("block", "turns"): ("attention",),
    ("block", "strip"): ("attention", "residual"),
    ("vocabulary", "softmax"): ("softmax",),
    ("vocabulary", "lens"): ("residual", "softmax"),
    ("vocabulary", "parts"): ("residual", "softmax"),
    ("sparsity", "bend"): ("activation",),
    ("sparsity", "awake"): ("hidden",),
    ("sparsity", "keep"): ("hidden",),
    ("dimensions", "flow"): FFN,
    ("dimensions", "cost"): FFN,
    ("dimensions", "wider"): ("expand",),
    ("dimensions", "separate"): ("expand", "activation"),
    ("dimensions", "warp"): FFN,
    ("neurons", "wakes"): ("hidden",),
    ("neurons", "writes"): ("compress",),
    ("neurons", "working"): ("expand",),
    ("neurons", "switch"): ("hidden", "compress"),
    ("neurons", "plant"): ("hidden", "compress"),
    ("neurons", "browse"): ("hidden",),
    ("neurons", "compare"): ("hidden",),
    ("exercises", "hand"): FFN,
    ("exercises", "build"): BLOCK,
    ("exercises", "predict"): BLOCK,
    ("lab", "claims"): BLOCK,
    ("lab", "positions"): FFN,
    ("lab", "bend"): ("activation",),
    ("lab", "linear"): BLOCK,
    ("lab", "fit"): ("activation", "hidden"),
    ("lab", "residual"): ("norm", "residual"),
    ("lab", "trained"): BLOCK,
    ("timing", "stages"): BLOCK,
}


def stations_of(page: str, part: str) -> tuple[str, ...]:
    """The stations that a part is about, by its page's name and its own."""
    return PLACES.get((page, part), ())


@cache  # the same on every run of every page
def parts_at(station: str) -> tuple[tuple[Page, Part], ...]:
    """The parts about a station but not about all of the block, the most specific first."""
    about = [
        (page, part)
        for page in PAGES
        for part in page.parts
        if station in (places := stations_of(page.name, part.name)) and places != BLOCK
    ]
    return tuple(sorted(about, key=lambda each: len(PLACES[each[0].name, each[1].name])))
