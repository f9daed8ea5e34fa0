"""Neurons: meet one, follow its arithmetic, switch it off, insert another."""

from ffnviz.analysis.needs import Capability
from ffnviz.parts.neurons import (
    arithmetic,
    browse,
    capacity,
    compare,
    distribution,
    examples,
    fact,
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
from ffnviz.parts.views import View, part_of_views

WORDS = (Capability.WORD_HEAD, Capability.WORD_VECTORS)
INDEX = (Capability.INDEX,)

PARTS = (
    part_of_views("Top activations", "wakes", "the sentences that activate it most",
                  "activations_view", {
        "examples": View("examples", examples.sheet),
        "tags": View("tags and positions", tags.sheet, needs=INDEX),
        "values": View("distribution", distribution.sheet, needs=INDEX),
        "features": View("features", features.sheet, features.SETTINGS, (Capability.SAE,)),
    }),
    part_of_views("What it writes", "writes", "words it makes likelier", "writes_view", {
        "neuron": View("one neuron", writes.sheet, needs=WORDS),
        "paths": View("later neurons", paths.sheet, needs=(Capability.PRE_NORM,)),
        "memories": View("attention and FFN", two_memories.sheet, two_memories.SETTINGS,
                         (*WORDS, Capability.OURS)),
    }),
    Part(arithmetic.sheet, "The arithmetic", "working", arithmetic.SETTINGS,
         line="its value, as a sum of products"),
    part_of_views("Switch off", "switch", "the prediction without it", "switch_view", {
        "neurons": View("neurons", switch.sheet, switch.SETTINGS, (*WORDS, Capability.PRE_NORM)),
        "fact": View("where is a fact?", fact.sheet, needs=fact.NEEDS),
    }),
    part_of_views("Insert a neuron", "plant", "one more, with a word of your own", "plant_view", {
        "one": View("one neuron", insert.sheet, insert.SETTINGS, (*WORDS, Capability.PLAIN_FFN)),
        "many": View("how much fits", capacity.sheet, needs=(*WORDS, Capability.PLAIN_FFN)),
    }),
    Part(browse.sheet, "All neurons", "browse", browse.SETTINGS, INDEX,
         line="a table of the block, to sort and search"),
    part_of_views("Compare two sentences", "compare", "what tells them apart", "compare_view", {
        "neurons": View("neurons that differ", compare.sheet, compare.SETTINGS),
        "patch": View("patch", patch.sheet, patch.SETTINGS, (Capability.WORD_HEAD,)),
    }),
    Part(name.sheet, "Test a name", "name", name.SETTINGS, INDEX,
         line="your guess, tried on new sentences", follow=name.follow),
)  # fmt: skip
