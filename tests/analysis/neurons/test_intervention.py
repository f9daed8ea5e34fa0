"""What an edit changes, what each neuron adds, a planted neuron, and how much fits, by hand."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch.nn import functional as F

from ffnviz.analysis.neurons.intervention import ProbeLoss, change, masked_batches, masked_loss
from ffnviz.analysis.neurons.probes import Probe
from ffnviz.analysis.prediction import divergence
from ffnviz.models.edit import Edit
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.encoder import Encoder
from ffnviz.models.encoder.model import Model
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.network import NotForThisNetwork
from ffnviz.parts.neurons import capacity as module
from ffnviz.parts.neurons.capacity import capacity, stored
from ffnviz.parts.neurons.insert import Planted, PlantError, output_with, plant, spread, word_id
from tests.analysis.networks import network, ours, small_model

TEXT = "The cat sat on the [MASK]."
SENTENCES = ("The cat sat.", "Who is it?", "The river was wide.")


def test_a_change_is_the_distance_of_the_two_passes(tokenizer: Tokenizer) -> None:
    model = small_model(tokenizer, "pre")
    plain, edited = model.trace(TEXT), model.trace(TEXT, edits=[Edit(1, range(32), scale=0.0)])
    found = change(plain, edited, token=2)
    assert found.output[0] == found.stream[0] == 0  # what lies before an edit stays
    bias = model.encoder.blocks[1].ffn.compress.bias  # all that a sleeping FFN writes
    full = plain.blocks[1].ffn.output[2]
    assert found.output[1] == pytest.approx(float((full - bias).norm() / full.norm()), rel=1e-5)
    p, q = (t.logits[2].double().softmax(dim=-1) for t in (plain, edited))
    apart = divergence(plain.logits_at(2), edited.logits_at(2))
    assert apart == pytest.approx(float((p * (p / q).log()).sum()), rel=1e-6)
    assert divergence(plain.logits_at(2), plain.logits_at(2)) == 0


def test_the_masked_loss_is_at_masks(tokenizer: Tokenizer) -> None:
    model = small_model(tokenizer, "pre")
    whole: list[list[int]] = []
    expected: list[float] = []
    for batch in masked_batches(model, PROBES):
        n_masked = batch.ids.eq(tokenizer.mask_id).sum(dim=1)
        assert (n_masked == max(1, round(0.2 * batch.ids.shape[1]))).all()
        whole += batch.ids.scatter(1, batch.places, batch.targets).tolist()
        said = model.encoder(batch.ids, [Edit(0, range(32), scale=0.0)]).logits.log_softmax(-1)
        for row, places, targets in zip(said, batch.places, batch.targets, strict=True):
            expected += (-row[places, targets]).tolist()
    assert sorted(whole) == sorted(tokenizer.encode_many(SENTENCES))
    # An edit is made at every token, whichever it names.
    plain, done = masked_loss(model, PROBES), list[float]()
    losses = masked_loss(model, PROBES, [Edit(0, range(32), 0.0, tokens=[0])], done.append)
    np.testing.assert_allclose(losses, expected, rtol=1e-4)
    assert done[-1] == 1
    found, difference = ProbeLoss(plain, losses), losses - plain
    assert found.worse == pytest.approx(float(difference.mean())) != 0
    by_hand = np.sqrt(((difference - difference.mean()) ** 2).sum() / (len(difference) - 1))
    assert found.error == pytest.approx(by_hand / len(difference) ** 0.5)


TOKEN, WORD = 3, 77
PROBES = [Probe(text, ()) for text in SENTENCES]
KINDS = ["plain", "nine blocks", "no biases", "post-LN", "causal"]


def with_one_neuron_more(model: Model, block: int, planted: Planted) -> Model:
    """Built anew with d_ff + 1; in the other blocks the last neuron writes nothing."""
    values = model.encoder.config.to_dict()
    encoder = Encoder(EncoderConfig.from_dict({**values, "d_ff": values["d_ff"] + 1})).eval()
    weights = {k: v.clone() for k, v in model.encoder.state_dict().items()}
    for number in range(values["n_blocks"]):
        name = f"blocks.{number}.ffn"
        here = number == block
        row = planted.key if here else torch.zeros_like(planted.key)
        column = planted.value if here else torch.zeros_like(planted.value)
        weights[f"{name}.expand.weight"] = torch.cat([weights[f"{name}.expand.weight"], row[None]])
        weights[f"{name}.compress.weight"] = torch.cat(
            [weights[f"{name}.compress.weight"], column[:, None]], dim=1
        )
        if f"{name}.expand.bias" in weights:
            bias = torch.tensor([planted.bias if here else 0.0])
            weights[f"{name}.expand.bias"] = torch.cat([weights[f"{name}.expand.bias"], bias])
    encoder.load_state_dict(weights)
    return Model("larger", encoder.requires_grad_(False), model.tokenizer, model.token_counts)


@pytest.mark.parametrize("kind", KINDS)
def test_the_words_are_a_networks_with_one_neuron_more(tokenizer: Tokenizer, kind: str) -> None:
    model = network(kind, tokenizer)
    assert isinstance(model, Model)
    trace, block = model.trace(TEXT), model.sizes.n_blocks - 1
    for where in {0, block}:
        planted = plant(model, trace, where, TOKEN, WORD, strength=1.5, choosiness=0.3)
        found = model.logits(model.stream_with(trace, where, output_with(trace, where, planted)))
        built = with_one_neuron_more(model, where, planted).trace(TEXT)
        assert built.blocks[where].ffn.hidden.shape[-1] == model.sizes.d_ff + 1
        assert not torch.allclose(built.logits, trace.logits, atol=1e-2), "or this could not fail"
        torch.testing.assert_close(found, built.logits, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(
            planted.hidden(trace.blocks[where].ffn.input), built.blocks[where].ffn.hidden[:, -1]
        )


def test_it_wakes_at_what_is_like_it_and_lifts_its_word_most(tokenizer: Tokenizer) -> None:
    model = ours(tokenizer)
    trace = model.trace(TEXT)
    planted = plant(model, trace, 1, TOKEN, WORD, strength=2.0, choosiness=0.75)
    x = trace.blocks[1].ffn.input[TOKEN]
    shares = torch.tensor([1.0, 0.875, 0.75, 0.5, -1.0])
    across = torch.randn(16, generator=torch.Generator().manual_seed(1))
    across -= (across @ x) / (x @ x) * x  # what lies across the key does not count
    assert_allclose(planted.hidden(shares[:, None] * x + across), [4, 2, 0, 0, 0], atol=1e-5)
    length = float(planted.writes(x).norm() / trace.blocks[1].ffn.output[TOKEN].norm())
    assert length == pytest.approx(2)
    norm, words = model.encoder.final_norm, model.encoder.token_embedding.weight

    def lift(written: torch.Tensor) -> torch.Tensor:
        """How far above the average word, of vectors of one length."""
        read = (written - written.mean(-1, keepdim=True)) * norm.weight  # type: ignore[operator]
        logits = read @ words.mT
        return logits[..., WORD] - logits.mean(-1)

    own = planted.value / planted.value.norm()
    others = torch.randn(2_000, 16, generator=torch.Generator().manual_seed(1))
    near = torch.nn.functional.normalize(own + 0.1 * others, dim=-1)
    assert float(lift(near).max()) <= float(lift(own)) * (1 + 1e-6)


@pytest.mark.parametrize(("phi", "choosiness"), [("relu", 0.2), ("tanh", 0.5)])
def test_the_spread_is_that_of_the_larger_network(
    tokenizer: Tokenizer, phi: str, choosiness: float
) -> None:
    model = ours(tokenizer, activation=phi)
    planted = plant(model, model.trace(TEXT), 0, TOKEN, WORD, 3.0, choosiness)
    larger = with_one_neuron_more(model, 0, planted)
    passes = [larger.run(batch.ids) for batch in masked_batches(model, PROBES)]
    values = torch.cat([each.blocks[0].ffn.hidden[..., -1].flatten() for each in passes])
    sizes = values.abs()
    middle = len(sizes) // 2
    threshold = float(sizes.sort().values[middle - 1 : middle + 1].mean())  # half are awake
    assert (values > threshold).any()
    assert (values < -threshold).any() == (phi == "tanh"), "it is awake below zero, too"
    shares: list[float] = []
    found = spread(model, PROBES, 0, planted, threshold, shares.append)
    assert spread(model, PROBES, 0, planted, threshold).awake == found.awake
    assert_allclose(found.loss.plain, masked_loss(model, PROBES), atol=1e-5)
    assert_allclose(found.loss.edited, masked_loss(larger, PROBES), atol=1e-4)
    assert abs(found.loss.worse) > 1e-3, "or this test could not fail"
    assert found.said_before <= found.said_after <= len(found.loss.plain)
    assert shares[-1] == 1
    assert found.n_tokens == len(sizes)
    assert found.awake == int((sizes > threshold).sum())
    strongest = sizes.topk(min(10, found.awake)).values
    assert_allclose([abs(woken.value) for woken in found.strongest], strongest, atol=1e-5)
    # Each is a place in one of the texts, a hidden token there written as [MASK].
    for woken in found.strongest:
        whole = f"{woken.before}{woken.at}{woken.after}"
        assert "[MASK]" in whole
        ids = torch.tensor(tokenizer.encode(whole).ids)
        hidden = larger.run(ids).blocks[0].ffn.hidden[:, -1]
        assert float((hidden - woken.value).abs().min()) < 1e-4


def test_a_word_it_has_in_pieces_is_refused_with_others_that_it_has(tokenizer: Tokenizer) -> None:
    model = ours(tokenizer)
    whole = word_id(model, " the ")
    assert tokenizer.word(whole) == " the"
    for typed, why in (
        ("", "Type a word"), ("[mask]", "hidden word"), ("xylophone", r"only in pieces: x \+ y"),
        ("There then", r"pieces: The \+ re \+ the \+ n.*Words it has whole: the"),
        ("<b>", "in pieces"),
    ):  # fmt: skip
        with pytest.raises(PlantError, match=why):
            word_id(model, typed)


def test_it_is_not_planted_where_the_equation_is_another(tokenizer: Tokenizer) -> None:
    for kind in ("gated", "stranger", "headless stranger"):
        other = network(kind, tokenizer)
        with pytest.raises(NotForThisNetwork):
            plant(other, other.trace(TEXT), 0, TOKEN, WORD, 1.0, 0.5)
    model = network("no biases", tokenizer)  # every input a little like it wakes it
    trace = model.trace(TEXT)
    planted = plant(model, trace, 0, TOKEN, WORD, 1.0, choosiness=0.9)
    assert planted.bias == 0
    x = trace.blocks[0].ffn.input[TOKEN]
    assert float(x @ planted.key) == pytest.approx(4)
    assert planted.value.isfinite().all()


COUNTS = [1, 5, 16, 17, 24, 32, 33, 48, 100]


@pytest.mark.parametrize("rank", [32, 20])
def test_what_is_stored_is_what_least_squares_gives_and_exact_up_to_the_rank(rank: int) -> None:
    generator = torch.Generator().manual_seed(1)

    def draw(rows: int, columns: int) -> torch.Tensor:
        return torch.randn(rows, columns, generator=generator, dtype=torch.float64)

    hidden, y = draw(100, rank) @ draw(rank, 32), F.normalize(draw(100, 16), dim=-1)
    *so_far, found = stored(hidden, y, COUNTS)
    assert found.rank == rank
    for n_done, part in enumerate(so_far, start=1):
        assert part.rank is None
        np.testing.assert_array_equal(part.off, found.off[:n_done])
    for n, off, recall in zip(COUNTS, found.off, found.recall, strict=True):
        rows, wanted = hidden[:n].numpy(), y[:n].numpy()
        made = rows @ np.linalg.lstsq(rows, wanted, rcond=1e-10)[0]
        expected = np.linalg.norm(made - wanted) / np.linalg.norm(wanted)
        assert off == pytest.approx(expected, abs=1e-3)
        right = (made @ y.numpy().T).argmax(axis=1) == np.arange(n)
        assert recall == pytest.approx(right.mean(), abs=0.02)
        if n <= rank:
            assert off < 1e-3
            assert recall == 1
    assert found.exact_up_to(np.array(COUNTS)) == max(n for n in COUNTS if n <= rank)


def test_phi_lets_more_fit(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "COUNTS", (4, 8, 12, 16, 17, 20, 24, 28, 32, 40, 64))
    told: list[float] = []
    *so_far, found = capacity(ours(tokenizer, activation="gelu"), 0, told.append)
    assert [len(part.counts) for part in so_far] == list(range(1, len(found.counts)))
    # The inputs of 16 dimensions leave a LayerNorm, which takes one; a bias gives one.
    assert found.without.rank == 16
    assert found.without.exact_up_to(found.counts) == 16
    assert found.with_phi.rank == 32
    assert found.with_phi.exact_up_to(found.counts) == 32
    assert told[-1] == pytest.approx(1)


def test_what_is_nearly_singular_is_solved_without_squaring_its_condition() -> None:
    generator = torch.Generator().manual_seed(2)
    drawn = torch.randn(32, 32, generator=generator, dtype=torch.float64)
    left, _, right = torch.linalg.svd(drawn)
    hidden = left @ torch.diag(torch.logspace(0, -9, 32, dtype=torch.float64)) @ right
    (found,) = stored(hidden, F.normalize(drawn, dim=-1), [32])
    assert found.off[0] < 1e-5, "in float64 a condition number of 1e9 leaves seven digits"
    assert found.recall[0] == 1
