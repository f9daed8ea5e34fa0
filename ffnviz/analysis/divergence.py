"""How far one softmax is from another."""

from torch import Tensor


def divergence(logits: Tensor, others: Tensor) -> float:
    """KL(softmax(logits) ‖ softmax(others)) in nats, over a whole vocabulary, (vocab_size,) each.

    Computed in float64 on the CPU; never below 0, as rounding could have it.
    """
    log_p, log_q = (each.cpu().double().log_softmax(dim=-1) for each in (logits, others))
    return max(0.0, float((log_p.exp() * (log_p - log_q)).sum()))
