"""`ffnviz app --index FILE`: another corpus on the page Neurons, or a sentence why not."""

import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from ffnviz.analysis.neurons.index_file import INDEXES, read_index, write_index
from ffnviz.analysis.neurons.neuron_index import build_index
from ffnviz.analysis.neurons.probes import Probe
from ffnviz.cli import main
from ffnviz.cli.app_checks import opened_index
from ffnviz.models.config import Config, use
from ffnviz.models.encoder.model import load
from ffnviz.state import run_factory
from ffnviz.state.actions import ChooseBlock
from tests.analysis.neurons.test_index import of_version_2
from tests.parts.sheets import drawn

SENTENCES = tuple(f"The {w} had {n} dogs." for n in range(4) for w in ("cat", "sea", "man"))


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("index") / "mine.npz"
    texts = [Probe(text, ("dogs",)) for text in SENTENCES]
    write_index(build_index(load("relu"), texts, ("dogs",), "<b>my dogs</b>"), path)
    return path


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    """A server is told once, before it opens a network; here others have opened it."""
    for clear in (run_factory.CACHE.clear, run_factory.forget_networks):
        clear()
    yield
    for clear in (run_factory.CACHE.clear, run_factory.forget_networks):
        clear()


def test_it_is_shown_for_its_network_and_for_no_other(mine: Path) -> None:
    use(Config(indexes=(mine,)))
    os.utime(mine, (0, datetime(2025, 3, 9, 12).timestamp()))
    n_tokens = read_index(mine, 2_048, 2).n_tokens
    all_of_it = drawn("neurons", "browse", twin="relu").said
    assert f"{n_tokens} tokens of <b>my dogs</b> (file of 2025-03-09); a token" in all_of_it
    assert "<b>my dogs</b>" in drawn("neurons", "wakes", twin="relu").said
    all_of_it = drawn("neurons", "browse", twin="gelu").said
    assert "of our probe set" in all_of_it


def test_the_command_says_for_which_network_it_is(mine: Path) -> None:
    said = opened_index(mine)
    assert said.startswith("ReLU: index ")
    assert said.endswith("tokens of <b>my dogs</b>.")


@pytest.fixture(scope="module")
def second_block_only(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `ffnviz index --blocks 2` makes it of one file, which is not a tag."""
    path = tmp_path_factory.mktemp("index") / "half.npz"
    texts = [Probe(text, ()) for text in SENTENCES]
    write_index(build_index(load("relu"), texts, (), "my dogs", blocks=(1,)), path)
    return path


SHEETS = ("wakes", "probes", "values", "browse", "name")


@pytest.mark.parametrize("part", SHEETS)
def test_a_sheet_of_some_blocks_says_elsewhere_which_and_leads_there(
    second_block_only: Path, part: str
) -> None:
    use(Config(indexes=(second_block_only,)))
    assert "no-index" not in drawn("neurons", part, twin="relu", block="2").cells
    away = drawn("neurons", part, twin="relu", block="1")
    assert "This index has block 2 of 2; block 1 is not in it." in away.said
    assert away.pressed("Go to block 2") == ChooseBlock(1)
    assert away.pressed("Go to block 3") is None


def test_what_is_shown_of_some_blocks_is_of_the_block_on_the_screen(
    second_block_only: Path,
) -> None:
    use(Config(indexes=(second_block_only,)))
    of_all = build_index(load("relu"), [Probe(text, ()) for text in SENTENCES], (), "my dogs")
    fired = of_all.blocks[1].fired
    assert (fired != of_all.blocks[0].fired).any()
    all_of_it = drawn("neurons", "browse", twin="relu").said
    assert f"{int((fired == 0).sum()):,} of 2,048 neurons of block 2 never fire" in all_of_it


@pytest.mark.parametrize(("twin", "says"), [("relu", 0), ("gelu", 1)])
def test_an_older_file_says_what_it_misses_where_values_may_be_negative(
    tmp_path: Path, twin: str, says: int
) -> None:
    path = tmp_path / "old.npz"
    write_index(build_index(load(twin), [Probe(text, ()) for text in SENTENCES], (), "dogs"), path)
    of_version_2(path)
    use(Config(indexes=(path,)))
    for part in ("wakes", "values", "browse"):
        assert ("old-index" in drawn("neurons", part, twin=twin).cells) == bool(says)


def test_the_command_says_which_blocks_it_is_of(second_block_only: Path) -> None:
    said = opened_index(second_block_only)
    assert "half.npz, block 2 of 2, " in said


def test_what_is_no_index_of_these_networks_is_refused(mine: Path, tmp_path: Path) -> None:
    foreign, damaged = tmp_path / "foreign.npz", tmp_path / "damaged.npz"
    relu = load("relu")
    with_other_weights = build_index(relu, [Probe(SENTENCES[0], ())], (), "other")
    object.__setattr__(with_other_weights, "network", "0123456789abcdef")
    write_index(with_other_weights, foreign)
    damaged.write_bytes(mine.read_bytes()[:5_000])
    for path, why in ((foreign, "is an index of another network"), (damaged, "is not an index")):
        done = CliRunner().invoke(main, ["app", "--port", "9161", "--index", str(path)])
        assert done.exit_code == 1
        assert why in done.output
        assert "ReLU, GELU" in done.output
        assert "Traceback" not in done.output
    done = CliRunner().invoke(main, ["app", "--index", str(INDEXES / "none.npz")])
    assert done.exit_code == 2
    assert "does not exist" in done.output
