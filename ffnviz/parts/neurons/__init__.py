"""Neurons: meet one, see its working, switch it off, plant another."""

from ffnviz.analysis.needs import Capability
from ffnviz.parts.neurons import (
    browse,
    compare,
    name,
    plant,
    probes,
    switch,
    values,
    wakes,
    working,
    writes,
)
from ffnviz.parts.part import Part

PARTS = (
    Part(wakes.sheet, "What wakes it", "wakes"),
    Part(probes.sheet, "On many sentences", "probes", needs=(Capability.INDEX,)),
    Part(values.sheet, "Its values", "values", needs=(Capability.INDEX,)),
    Part(browse.sheet, "All neurons", "browse", browse.SETTINGS, (Capability.INDEX,)),
    Part(
        writes.sheet,
        "What it writes",
        "writes",
        needs=(Capability.WORD_HEAD, Capability.WORD_VECTORS),
    ),
    Part(working.sheet, "Show the working", "working", working.SETTINGS),
    Part(
        switch.sheet,
        "Switch it off",
        "switch",
        switch.SETTINGS,
        (Capability.WORD_HEAD, Capability.WORD_VECTORS, Capability.PRE_NORM),
    ),
    Part(
        plant.sheet,
        "Plant a memory",
        "plant",
        plant.SETTINGS,
        (Capability.WORD_HEAD, Capability.WORD_VECTORS, Capability.PLAIN_FFN),
    ),
    Part(compare.sheet, "Compare", "compare", compare.SETTINGS),
    Part(name.sheet, "Name it", "name", name.SETTINGS, (Capability.INDEX,), name.follow),
)
