"""What a part needs of a session: a state that its actions change, without Streamlit."""

from typing import Any

from ffnviz.models.card import NetworkSize
from ffnviz.parts.part import Navigator
from ffnviz.state.actions import Set, reduce
from ffnviz.state.settings import Setting
from ffnviz.state.state import Catalog, State, from_url


def house_of(parts: dict[str, tuple[Setting[Any], ...]]) -> Catalog:
    return Catalog({"page": parts}, {"relu": NetworkSize(1, 4)}, ("token",), "Hello.")


class Table:
    """What a Navigator needs of a session: a state that actions change."""

    def __init__(self, *settings: Setting[Any]) -> None:
        self.catalog = house_of({"part": settings})
        self.state: State = from_url("page", {}, self.catalog)

    def do(self, action: Set, settled: bool) -> None:
        assert settled
        self.state = reduce(self.state, action, self.catalog)

    def navigator(self) -> Navigator:
        return Navigator(lambda: self.state, self.do, lambda: None)
