"""How much worse the network guesses masked words of the probe sentences after an edit."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional as F

from ffnviz.analysis.needs import Need, masked_id, require
from ffnviz.analysis.neurons.probes import Probe
from ffnviz.analysis.neurons.texts import batches
from ffnviz.analysis.spread import Progress
from ffnviz.model.edit import Edit
from ffnviz.model.network import Network

NEEDS = (Need.MASK, Need.WORD_HEAD)
MASKED = 0.2
SEED = 0


@dataclass(frozen=True)
class ProbeLoss:
    """The same masked tokens, guessed by the plain and by the edited network.

    Attributes:
        plain, edited: cross-entropy at each masked token, in nats, (n_masked,).
    """

    plain: NDArray[np.float64]
    edited: NDArray[np.float64]

    @property
    def worse(self) -> float:
        """By how many nats a masked token the edited network is worse, on average."""
        return float((self.edited - self.plain).mean())

    @property
    def error(self) -> float:
        """The standard error of `worse`: the spread of the paired differences over √n."""
        differences = self.edited - self.plain
        return float(differences.std(ddof=1) / np.sqrt(len(differences)))


@torch.inference_mode()
def masked_loss(
    model: Network,
    probes: Sequence[Probe],
    edits: Sequence[Edit] = (),
    progress: Progress = lambda _: None,
) -> NDArray[np.float64]:
    """Cross-entropy at every masked token, in nats, (n_masked,).

    A fifth of each sentence's tokens, at least one, is masked; always the same ones. Edits are
    made at every token, whatever tokens they name.

    Raises:
        NotForThisNetwork: without a mask token or a word head.
    """
    require(model, NEEDS)
    mask = masked_id(model)
    everywhere = [Edit(e.block, e.neurons, e.scale, e.value) for e in edits]
    generator = torch.Generator().manual_seed(SEED)
    losses, done = [], 0
    for batch in batches(probes, model.tokenizer, model.sizes.max_tokens):
        n_texts, n_tokens = batch.ids.shape
        n_masked = max(1, round(MASKED * n_tokens))
        places = torch.rand(n_texts, n_tokens, generator=generator).topk(n_masked, dim=-1).indices
        targets = batch.ids.gather(1, places)
        inputs = batch.ids.scatter(1, places, mask).to(model.device)
        run = model.run(inputs, everywhere)
        rows = torch.arange(n_texts)[:, None]
        logits = run.unembed(run.final[rows, places.to(model.device)])
        loss = F.cross_entropy(
            logits.flatten(0, 1), targets.flatten().to(model.device), reduction="none"
        )
        losses.append(loss.cpu().double())
        done += n_texts
        progress(done / len(probes))
    return torch.cat(losses).numpy()
