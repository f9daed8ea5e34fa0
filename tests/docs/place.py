"""A folder in which all that people are told to type works: small things by the names of the pages.

The networks are random, of two or 24 blocks; nothing is asked of the Hub.
"""

import json
import shutil
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from transformers import AutoModelForCausalLM, GPT2Config

from ffnviz.cli import main
from tests.analysis.features.folders import drawn, saved
from tests.models.external.families import GPT2, build
from tests.models.external.folders import TOKENIZERS

TEXTS = ("She lit the fire and made tea.\nThe dog slept.\n", "The boat left at dawn.\n")
LINES = [
    f"The {animal} {does} in the {place}. " * 4
    for animal in ("cat", "dog", "old man", "girl")
    for does in ("sat", "slept", "sang", "ran")
    for place in ("house", "garden", "rain")
]
LECTURE = """
title = "One word is missing"
[[scene]]
title = "What could it be?"
say = "The network says {says}, with {says_share}."
link = "?page=journey&text=How+[MASK]+they+know%3F"
[scene.question]
ask = "Which word is hidden?"
options = ["do", "does"]
answer = 1
"""


def furnish(place: Path) -> None:
    """Write what the commands read."""
    for name in ("my-texts", "folder", "shared/texts"):
        for number, text in enumerate(TEXTS):
            _write(place / name / f"{number}.txt", text)
    for name in ("first", "second", "a-book"):
        _write(place / "books" / f"{name}.txt", "\n".join(LINES))
    _write(place / "sentences.txt", "\n".join(line.split(". ")[0] for line in LINES))
    for name in ("my.toml", "one.toml"):
        _write(place / name, LECTURE)
    _trained(place, place / "assets" / "models" / "relu")
    _network(place / "gpt2", 2)
    for name in ("my-network", "step-10", "step-100"):
        shutil.copytree(place / "gpt2", place / name)
    _network(place / "shared" / "my-7b", 24)
    sae = saved(place / "sae", drawn("standard", 512, 64), "blocks.0.hook_mlp_out") / "cfg.json"
    sae.write_text(sae.read_text().replace('"tiny"', '"relu"'))
    row = {"modelId": "gpt2", "layer": "0", "index": "3", "description": "cats"}
    _write(place / "explanations" / "batch-0.jsonl", json.dumps(row))


def _trained(place: Path, out: Path) -> None:
    """Two steps of a network of our own, with the record of them."""
    small = "--d-model 32 --d-ff 64 --blocks 1 --heads 2 --vocabulary 300 --steps 2 --points 2"
    words = ["train", "--corpus", place / "books", "--out", out, "--work", place / ".first"]
    words += ["--hold-out", "second", "--warmup-steps", 1, *small.split()]
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == 0, result.output


def _network(folder: Path, n_blocks: int) -> None:
    config = GPT2Config(**{**GPT2, "n_layer": n_blocks})
    network: Any = build(lambda: AutoModelForCausalLM.from_config(config))
    network.save_pretrained(folder)
    TOKENIZERS["GPT-2"]().save_pretrained(folder)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
