"""A network of ours as what encoder.js and tokenizer.js read: its weights as float16, and an index.

Matrices lie in panels of eight rows, [rows / 8][columns][8], in which encoder.js reads them in
order; vectors, and the positions, of which single rows are read, as they are.
"""

import json
import re
import zlib
from dataclasses import dataclass, field
from typing import Any

from ffnviz.models import spelling
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.model import Model
from ffnviz.models.encoder.tokenizer import Tokenizer

PANEL, STEPS, ALIGNMENT = 8, 4, 4  # as in encoder.js; bytes
ACTIVATIONS = ("relu", "gelu")  # as in encoder.js
NO_NAME = re.compile(r"[^A-Za-z0-9_-]+")  # a network's id is its folder's name, which may be any
BY_ROWS = "position_embedding.weight"


class NotForALivePageError(ValueError):
    """The page's own arithmetic is not that of the network; the message says where."""


@dataclass(frozen=True)
class PackedNetwork:
    """A network's weights, and what is needed to read them."""

    index: dict[str, Any]  # JSON values
    weights: bytes = field(repr=False)


def packed_network(model: Model) -> PackedNetwork:
    """The weights one after the other, and where each lies; raises NotForALivePageError."""
    config = model.encoder.config
    _check(model.name, config)
    content, places = bytearray(), {}
    for name, weight in model.encoder.state_dict().items():
        values = weight.half().cpu().numpy()
        content += bytes(-len(content) % ALIGNMENT)
        places[name] = {"shape": list(values.shape), "at": len(content)}
        if values.ndim == 2 and name != BY_ROWS:
            rows, columns = values.shape
            values = values.reshape(rows // PANEL, PANEL, columns).transpose(0, 2, 1)
        content += values.astype("<f2").tobytes()
    weights = bytes(content)
    index = {
        "id": model.card.id,
        "label": model.card.label,
        "name": NO_NAME.sub("-", model.card.id),  # of its file, or of its place in the page
        "config": config.to_dict(),
        "places": places,
        "size": len(weights),
        "crc32": zlib.crc32(weights),
    }
    return PackedNetwork(index, weights)


def _check(name: str, config: EncoderConfig) -> None:
    """Raise if encoder.js has no such network."""
    wide = (config.d_model, config.d_ff, config.vocab_size)
    wrong = {
        f"its φ is {config.activation}": config.activation not in ACTIVATIONS,
        "its LayerNorms come after the residual sums": config.norm != "pre",
        "its attention is causal": config.causal,
        "it has no biases": not config.bias,
        f"its sizes, {', '.join(map(str, wide))}, are not all multiples of {PANEL}": any(
            size % PANEL for size in wide
        ),
        f"its heads are {config.d_head} wide, not a multiple of {STEPS}": config.d_head % STEPS,
    }
    for why, is_so in wrong.items():
        if is_so:
            raise NotForALivePageError(
                f"A live page cannot compute {name!r}: {why}. It computes only our own encoders "
                "with ReLU or GELU and pre-LayerNorm; without --live a sentence can be saved "
                "with any network."
            )


def tokenizer_index(tokenizer: Tokenizer) -> dict[str, Any]:
    """What tokenizer.js reads, as JSON values; raises NotForALivePageError."""
    values = json.loads(tokenizer.to_json())
    normalizer, splitter = values["normalizer"] or {}, values["pre_tokenizer"] or {}
    as_ours = normalizer == {"type": "Lowercase"} and splitter.get("type") == "ByteLevel"
    if not (as_ours and splitter["use_regex"] and values["model"]["type"] == "BPE"):
        raise NotForALivePageError(
            "A live page cannot tokenize for this network: the page knows only byte-level BPE on "
            "lower-cased text, which networks trained by ffnviz have."
        )
    vocabulary = values["model"]["vocab"]
    return {
        "vocabulary": sorted(vocabulary, key=vocabulary.__getitem__),
        "merges": values["model"]["merges"],
        "mask_id": tokenizer.mask_id,
        "labels": [tokenizer.label(id_) for id_ in range(tokenizer.vocab_size)],
        "spelling": {
            "read_as": spelling.READ_AS,
            "en_dash": spelling.EN_DASH,
            "no_break": spelling.NO_BREAK_SPACES,
            "opening": "".join(sorted(spelling.OPENING)),
            "within": "'" + spelling.SINGLE_QUOTES + spelling.UNSEEN,
            "closing": "".join(sorted(spelling.CLOSING)),
        },
    }
