"""How much worse a network predicts masked tokens of the probe sentences after an edit."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from ffnviz.analysis.needs import Capability, masked_id, require
from ffnviz.analysis.neurons.probes import Probe
from ffnviz.analysis.neurons.texts import batches
from ffnviz.analysis.spread import Progress
from ffnviz.models.edit import Edit
from ffnviz.models.network import Network

NEEDS = (Capability.MASK, Capability.WORD_HEAD)
MASKED = 0.2
SEED = 0


@dataclass(frozen=True)
class ProbeLoss:
    """The loss of the plain and of the edited network at the same masked tokens."""

    # plain, edited: cross-entropy at each masked token, in nats, (n_masked,)
    plain: NDArray[np.float64]
    edited: NDArray[np.float64]

    @property
    def worse(self) -> float:
        """The mean increase of the loss by the edit, in nats per masked token."""
        return float((self.edited - self.plain).mean())

    @property
    def error(self) -> float:
        """The standard error of `worse`: the paired differences' standard deviation over √n."""
        differences = self.edited - self.plain
        return float(differences.std(ddof=1) / np.sqrt(len(differences)))


@dataclass(frozen=True)
class MaskedBatch:
    """Texts of equal length with some of their tokens masked."""

    ids: Tensor  # what the network reads, (B, T)
    places: Tensor  # the masked tokens, (B, k)
    targets: Tensor  # the ids that they replace, (B, k)
    done: int  # texts in this and all earlier batches

    @property
    def rows(self) -> Tensor:
        """The text of each masked token, (B, 1): `stream[rows, places]` is (B, k, d_model)."""
        return torch.arange(len(self.ids))[:, None]


def masked_batches(model: Network, probes: Sequence[Probe]) -> Iterator[MaskedBatch]:
    """The probe sentences with a fifth of the tokens of each masked, always the same, at least one.

    Raises:
        NotForThisNetwork: without a mask token.
    """
    mask = masked_id(model)
    generator = torch.Generator().manual_seed(SEED)
    done = 0
    for batch in batches(probes, model.tokenizer, model.sizes.max_tokens):
        n_texts, n_tokens = batch.ids.shape
        n_masked = max(1, round(MASKED * n_tokens))
        places = torch.rand(n_texts, n_tokens, generator=generator).topk(n_masked, dim=-1).indices
        done += n_texts
        inputs = batch.ids.scatter(1, places, mask)
        yield MaskedBatch(inputs, places, batch.ids.gather(1, places), done)


def losses_of(logits: Tensor, targets: Tensor) -> NDArray[np.float64]:
    """Cross-entropy of each target, (B, k), by its logits, (B, k, vocab_size), in nats, (B·k,)."""
    losses = F.cross_entropy(
        logits.flatten(0, 1), targets.flatten().to(logits.device), reduction="none"
    )
    return losses.cpu().double().numpy()


@torch.no_grad()
def masked_loss(
    model: Network,
    probes: Sequence[Probe],
    edits: Sequence[Edit] = (),
    progress: Progress = lambda _: None,
) -> NDArray[np.float64]:
    """Cross-entropy at every masked token, in nats, (n_masked,).

    The tokens are those of `masked_batches`. Edits are made at every token, whatever tokens they
    name.

    Raises:
        NotForThisNetwork: without a mask token or a word head.
    """
    require(model, NEEDS)
    everywhere = [replace(edit, tokens=None) for edit in edits]
    losses = []
    for batch in masked_batches(model, probes):
        run = model.run(batch.ids.to(model.device), everywhere)
        logits = run.unembed(run.final[batch.rows, batch.places.to(model.device)])
        losses.append(losses_of(logits, batch.targets))
        progress(batch.done / len(probes))
    return np.concatenate(losses)
