"""The effect of switching neurons off, and which neurons matter for a word."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from ffnviz.analysis.measuring import Progress
from ffnviz.analysis.needs import Capability, masked_id, require, word_head
from ffnviz.analysis.neurons.gathering import batches
from ffnviz.analysis.neurons.probes import Probe
from ffnviz.models.edit import Edit
from ffnviz.models.network import Network
from ffnviz.models.trace import ForwardPass

LOSS_NEEDS = (Capability.MASK, Capability.WORD_HEAD)
MASKED = 0.2
SEED = 0


@dataclass(frozen=True)
class ProbeLoss:
    """The loss of the plain and of the edited network at the same masked tokens."""

    plain: NDArray[np.float64]  # cross-entropy at each masked token, in nats, (n_masked,)
    edited: NDArray[np.float64]  # likewise

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
    """The probe sentences with a fifth of the tokens of each masked, always the same ones."""
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
    words, wanted = logits.flatten(0, 1), targets.flatten().to(logits.device)
    losses = F.cross_entropy(words, wanted, reduction="none")
    return losses.cpu().double().numpy()


@torch.no_grad()
def masked_loss(
    model: Network,
    probes: Sequence[Probe],
    edits: Sequence[Edit] = (),
    progress: Progress = lambda _: None,
) -> NDArray[np.float64]:
    """Cross-entropy at the tokens of `masked_batches`, in nats, (n_masked,).

    Edits are made at every token, whatever tokens they name.
    """
    require(model, LOSS_NEEDS)
    everywhere = [replace(edit, tokens=None) for edit in edits]
    losses = []
    for batch in masked_batches(model, probes):
        run = model.run(batch.ids.to(model.device), everywhere)
        logits = run.unembed(run.final[batch.rows, batch.places.to(model.device)])
        losses.append(losses_of(logits, batch.targets))
        progress(batch.done / len(probes))
    return np.concatenate(losses)


def neuron_values(trace: ForwardPass, block: int, neuron: int) -> NDArray[np.float32]:
    """A neuron's hidden values, (T,)."""
    return trace.blocks[block].ffn.hidden[:, neuron].cpu().numpy()


def strongest_neuron(trace: ForwardPass, block: int, token: int) -> int:
    """The neuron with the largest |hidden| on a token."""
    return int(trace.blocks[block].ffn.hidden[token].abs().argmax())


def strongest_neurons(trace: ForwardPass, block: int, token: int, k: int) -> list[int]:
    """The k neurons with the largest |hidden| on a token, the strongest first."""
    hidden = trace.blocks[block].ffn.hidden[token].abs()
    return hidden.topk(min(k, len(hidden))).indices.tolist()


NEEDS = (Capability.WORD_HEAD,)
DIRECT_NEEDS = (Capability.WORD_HEAD, Capability.WORD_VECTORS, Capability.PRE_NORM)


@dataclass(frozen=True)
class Change:
    """How far an edited trace is from the plain one, at one token."""

    output: NDArray[np.float64]  # ‖edited − plain‖ / ‖plain‖ of each FFN's output, (n_blocks,)
    stream: NDArray[np.float64]  # the same for the residual stream after each block, (n_blocks,)


@torch.no_grad()
def change(plain: ForwardPass, edited: ForwardPass, token: int) -> Change:
    """Compare an edited pass over the same tokens with the plain one."""
    pairs = list(zip(plain.blocks, edited.blocks, strict=True))
    output = [_distance(a.ffn.output[token], b.ffn.output[token]) for a, b in pairs]
    stream = [_distance(a.output[token], b.output[token]) for a, b in pairs]
    return Change(np.array(output), np.array(stream))


def _distance(plain: Tensor, edited: Tensor) -> float:
    return float((edited - plain).norm() / plain.norm().clamp_min(1e-30))


@torch.no_grad()
def direct_contributions(
    model: Network, trace: ForwardPass, token: int, word: int, block: int | None = None
) -> NDArray[np.float32]:
    """What each neuron directly adds to a word's logit at a token, (n_blocks, d_ff).

    hidden · E_w · (γ ⊙ (value − mean(value))) / σ, with σ of the whole stream held fixed; effects
    through later blocks are not counted (Elhage et al. 2021, "direct path"; Geva et al. 2022,
    eq. 5). With a `block` those of its neurons alone, (1, d_ff).
    """
    require(model, DIRECT_NEEDS)
    head, words = word_head(model)
    along = words.vectors[word]  # (d_model,)
    if head.norm is not None:
        along = head.norm.undivided_along(along) / head.norm.scale(trace.blocks[-1].output[token])
    numbers = range(len(trace.blocks)) if block is None else [block]
    added = [trace.blocks[n].ffn.hidden[token] * (model.ffn(n).values @ along) for n in numbers]
    return torch.stack(added).float().cpu().numpy()
