"""A trained encoder with its tokenizer: what `ffnviz.load` returns."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from ffnviz.assets import ASSETS
from ffnviz.model.edit import Edit
from ffnviz.model.encoder import Encoder
from ffnviz.model.folder import read_folder
from ffnviz.model.tokenizer import Tokenizer
from ffnviz.model.trace import Trace

MODELS = ASSETS / "models"
TWINS = ("relu", "gelu")


@dataclass(frozen=True)
class Model:
    """A trained encoder, ready for inference.

    Attributes:
        name: the twin, or the folder's name.
        encoder: ids (…, T) to an EncoderTrace.
        tokenizer: text to ids and spans, and back.
        token_counts: how often each entry stood in the training text, (vocab_size,).
    """

    name: str
    encoder: Encoder
    tokenizer: Tokenizer
    token_counts: Tensor

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.encoder.token_embedding.weight.device

    @torch.inference_mode()
    def trace(self, text: str, edits: Sequence[Edit] = ()) -> Trace:
        """Everything the encoder computes for a text of at most max_tokens tokens.

        Of a longer text the first max_tokens are used; `trace.n_left_out` and `trace.left_out` say
        what was not. Edits change hidden values on the way, and so all that comes after them.

        Raises:
            ValueError: if the text is empty, or an edit is to change what is not there.
        """
        encoding = self.tokenizer.encode(text, self.encoder.config.max_tokens)
        if not encoding.tokens:
            raise ValueError("The text is empty: there is nothing to trace.")
        computed = self.encoder(torch.tensor(encoding.ids, device=self.device), edits)
        return Trace(
            **vars(computed), text=text, tokens=encoding.tokens, n_left_out=encoding.n_left_out
        )


def load(name: str | Path, device: str | torch.device = "cpu") -> Model:
    """A model by the name of a twin ("relu", "gelu") or by its folder.

    Raises:
        ModelFolderError: if the folder is not a model; the message says which file and why.
        RuntimeError: from PyTorch, if the device is not there.
    """
    folder = MODELS / name if name in TWINS else Path(name)
    encoder, tokenizer, token_counts = read_folder(folder)
    return Model(folder.name, encoder.to(device), tokenizer, token_counts)
