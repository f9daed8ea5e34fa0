"""Neurons: meet one, follow its arithmetic, switch it off, insert another."""

from ffnviz.analysis.needs import Capability
from ffnviz.parts.neurons import (
    arithmetic,
    browse,
    capacity,
    compare,
    distribution,
    examples,
    features,
    insert,
    name,
    patch,
    paths,
    switch,
    tags,
    two_memories,
    writes,
)
from ffnviz.parts.part import Part
from ffnviz.parts.views import View, part_of_views, view_setting

WORDS = (Capability.WORD_HEAD, Capability.WORD_VECTORS)
INDEX = (Capability.INDEX,)
VIEW = view_setting(
    "activations_view",
    {
        "examples": "examples",
        "tags": "tags and positions",
        "values": "distribution",
        "features": "features",
    },
)
WRITES_VIEW = view_setting(
    "writes_view",
    {"neuron": "one neuron", "paths": "later neurons", "memories": "attention and FFN"},
)
COMPARE_VIEW = view_setting("compare_view", {"neurons": "neurons that differ", "patch": "patch"})
PLANT_VIEW = view_setting("plant_view", {"one": "one neuron", "many": "how much fits"})

PARTS = (
    part_of_views("Top activations", "wakes", "the sentences that activate it most", VIEW, {
        "examples": View(examples.sheet),
        "tags": View(tags.sheet, needs=INDEX),
        "values": View(distribution.sheet, needs=INDEX),
        "features": View(features.sheet, features.SETTINGS, (Capability.SAE,)),
    }),
    part_of_views("What it writes", "writes", "words it makes likelier", WRITES_VIEW, {
        "neuron": View(writes.sheet, needs=WORDS),
        "paths": View(paths.sheet, needs=(Capability.PRE_NORM,)),
        "memories": View(two_memories.sheet, two_memories.SETTINGS, (*WORDS, Capability.OURS)),
    }),
    Part(arithmetic.sheet, "The arithmetic", "working", arithmetic.SETTINGS,
         line="its value, as a sum of products"),
    Part(switch.sheet, "Switch off", "switch", switch.SETTINGS, (*WORDS, Capability.PRE_NORM),
         line="the prediction without it"),
    part_of_views("Insert a neuron", "plant", "one more, with a word of your own", PLANT_VIEW, {
        "one": View(insert.sheet, insert.SETTINGS, (*WORDS, Capability.PLAIN_FFN)),
        "many": View(capacity.sheet, needs=(*WORDS, Capability.PLAIN_FFN)),
    }),
    Part(browse.sheet, "All neurons", "browse", browse.SETTINGS, INDEX,
         line="a table of the block, to sort and search"),
    part_of_views("Compare two sentences", "compare", "what tells them apart", COMPARE_VIEW, {
        "neurons": View(compare.sheet, compare.SETTINGS),
        "patch": View(patch.sheet, patch.SETTINGS, (Capability.WORD_HEAD,)),
    }),
    Part(name.sheet, "Test a name", "name", name.SETTINGS, INDEX,
         line="your guess, tried on new sentences", follow=name.follow),
)  # fmt: skip
