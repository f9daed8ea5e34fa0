"""Where parts stand: on a token's way through a block, formerly, and with which pictures."""

from functools import cache

from ffnviz.models.encoder.model import TWINS
from ffnviz.parts import PAGES
from ffnviz.parts.part import Page, Part
from ffnviz.state.settings import Values
from ffnviz.state.state import Moved, State

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


# The pictures of each part by the names of their notes: what a lecture's scene can light. A view is
# "" if the part has one only.
EVERYWHERE = ("tokens",)  # the sentence stands on every page
OF_OTHERS = ("any-maps", "gated", "nearest", "overview")  # the twins have none of these

PICTURES: dict[tuple[str, str, str], tuple[str, ...]] = {  # by page, part and view
    ("journey", "journey", ""): ("prediction", "ffn", "neuron", "maps", *OF_OTHERS),
    ("block", "block", "encoder"): ("block",),
    ("block", "block", "decoder"): ("decoder",),
    ("block", "block", "beside"): ("beside-table", "beside-loss"),
    ("block", "turns", ""): ("clock", "arrives"),
    ("block", "strip", ""): ("apart", "alike", "scale", "strip-gradient"),
    ("sparsity", "bend", "here"): ("bend",),
    ("sparsity", "bend", "all"): ("lab-curves", "lab-zoo"),
    ("sparsity", "bend", "gate"): ("gate", "gate-errors", "gate-words"),
    ("sparsity", "bend", "gated"): ("lab-gate", "lab-zoo"),
    ("sparsity", "awake", "now"): ("awake", "threshold"),
    ("sparsity", "awake", "birth"): ("birth",),
    ("sparsity", "awake", "never"): ("never",),
    ("sparsity", "keep", "block"): ("keep", "concentration"),
    ("sparsity", "keep", "width"): ("lab-width", "lab-width-curve", "lab-width-words"),
    ("dimensions", "flow", "flow"): ("flow",),
    ("dimensions", "flow", "forms"): ("forms",),
    ("dimensions", "flow", "same"): ("same", "batch"),
    ("dimensions", "cost", "parts"): ("costs", "overtaking"),
    ("dimensions", "cost", "growth"): ("growth", "width"),
    ("dimensions", "cost", "memory"): ("memory", "memory-times"),
    ("dimensions", "wider", ""): ("wider-points", "wider-curve", "wider-pairs"),
    ("dimensions", "separate", ""): ("separate", "lifted", "lifted-width"),
    ("dimensions", "warp", "plane"): ("warp",),
    ("dimensions", "warp", "line"): ("folds", "folds-pieces", "folds-network"),
    ("vocabulary", "softmax", "word"): ("distribution", "cut"),
    ("vocabulary", "softmax", "write"): ("write", "step"),
    ("vocabulary", "lens", ""): ("lens", "followed"),
    ("vocabulary", "parts", ""): ("parts",),
    ("neurons", "wakes", "examples"): ("examples", "fires", "keymatch"),
    ("neurons", "wakes", "tags"): ("tags", "positions"),
    ("neurons", "wakes", "values"): ("spread", "kinds", "partners"),
    ("neurons", "wakes", "features"): ("features", "writes"),
    ("neurons", "wakes", "packed"): ("superposition", "superposition-counts"),
    ("neurons", "writes", "neuron"): ("writes", "similar"),
    ("neurons", "writes", "paths"): ("paths", "paths-blocks"),
    ("neurons", "writes", "memories"): ("two-memories", "keys-moved"),
    ("neurons", "working", ""): ("working",),
    ("neurons", "switch", "neurons"): ("switched", "changes", "contributions"),
    ("neurons", "switch", "fact"): ("fact-map", "fact-neurons"),
    ("neurons", "plant", "one"): ("planted", "planted-here", "planted-elsewhere"),
    ("neurons", "plant", "many"): ("capacity", "capacity-error"),
    ("neurons", "compare", "neurons"): ("compared", "pair"),
    ("neurons", "compare", "patch"): ("patch-map", "patched"),
    ("neurons", "browse", "table"): ("awake-ranks",),
    ("neurons", "browse", "name"): ("named", "mistakes"),
    ("learn", "train", "one"): (
        "learn-words",
        "learn-loss",
        "learn-map",
        "learn-sparsity",
        "learn-key",
    ),
    ("learn", "train", "bet"): ("learn-words", "learn-loss", "lab-trainings"),
    ("exercises", "hand", "numbers"): ("by-hand",),
    ("exercises", "hand", "back"): ("by-hand-back",),
    ("exercises", "hand", "xor"): ("by-hand-xor",),
    ("exercises", "hand", "yours"): ("by-hand-neuron",),
    ("exercises", "build", ""): ("build",),
    ("exercises", "predict", ""): ("vote",),
    ("lab", "claims", ""): ("lab",),
    ("lab", "positions", "moved"): ("lab-maps", "lab-positions"),
    ("lab", "positions", "sharing"): ("lab-word", "lab-blocks", "lab-sharing"),
    ("lab", "positions", "convolution"): ("lab-ladder", "lab-convolution"),
    ("lab", "positions", "hears"): ("lab-influence", "lab-hears"),
    ("lab", "positions", "gradients"): ("lab-decay", "lab-hears"),
    ("lab", "bend", ""): ("lab-without", "lab-bend", "lab-folded"),
    ("lab", "linear", "tests"): ("lab-tests", "lab-linear"),
    ("lab", "linear", "token"): ("local-switches", "local-changes", "local-rank"),
    ("lab", "linear", "frozen"): ("frozen", "folded-stack"),
    ("lab", "linear", "together"): ("interaction", "interaction-neurons"),
    ("lab", "fit", "trained"): ("lab-fit", "lab-pieces", "lab-errors"),
    ("lab", "fit", "hand"): ("hand", "hand-curves", "hand-errors"),
    ("lab", "residual", "stream"): ("lab-residual", "lab-norms", "lab-cosines", "lab-gradients"),
    ("lab", "residual", "dropout"): (
        "lab-dropout",
        "lab-passes",
        "lab-settling",
        "lab-word-spread",
    ),
    ("lab", "trained", ""): ("lab-trained", "lab-trainings"),
    ("timing", "stages", "here"): ("stages", "limits"),
    ("timing", "stages", "devices"): ("devices",),
    ("timing", "stages", "products"): ("products",),
}


def pictures_of(state: State) -> tuple[str, ...]:
    """The pictures of what a page shows, some of which wait for a measurement or a training."""
    shown = PICTURES.get((state.page, state.part, view_of(state)), ())
    if state.network in TWINS and state.page == "journey":
        shown = tuple(name for name in shown if name not in OF_OTHERS)
    return (*shown, *EVERYWHERE)


def view_of(state: State) -> str:
    """The view that a part shows; "" if it has one only."""
    if (state.page, state.part, "") in PICTURES:
        return ""
    page = next(page for page in PAGES if page.name == state.page)
    return str(Values(state.settings)[page.part(state.part).settings[0]])
