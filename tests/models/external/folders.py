"""Networks as people have them, in memory or in a folder: sound ones, and each fault of one."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.external.opening import proved_network
from ffnviz.models.external.tokenizer import ExternalTokenizer
from tests.models.external.families import FAMILIES, build, two_texts
from tests.models.external.tokenizers import byte_level, metaspace, word_piece

WEIGHTS = "model.safetensors"
TOKENIZERS: dict[str, Callable[[], Any]] = dict.fromkeys(FAMILIES, byte_level) | {
    "BERT": word_piece, "BERT without a head": word_piece, "DistilBERT": word_piece,
    "ELECTRA": word_piece, "ALBERT": metaspace, "Llama": metaspace, "Gemma 4": metaspace,
    "T5's encoder": metaspace,
}  # fmt: skip


@cache
def network_of(family: str) -> ExternalNetwork:
    """One of a family, proved once for all tests."""
    model, words = build(FAMILIES[family]), ExternalTokenizer(TOKENIZERS[family](), 97)
    return proved_network(model, words, two_texts(), 6, family.lower(), family, "#009e73")


@contextmanager
def counted(network: ExternalNetwork) -> Iterator[Counter[str]]:
    """How often each block and each FFN runs meanwhile; those that share weights are one."""
    runs: Counter[str] = Counter()
    modules = {p.block: f"block {n}" for n, p in enumerate(network.proof.blocks)}
    modules |= {p.ffn.down.module: f"FFN {n}" for n, p in enumerate(network.proof.blocks)}
    handles = [
        module.register_forward_pre_hook(lambda *_, name=name: runs.update([name]))
        for module, name in modules.items()
    ]
    try:
        yield runs
    finally:
        for handle in handles:
            handle.remove()


def save(family: str, folder: Path) -> Path:
    """A whole network, as save_pretrained leaves it."""
    return save_with(build(FAMILIES[family]), folder, TOKENIZERS[family])


def save_with(model: Any, folder: Path, tokenizer: Callable[[], Any] = byte_level) -> Path:
    """Any network with any tokenizer."""
    model.save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder


def configure(folder: Path, **changes: Any) -> None:
    """Other values in config.json; None takes one out."""
    path = folder / "config.json"
    told = json.loads(path.read_text())
    told |= changes
    path.write_text(json.dumps({k: v for k, v in told.items() if v is not None}))


def change_weights(folder: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    """Other tensors in the file of weights."""
    path = folder / WEIGHTS
    weights = {name: tensor.clone() for name, tensor in load_file(path).items()}
    change(weights)
    save_file(weights, path, {"format": "pt"})


def _only(folder: Path, *names: str) -> None:
    for path in folder.iterdir():
        if path.name not in names:
            path.unlink()


def _instead(name: str, content: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        _only(folder)
        (folder / name).write_text(content)

    return change


def _cut(folder: Path) -> None:
    path = folder / WEIGHTS
    path.write_bytes(path.read_bytes()[:5_000])


def _shard(folder: Path) -> None:
    index = {"weight_map": {"a": "model.safetensors", "b": "model-00002-of-00002.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def _missing(folder: Path) -> None:
    change_weights(
        folder, lambda weights: weights.pop(next(n for n in weights if "mlp.c_fc.w" in n))
    )


def _no_number(value: float, part: str) -> Callable[[Path], None]:
    def change(weights: dict[str, torch.Tensor]) -> None:
        weights[next(n for n in weights if part in n)].view(-1)[3] = value

    return lambda folder: change_weights(folder, change)


def _behind(prefix: str) -> Callable[[Path], None]:
    def change(weights: dict[str, torch.Tensor]) -> None:
        for name in list(weights):
            weights[prefix + name] = weights.pop(name)

    return lambda folder: change_weights(folder, change)


def _fewer_words(folder: Path) -> None:
    configure(folder, vocab_size=40)
    change_weights(folder, lambda w: w.update({n: t[:40] for n, t in w.items() if "wte" in n}))


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "empty": (_only, "no config.json in it"),
    "GGUF": (_instead("model.gguf", "GGUF"), "GGUF format"),
    "an adapter": (_instead("adapter_config.json", '{"peft_type": "LORA"}'),
                   "an adapter .LoRA. without the network"),
    "not JSON": (lambda f: (f / "config.json").write_text("{"), "cannot be read. Download it"),
    "a list": (lambda f: (f / "config.json").write_text("[1]"), "does not hold a configuration"),
    "custom code": (lambda f: configure(f, auto_map={"AutoModel": "m.F"}), "code of its own"),
    "unknown type": (lambda f: configure(f, model_type="fancy"), "does not know this type"),
    "no type": (lambda f: configure(f, model_type=None), "does not say what type"),
    "quantised": (
        lambda f: configure(f, quantization_config={"quant_method": "gptq", "bits": 4}),
        "quantised"),
    "pickle": (lambda f: (f / WEIGHTS).rename(f / "pytorch_model.bin"),
               "could run any code.*save_pretrained"),
    "no weights": (lambda f: (f / WEIGHTS).unlink(), "no weights"),
    "cut": (_cut, "cut off or damaged"),
    "a Git LFS pointer": (
        lambda f: (f / WEIGHTS).write_text("version https://git-lfs.github.com/spec/v1\nsize 1"),
        "git lfs pull"),
    "a shard missing": (_shard, "1 of its 2 weight files are missing"),
    "other shapes": (lambda f: configure(f, n_inner=96), "shapes of its weights are not those"),
    "more blocks": (lambda f: configure(f, n_layer=4), "weights are missing, first .*h.2"),
    "a weight missing": (_missing, "weights are missing, first .*c_fc.*random numbers"),
    "NaN in a matrix": (_no_number(torch.nan, "h.1.mlp.c_proj.w"), r"h\.1\.mlp.*NaN or infinite"),
    "infinity in a bias": (_no_number(torch.inf, "ln_1.bias"), r"ln_1\.bias has values"),
    "torch.compile's names": (_behind("_orig_mod."), "“_orig_mod.”, as torch.compile writes them"),
    "DDP's names": (_behind("module."), "“module.”, as DistributedDataParallel.*inside"),
    "a name before names": (_behind("mine.net."), "begin with “mine.net.”, and transformers looks"),
    "no tokenizer": (lambda f: _only(f, "config.json", WEIGHTS), "there is no tokenizer in it"),
    "another tokenizer": (_fewer_words, "entries and the network only 40"),
    "impossible sizes": (lambda f: configure(f, n_head=5), "no network that can be built"),
}  # fmt: skip
