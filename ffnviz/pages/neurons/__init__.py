"""Neurons: meet one, see its working, switch it off."""

from ffnviz.page import Part
from ffnviz.pages.neurons import compare, name, probes, switch, wakes, working, writes

PARTS = (
    Part(wakes.render, "What wakes it", "wakes"),
    Part(probes.render, "On many sentences", "probes"),
    Part(writes.render, "What it writes", "writes"),
    Part(working.render, "Show the working", "working", working.SETTINGS),
    Part(switch.render, "Switch it off", "switch", switch.SETTINGS),
    Part(compare.render, "Compare", "compare", compare.SETTINGS),
    Part(name.render, "Name it", "name", name.SETTINGS, name.follow),
)
