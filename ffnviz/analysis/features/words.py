"""The words that a feature writes: its direction, read like a neuron's value."""

import torch
from torch import Tensor

from ffnviz.analysis.features.encoding import check_fit
from ffnviz.analysis.needs import Capability
from ffnviz.analysis.neurons.memory import RankedWords, words_of
from ffnviz.models.arguments import at_least, place_of
from ffnviz.models.network import Network
from ffnviz.models.sae import Sae, SaeError

NEEDS = (Capability.WORD_HEAD, Capability.WORD_VECTORS)


@torch.no_grad()
def direction(network: Network, sae: Sae, feature: int) -> Tensor:
    """What a feature of activation 1 adds to the stream, (d_model,).

    Its row of W_dec; in a dictionary of hidden neurons, W_dec[f] W₂; of heads, W_dec[f] W_O.

    Raises:
        SaeError: if there is no such feature, or the dictionary does not fit.
    """
    check_fit(network, sae)
    try:
        feature = place_of("feature", feature, sae.d_sae, from_end=False)
    except ValueError as error:
        raise SaeError(str(error)) from None
    ffn = network.ffn(sae.block)
    written = sae.w_dec[feature].to(ffn.values)
    if sae.at == "heads":
        return written @ network.heads(sae.block).outputs.flatten(0, 1)
    return written @ ffn.values if sae.at == "hidden" else written


def sae_words(
    network: Network, sae: Sae, feature: int, k: int = 10
) -> tuple[RankedWords, RankedWords]:
    """The k words that a feature of activation 1 promotes most and suppresses most.

    Its direction in the stream is read through the final norm's centring and gain and the output
    matrix (the logit lens), before the division by the stream's standard deviation, as a neuron's
    value is. What later blocks make of it is not counted.

    Raises:
        SaeError: a ValueError, if there is no such feature, or the dictionary does not fit.
        NotForThisNetwork: without a plain word head.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> eye, zero = torch.eye(2048), torch.zeros(2048)  # a feature a neuron
        >>> weights = {"w_enc": eye, "w_dec": eye, "b_dec": zero, "b_enc": zero}
        >>> sae = ffnviz.Sae("neurons", 1, "hidden", "standard", **weights)
        >>> promoted, suppressed = ffnviz.sae_words(model, sae, feature=1709, k=3)
        >>> promoted.scores.shape, bool(promoted.scores[0] > 0 > suppressed.scores[0])
        ((3,), True)
    """
    return words_of(network, direction(network, sae, feature), at_least("k", k, 0))
