"""The memory that is announced is what the arrays take, and what to do where it is not there."""

from dataclasses import fields
from pathlib import Path

import pytest

from ffnviz.analysis.neurons.index_part import BlockPart, empty
from ffnviz.analysis.neurons.partners import MOST
from ffnviz.analysis.neurons.token_class import TokenClass
from ffnviz.engines.job import Job, count, gatherer_of
from ffnviz.engines.room import PARTS, part_bytes, room_for, too_much
from ffnviz.engines.sources import pieces_of
from ffnviz.model.card import Sizes


def sizes(d_ff: int = 96, max_tokens: int = 64, n_blocks: int = 12) -> Sizes:
    return Sizes(32, d_ff, n_blocks, 100, max_tokens, 1_000_000)


def true_bytes(d_ff: int, n_blocks: int, n_positions: int, n_tags: int) -> int:
    part = empty(n_blocks, d_ff, n_positions, len(TokenClass), n_tags)
    shared = part.at_position.nbytes + part.of_class.nbytes + part.with_tag.nbytes
    names = [field.name for field in fields(BlockPart)]
    return shared + sum(int(getattr(b, name).nbytes) for b in part.blocks for name in names)


@pytest.mark.parametrize("d_ff", [1, 96, MOST, MOST + 1])
@pytest.mark.parametrize("n_blocks", [1, 3])
@pytest.mark.parametrize("n_tags", [0, 5])
def test_a_part_takes_what_its_arrays_take(d_ff: int, n_blocks: int, n_tags: int) -> None:
    announced = part_bytes(sizes(d_ff), n_blocks, n_tags)
    assert announced == true_bytes(d_ff, n_blocks, 64, n_tags)
    assert part_bytes(sizes(d_ff, 4_096), n_blocks, n_tags) == true_bytes(
        d_ff, n_blocks, 128, n_tags
    )


def test_what_was_counted_takes_no_more(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The dog ran.\nIt was late.\n", encoding="utf-8")
    pieces, _ = pieces_of([tmp_path])
    job = Job("relu")
    part = count(job, pieces[0])
    network = gatherer_of(job)
    took = sum(getattr(b, f.name).nbytes for b in part.blocks for f in fields(BlockPart))
    whole = part_bytes(sizes(2_048, 128), len(network.blocks), 0)
    assert took == whole - 8 * (128 + len(TokenClass))


def test_what_fits_is_said_and_what_does_not_has_a_way_out() -> None:
    room = room_for(sizes(), 12, 0, 4, 3)
    assert too_much(room, 12, 3 * room.each) is None
    assert "in each of 3 processes: 4.0 MB of weights" in room.in_words
    said = too_much(room, 12, 3 * room.each - 1)
    assert said is not None
    assert "at most 11: --blocks or use fewer --workers" in said
    alone = room_for(sizes(), 12, 0, 4, 1)
    fixed = alone.each - PARTS * alone.part
    assert "take a machine with more memory" in str(too_much(alone, 12, fixed))
    one = too_much(alone, 12, fixed + PARTS * alone.part // 12 + 1)
    assert one is not None
    assert "at most 1: --blocks." in one
