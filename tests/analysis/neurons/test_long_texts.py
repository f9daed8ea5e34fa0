"""An index of texts of more than 128 tokens, against hooks, and the picture of its positions."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
import transformers
from click.testing import CliRunner
from numpy.testing import assert_allclose, assert_array_equal
from torch import Tensor

from ffnviz.analysis.neurons.gathering import Gatherer
from ffnviz.analysis.neurons.index_file import read_index
from ffnviz.analysis.neurons.neuron_index import build_index, finish
from ffnviz.analysis.neurons.probes import Probe
from ffnviz.cli import main
from ffnviz.models.encoder.model import load
from ffnviz.models.external.opening import from_module
from ffnviz.parts.neurons.activations import at_which_positions
from tests.models.external.families import GPT2, build
from tests.models.external.tokenizers import byte_level
from tests.parts.sheets import words
from tests.run_factory import run_of

TEXT = "the cat sat on the mat and the dog ran out at the door " * 6
LONG, READS = 2 * TEXT, 300


def network() -> transformers.GPT2LMHeadModel:
    return build(
        lambda: transformers.GPT2LMHeadModel(
            transformers.GPT2Config(**{**GPT2, "n_positions": READS})
        )
    )


def test_what_is_counted_at_each_position_is_what_hooks_see() -> None:
    tokenizer, model = byte_level(), network()
    external = from_module(model, tokenizer, "long")
    gatherer = Gatherer(external, (), longest=250)
    index = finish(gatherer.gather([Probe(TEXT, ())], 0), "one text", (), gatherer)
    ids = external.tokenizer.encode(TEXT, READS + 500).ids
    assert len(ids) > 250
    assert index.n_texts == -(-len(ids) // 250)  # the rest are texts of their own
    first, seen = torch.tensor([ids[:250]]), dict[int, Tensor]()
    plain = network()
    for number, block in enumerate(plain.transformer.h):
        block.mlp.c_proj.register_forward_pre_hook(
            lambda _, args, number=number: seen.update({number: args[0][0].clone()})
        )
    with torch.inference_mode():
        plain(input_ids=first)
    alone = int((index.at_position > 1).sum())  # behind them stands the first piece alone
    assert alone < 200 < len(index.at_position) == 250
    for number, block in enumerate(index.blocks):
        fired = (seen[number].abs() > index.threshold).numpy()
        assert_array_equal(block.by_position[alone:], fired[alone:])
    usual = build_index(external, [Probe(TEXT, ())], (), "one text")
    assert len(usual.at_position) == 128


def test_the_command_counts_them_and_announces_the_memory(tmp_path: Path) -> None:
    network().save_pretrained(tmp_path / "long")
    byte_level().save_pretrained(tmp_path / "long")
    (tmp_path / "a.txt").write_text(LONG + "\n", encoding="utf-8")
    said = []
    for longest in ("128", "9999"):
        told = CliRunner().invoke(main, [
            "index", "--model", str(tmp_path / "long"), "--corpus", str(tmp_path / "a.txt"),
            "--longest", longest, "--out", str(tmp_path / longest),
        ])  # fmt: skip
        assert told.exit_code == 0, told.output
        said.append(told.output)
        (path,) = (tmp_path / longest).glob("*.npz")
        # The last word that fits is the end of a piece, and a word has a few tokens.
        most = min(int(longest), READS)
        assert most - 4 < len(read_index(path, GPT2["n_embd"] * 4, 2).at_position) <= most
    assert all("of counts" in each for each in said)


def test_positions_are_pooled_and_the_picture_says_so() -> None:
    run = run_of(load("relu"), "The cat sat.")
    few = build_index(run.model, [Probe("The cat sat.", ())], (), "one")
    random = np.random.default_rng(0)
    counts = np.sort(random.integers(30, 90, 300))[::-1]
    fired = random.binomial(counts[:, None], 0.3, (300, run.model.sizes.d_ff))
    blocks = tuple(replace(each, by_position=fired) for each in few.blocks)
    index = replace(few, at_position=counts, blocks=blocks)
    cell = at_which_positions(run, index, 7)
    (bars,) = cell.data["figure"]["data"]
    y = cell.arrays[bars["y"]["array"]]
    assert len(y) == 100  # three positions each: 300 are more than 128
    assert_allclose(y[4], 100 * fired[12:15, 7].sum() / counts[12:15].sum(), rtol=1e-5)
    assert "Each bar stands for 3 positions." in words(cell)
    most = int(y.argmax())
    assert f"at positions {3 * most + 1} to {3 * most + 3}" in words(cell)
