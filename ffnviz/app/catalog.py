"""All that there is to look at: pages, parts, networks, and the sentence to begin with."""

from collections.abc import Sequence

from ffnviz.analysis.journey import ORDERS
from ffnviz.app.session import network_by_id, network_sizes
from ffnviz.parts import PAGES
from ffnviz.parts.places import MOVED, pictures_of
from ffnviz.state.state import Catalog

START_NEXT = "She opened the door and looked out at the"  # for a network without [MASK]
START = "A fly has [MASK] legs, not four."


def build_catalog(learned: Sequence[str] = ()) -> Catalog:
    """All that there is to look at; `learned` are the networks that were trained here."""
    parts = {page.name: {part.name: part.settings for part in page.parts} for page in PAGES}
    networks = network_sizes(learned)
    first = network_by_id(next(iter(networks))).card
    start = START if first.has_mask else START_NEXT
    return Catalog(parts, networks, ORDERS, start, MOVED, pictures_of)
