"""The pictures of each part, by the names of their notes: what a lecture's scene can light."""

from ffnviz.models.encoder.model import TWINS
from ffnviz.parts import PAGES
from ffnviz.state.settings import Values
from ffnviz.state.state import State

Place = tuple[str, str, str]  # page, part, and its view; "" if it has one only

EVERYWHERE = ("tokens",)  # the sentence stands on every page
OF_OTHERS = ("any-maps", "gated", "nearest", "overview")  # the twins have none of these

PICTURES: dict[Place, tuple[str, ...]] = {
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
    ("lab", "positions", "hears"): ("lab-influence", "lab-decay", "lab-hears"),
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
