"""Neurons: meet one, follow its arithmetic, switch it off, insert another."""

from ffnviz.analysis.needs import Capability
from ffnviz.parts.neurons import (
    activations,
    arithmetic,
    browse,
    capacity,
    compare,
    fact,
    features,
    insert,
    name,
    patch,
    superposition,
    switch,
    writes,
)
from ffnviz.parts.part import Part, View, part_of_views

WORDS = (Capability.WORD_HEAD, Capability.WORD_VECTORS)
INDEX = (Capability.INDEX,)

PARTS = (
    part_of_views("Top activations", "wakes", "the sentences that activate it most",
                  "activations_view", {
        "examples": View("examples", activations.sheet),
        "tags": View("tags and positions", activations.tags_sheet, needs=INDEX),
        "values": View("distribution", activations.distribution_sheet, needs=INDEX, further=True),
        "features": View("features", features.sheet, features.SETTINGS, (Capability.SAE,),
                         further=True),
        "packed": View("superposition", superposition.sheet, superposition.SETTINGS, further=True),
    }),
    part_of_views("What it writes", "writes", "words it makes likelier", "writes_view", {
        "neuron": View("one neuron", writes.sheet, needs=WORDS),
        "paths": View("later neurons", writes.paths_sheet, needs=(Capability.PRE_NORM,),
                      further=True),
        "memories": View("attention and FFN", writes.memories_sheet, writes.MEMORIES_SETTINGS,
                         (*WORDS, Capability.OURS), further=True),
    }),
    Part(arithmetic.sheet, "The arithmetic", "working", arithmetic.SETTINGS,
         line="its value, as a sum of products"),
    part_of_views("Switch off", "switch", "the prediction without it", "switch_view", {
        "neurons": View("neurons", switch.sheet, switch.SETTINGS, (*WORDS, Capability.PRE_NORM)),
        "fact": View("where is a fact?", fact.sheet, needs=fact.NEEDS),
    }),
    part_of_views("Insert a neuron", "plant", "one more, with a word of your own", "plant_view", {
        "one": View("one neuron", insert.sheet, insert.SETTINGS, (*WORDS, Capability.PLAIN_FFN)),
        "many": View("how much fits", capacity.sheet, needs=(*WORDS, Capability.PLAIN_FFN),
                     further=True),
    }),
    part_of_views("Compare two sentences", "compare", "what tells them apart", "compare_view", {
        "neurons": View("neurons that differ", compare.sheet, compare.SETTINGS),
        "patch": View("patch", patch.sheet, patch.SETTINGS, (Capability.WORD_HEAD,), further=True),
    }),
    part_of_views("Browse", "browse", "all neurons of the block, and your names", "browse_view", {
        "table": View("all neurons", browse.sheet, browse.SETTINGS, INDEX),
        "name": View("test a name", name.sheet, name.SETTINGS, INDEX, follow=name.follow),
    }),
)  # fmt: skip
