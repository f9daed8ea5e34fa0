"""All neurons in a table: sorted, searched, and read from the index that is open."""

from typing import Any

import pytest

from ffnviz.analysis.neurons.index_file import INDEXES, read_index
from ffnviz.state.actions import OpenNeuron
from tests.parts.sheets import drawn, words


def table(sort: str = "often", find: str = "") -> list[list[Any]]:
    shown = drawn("neurons", "browse", sort=sort, find=find)
    rows: list[list[Any]] = shown.cells["all-neurons"].data["rows"]
    return rows


def neurons(sort: str = "often", find: str = "") -> list[int]:
    return [row[0] for row in table(sort, find)]


def test_the_table_is_in_the_order_that_was_chosen() -> None:
    fired = read_index(INDEXES / "relu.npz", 2_048, 2).blocks[1].fired
    often = neurons()
    assert len(often) == 2_048
    assert (fired[often[:-1]] >= fired[often[1:]]).all()
    rare = [n for n in neurons(sort="rare") if fired[n]]
    assert (fired[rare[:-1]] <= fired[rare[1:]]).all()
    assert neurons(sort="number") == list(range(2_048))


def test_a_word_or_a_tag_is_found_and_what_is_typed_is_no_pattern() -> None:
    rows = table()
    tag = next(row[4] for row in rows if row[4])
    found = [row for row in rows if tag in row[4].casefold() or tag in row[1].casefold()]
    assert 0 < len(found) < len(rows)
    assert table(find=f" {tag.upper()} ") == found
    assert neurons(find=".*[") == []


def test_it_says_which_index_is_open_and_how_much_of_it_is_drawn() -> None:
    every, few = (drawn("neurons", "browse", find=find) for find in ("", "Negation"))
    assert set(every.cells) == {"awake-ranks", "all-neurons"}
    assert set(every.controls) == {"Show", "Sort", "Find a word or a tag"}
    assert "7,787 tokens of 938 sentences of our probe set; a token activates" in every.said
    assert "2,048 of 2,048 neurons, the first 500 in the table." in every.said
    found = few.cells["all-neurons"]
    assert words(found).startswith(f"{len(found.data['rows'])} of 2,048 neurons. Click a row")
    assert "F1: how well" in words(found)


@pytest.mark.parametrize(("twin", "last"), [("relu", "max"), ("gelu", "min")])
def test_its_numbers_are_the_indexs(twin: str, last: str) -> None:
    index = read_index(INDEXES / f"{twin}.npz", 2_048, 2)
    counts = index.blocks[1]
    cell = drawn("neurons", "browse", twin=twin, sort="number").cells["all-neurons"]
    row = dict(zip(cell.data["columns"], cell.data["rows"][469], strict=True))
    assert row["% of tokens"] == pytest.approx(100 * counts.fired[469] / index.n_tokens, abs=0.006)
    assert row["mean"] == pytest.approx(float(counts.mean[469]), abs=0.006)
    assert cell.data["columns"][-1] == last
    of_all = {"max": counts.most, "min": counts.least}[last]
    assert row[last] == pytest.approx(float(of_all[469]), abs=0.006)


def test_a_click_on_a_row_meets_its_neuron() -> None:
    shown = drawn("neurons", "browse", find="e")
    cell = shown.cells["all-neurons"]
    number = cell.data["rows"][3][0]
    assert cell.events["row"](3) == OpenNeuron(shown.run.neuron(number), "neurons", "wakes")
    nothing: list[Any] = [len(cell.data["rows"]), -1, "3", True, None, [3], {}]
    for garbage in nothing:
        assert cell.events["row"](garbage) is None
