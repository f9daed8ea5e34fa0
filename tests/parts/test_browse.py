"""All neurons in a table: sorted, searched, and read from the index that is open."""

import pytest
from streamlit.testing.v1 import AppTest

from ffnviz.analysis.neurons.index_file import INDEXES, read_index
from ffnviz.parts.neurons import browse
from ffnviz.pictures.head import Head
from tests.parts.visits import opened


def table(app: AppTest) -> list[int]:
    return [int(each) for each in app.dataframe[0].value["neuron"]]


def test_the_table_is_in_the_order_that_was_chosen() -> None:
    fired = read_index(INDEXES / "relu.npz", 2_048, 2).blocks[1].fired
    often = table(opened("neurons", part="browse"))
    assert len(often) == 2_048
    assert (fired[often[:-1]] >= fired[often[1:]]).all()
    rare = [n for n in table(opened("neurons", part="browse", sort="rare")) if fired[n]]
    assert (fired[rare[:-1]] <= fired[rare[1:]]).all()
    assert table(opened("neurons", part="browse", sort="number")) == list(range(2_048))


def test_a_word_or_a_tag_is_found_and_what_is_typed_is_no_pattern() -> None:
    app = opened("neurons", part="browse", find="Negation")
    assert 0 < len(table(app)) < 2_048
    assert set(app.dataframe[0].value["tag"]) == {"negation"}
    assert table(opened("neurons", part="browse", find=".*[")) == []


def test_it_says_which_index_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    def note(head: Head, *_: object, **__: object) -> None:
        said.append("".join(part if isinstance(part, str) else part[0] for part in head.sentence))

    monkeypatch.setattr(browse, "chart", note)
    opened("neurons", part="browse")
    assert "7,787 tokens of 938 sentences of our probe set; a token wakes" in said[0]
