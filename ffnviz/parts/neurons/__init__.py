"""Neurons: meet one, see its working, switch it off, plant another."""

from ffnviz.analysis.needs import Need
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
    Part(wakes.render, "What wakes it", "wakes"),
    Part(probes.render, "On many sentences", "probes", needs=(Need.INDEX,)),
    Part(values.render, "Its values", "values", needs=(Need.INDEX,)),
    Part(browse.render, "All neurons", "browse", browse.SETTINGS, (Need.INDEX,)),
    Part(writes.render, "What it writes", "writes", needs=(Need.WORD_HEAD, Need.WORD_VECTORS)),
    Part(working.render, "Show the working", "working", working.SETTINGS),
    Part(
        switch.render,
        "Switch it off",
        "switch",
        switch.SETTINGS,
        (Need.WORD_HEAD, Need.WORD_VECTORS, Need.PRE_NORM),
    ),
    Part(
        plant.render,
        "Plant a memory",
        "plant",
        plant.SETTINGS,
        (Need.WORD_HEAD, Need.WORD_VECTORS, Need.PLAIN_FFN),
    ),
    Part(compare.render, "Compare", "compare", compare.SETTINGS),
    Part(name.render, "Name it", "name", name.SETTINGS, (Need.INDEX,), name.follow),
)
