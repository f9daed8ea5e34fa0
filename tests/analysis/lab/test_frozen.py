"""A frozen network is the network itself, and one matrix; in float64, against matrices by hand."""

import pytest
import torch
from torch import Tensor

from ffnviz.analysis.lab.experiment import Subject
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.parts.lab.linear import AS_IT_IS, GATES, HELD, NO_PHI, Frozen, freeze
from tests.analysis.networks import ours

TOKEN = 2
KINDS: dict[str, dict[str, object]] = {
    "ReLU": {"activation": "relu"},
    "GELU": {"activation": "gelu"},
    "post-LN": {"norm": "post", "activation": "gelu"},
    "causal": {"causal": True},
    "no biases": {"bias": False},
}


def tried(tokenizer: Tokenizer, **changes: object) -> Subject:
    model = ours(tokenizer, **changes)
    return Subject(model, model.trace("The cat sat."), 0, TOKEN)


def frozen(subject: Subject, removed: bool = False) -> Frozen:
    first, last = freeze(subject, removed, lambda _: None)
    assert first.folded is None
    assert first.block == last.block
    return last


@pytest.mark.parametrize("kind", KINDS)
def test_a_network_is_linear_once_all_three_are_held_and_gives_what_it_gave(
    tokenizer: Tokenizer, kind: str
) -> None:
    subject = tried(tokenizer, **KINDS[kind])
    for removed in (False, True):
        found = frozen(subject, removed)
        for each in (found.block, found.stack):
            assert max(each[GATES].additivity, each[GATES].scaling) < 1e-12
            assert max(each[NO_PHI].additivity, each[NO_PHI].scaling) < 1e-12
            assert each[HELD].additivity > 1e-3, "φ is left"
            assert each[AS_IT_IS].scaling > 1e-3
        assert found.unchanged < 1e-12
        assert found.folded is not None
        assert found.folded.off < 1e-12


def by_hand(subject: Subject, removed: bool) -> Tensor:
    """‖M_j‖ of one pre-LN block, of its weights alone, (T,)."""
    block = subject.own.blocks[0]
    x = subject.trace.embedding.double()
    n, d = x.shape
    one = torch.eye(d, dtype=torch.float64)

    def norm(at: Tensor, gain: Tensor) -> Tensor:  # subtracting the mean is a matrix, too
        centred = one - 1 / d
        return centred * gain / (at.var(correction=0) + block.ffn_norm.eps).sqrt()

    record = block(x)
    weights = record.attention.weights  # (heads, T, T)
    value = block.attention.project_in.weight[2 * d :]  # (d, d)
    out = block.attention.project_out.weight
    size = d // len(weights)
    gates = torch.ones(block.ffn.expand.out_features).double()
    if not removed:
        gates = (record.ffn.hidden / record.ffn.pre_activation)[TOKEN]
    ffn = (block.ffn.expand.weight.mT * gates) @ block.ffn.compress.weight.mT
    after = one + norm(record.middle[TOKEN], block.ffn_norm.weight) @ ffn
    lengths = []
    for j in range(n):
        read = torch.zeros(d, d).double()
        for head, of_head in enumerate(weights):
            part = slice(head * size, (head + 1) * size)
            read += of_head[TOKEN, j] * value[part].mT @ out[:, part].mT
        matrix = norm(x[j], block.attention_norm.weight) @ read + (one if j == TOKEN else 0)
        lengths.append((matrix @ after).norm())
    return torch.stack(lengths)


@pytest.mark.parametrize("removed", [False, True])
def test_the_folded_matrix_is_the_one_made_of_the_weights_by_hand(
    tokenizer: Tokenizer, removed: bool
) -> None:
    subject = tried(tokenizer, n_blocks=1, activation="gelu")
    with torch.no_grad():
        expected = by_hand(subject, removed)
    found = frozen(subject, removed).folded
    assert found is not None
    torch.testing.assert_close(torch.from_numpy(found.reads), expected)
    assert found.shape == (len(expected) * 16, 16)
