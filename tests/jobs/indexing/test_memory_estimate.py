"""The memory that is announced is what the arrays take, and what to do where it is not there."""

import gc
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pytest
import torch

from ffnviz.analysis.neurons.counting import BlockPart, empty
from ffnviz.analysis.neurons.gathering import TokenClass
from ffnviz.analysis.neurons.partners import MOST, Sketching
from ffnviz.jobs.indexing.run import (
    PARTS,
    IndexingJob,
    count,
    estimated_memory,
    gatherer_of,
    part_bytes,
    too_much,
    waiting_bytes,
)
from ffnviz.jobs.indexing.sources import pieces_of
from ffnviz.models.card import Sizes
from ffnviz.models.encoder.model import TWINS


def sizes(d_ff: int = 96, max_tokens: int = 64, n_blocks: int = 12) -> Sizes:
    return Sizes(32, d_ff, n_blocks, 100, max_tokens, 1_000_000)


def true_bytes(d_ff: int, n_blocks: int, n_positions: int, n_tags: int, signed: bool) -> int:
    part = empty(n_blocks, d_ff, n_positions, len(TokenClass), n_tags, signed)
    shared = part.at_position.nbytes + part.of_class.nbytes + part.with_tag.nbytes
    names = [field.name for field in fields(BlockPart)]
    return shared + sum(int(getattr(b, name).nbytes) for b in part.blocks for name in names)


@pytest.mark.parametrize("d_ff", [1, 96, MOST, MOST + 1])
@pytest.mark.parametrize("n_blocks", [1, 3])
@pytest.mark.parametrize("n_tags", [0, 5])
@pytest.mark.parametrize("signed", [False, True])
def test_a_part_takes_what_arrays_take(d_ff: int, n_blocks: int, n_tags: int, signed: bool) -> None:
    announced = part_bytes(sizes(d_ff), n_blocks, n_tags, signed)
    assert announced == true_bytes(d_ff, n_blocks, 64, n_tags, signed)
    assert part_bytes(sizes(d_ff, 4_096), n_blocks, n_tags, signed) == true_bytes(
        d_ff, n_blocks, 128, n_tags, signed
    )


def test_longer_texts_take_more_as_far_as_the_network_reads() -> None:
    long = sizes(96, 4_096)
    for longest, read in ((512, 512), (9_999, 4_096)):
        announced = part_bytes(long, 3, 0, False, longest)
        assert announced == true_bytes(96, 3, read, 0, False)
    usual, more = (
        estimated_memory(sizes(2**15, 4_096), 1, 0, 4, 1, False, n) for n in (128, 4_096)
    )
    assert more.batch - usual.batch > 4 * (4_096 * 2**15 - 2**24)  # one text is a batch


@pytest.mark.parametrize("twin", TWINS)
def test_what_was_counted_takes_no_more(tmp_path: Path, twin: str) -> None:
    (tmp_path / "a.txt").write_text("The dog ran.\nIt was late.\n", encoding="utf-8")
    pieces, _ = pieces_of([tmp_path])
    job = IndexingJob(twin)
    part = count(job, pieces[0])
    network = gatherer_of(job)
    took = sum(getattr(b, f.name).nbytes for b in part.blocks for f in fields(BlockPart))
    whole = part_bytes(sizes(2_048, 128), len(network.blocks), 0, twin == "gelu")
    assert took == whole - 8 * (128 + len(TokenClass))


def tensors_of(make: Callable[[], object]) -> tuple[object, int]:
    """What is made, and the bytes of all tensors that came with it, however they are kept."""
    before = {id(each) for each in gc.get_objects()}
    made = make()
    new = [each for each in gc.get_objects() if id(each) not in before]
    return made, sum(each.nbytes for each in new if isinstance(each, torch.Tensor))


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("d_ff", [1, 2_048, MOST, MOST + 1])
def test_what_waits_to_become_a_sketch_is_counted(
    d_ff: int, fast: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"amx_bf16": fast}, raising=False)
    made, held = tensors_of(lambda: Sketching(d_ff, torch.device("cpu")))
    assert isinstance(made, Sketching)
    assert waiting_bytes(d_ff) == held - made.total().nbytes  # the sketch counts with the part
    assert (waiting_bytes(d_ff) > 2**22) == (1 < d_ff <= MOST)


def test_buffers_count_for_every_block_but_not_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", dict, raising=False)
    one, three = (estimated_memory(sizes(2_048), n, 0, 4, 1, True) for n in (1, 3))
    assert three.waiting == 3 * one.waiting == 3 * waiting_bytes(2_048)
    assert three.each - one.each == 2 * one.waiting + PARTS * (three.part - one.part)
    assert "19.4 MB of buffers" in three.in_words
    assert estimated_memory(sizes(2_048), 3, 0, 0, 1, True).waiting == 0


def test_what_fits_is_said_and_what_does_not_has_a_way_out() -> None:
    room = estimated_memory(sizes(), 12, 0, 4, 3, True)
    assert too_much(room, 12, 3 * room.each) is None
    assert "in each of 3 processes: 4.0 MB of weights" in room.in_words
    said = too_much(room, 12, 3 * room.each - 1)
    assert said is not None
    assert "at most 11: --blocks or use fewer --workers" in said
    alone = estimated_memory(sizes(), 12, 0, 4, 1, True)
    of_blocks = PARTS * alone.part + alone.waiting
    fixed = alone.each - of_blocks
    assert "take a machine with more memory" in str(too_much(alone, 12, fixed))
    one = too_much(alone, 12, fixed + of_blocks // 12 + 1)
    assert one is not None
    assert "at most 1: --blocks." in one
