"""All that there is to look at: pages, parts, networks, and the sentence to begin with."""

from collections.abc import Sequence
from functools import lru_cache

from ffnviz.analysis.journey import ORDERS
from ffnviz.app.session import network_by_id, network_sizes
from ffnviz.models.card import NetworkSize
from ffnviz.parts import PAGES
from ffnviz.parts.places import MOVED, pictures_of
from ffnviz.state.state import Catalog

START_NEXT = "She opened the door and looked out at the"  # for a network without [MASK]
START = "A fly has [MASK] legs, not four."


def build_catalog(learned: Sequence[str] = ()) -> Catalog:
    """All that there is to look at; `learned` are the networks that were trained here."""
    networks = network_sizes(learned)
    first = network_by_id(next(iter(networks))).card
    return _catalog(tuple(networks.items()), START if first.has_mask else START_NEXT)


@lru_cache(16)  # every run of a page asks for it, and it checks all settings
def _catalog(networks: tuple[tuple[str, NetworkSize], ...], start: str) -> Catalog:
    parts = {page.name: {part.name: part.settings for part in page.parts} for page in PAGES}
    return Catalog(parts, dict(networks), ORDERS, start, MOVED, pictures_of)
