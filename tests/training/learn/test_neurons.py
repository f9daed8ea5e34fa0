"""What activates a neuron and how its key turns, against loops and NumPy."""

import numpy as np
import torch

from ffnviz.training.learn.learner import SHOWN, keys_of, look_at_neurons
from ffnviz.training.learn.variants import VARIANTS, new_encoder
from ffnviz.training.masking import Batch


def test_the_strongest_tokens_are_those_of_a_loop_over_all() -> None:
    encoder = new_encoder(VARIANTS["relu"], 40, 3)
    ids = torch.randint(0, 40, (2, 6, 7), generator=torch.Generator().manual_seed(1))
    hidden_none = torch.zeros((6, 7), dtype=torch.bool)
    batches = [Batch(each, hidden_none, torch.tensor([])) for each in ids]
    first = keys_of(encoder)
    with torch.no_grad():
        encoder.blocks[1].ffn.expand.weight[5] = torch.arange(64.0)
    found = look_at_neurons(encoder, first, batches)
    for block, neuron in ((0, 0), (0, 200), (1, 5)):
        best: dict[int, float] = {}
        for row in ids.flatten(0, 1):
            hidden = encoder.stream(row).blocks[block].ffn.hidden[:, neuron].detach()
            for id_, value in zip(row.tolist(), hidden.tolist(), strict=True):
                best[id_] = max(value, best.get(id_, value))
        chosen = found.strongest[block, neuron].tolist()
        largest = sorted(best.values(), reverse=True)[:SHOWN]
        np.testing.assert_allclose([best[id_] for id_ in chosen], largest, atol=1e-5)


def test_a_key_that_was_not_trained_has_not_turned() -> None:
    encoder = new_encoder(VARIANTS["swiglu"], 40, 3)
    first = keys_of(encoder)
    with torch.no_grad():
        encoder.blocks[1].ffn.expand.weight[5] = torch.arange(64.0)
        encoder.blocks[0].ffn.expand.weight[2] *= -3
    ids = torch.arange(10)[None]
    nothing = Batch(ids, torch.zeros_like(ids, dtype=torch.bool), torch.tensor([]))
    turned = look_at_neurons(encoder, first, [nothing]).turned
    old, new = first[1, 5].numpy(), np.arange(64.0)
    cosine = old @ new / np.linalg.norm(old) / np.linalg.norm(new)
    np.testing.assert_allclose(turned[1, 5], cosine, atol=1e-3)
    np.testing.assert_allclose(turned[0, 2], -1, atol=1e-3)
    np.testing.assert_allclose(np.delete(turned[0], 2), 1, atol=1e-3)
