"""A proved network behind the protocol: its hooks, edits, threads, views and memory."""

import copy
import threading
from collections.abc import Callable

import pytest
import torch
from numpy.testing import assert_allclose
from torch import Tensor

import ffnviz
from ffnviz.models.edit import Edit
from ffnviz.models.encoder.feed_forward import GatedFeedForwardRecord
from ffnviz.models.external.hooks import Recording, record
from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.network import Network, NotForThisNetwork
from tests.models.external.conftest import TOKENIZERS
from tests.models.external.families import FAMILIES, build, two_texts
from tests.models.external.tokenizers import byte_level

IDS = two_texts()[0].clone()


def result(model: Callable[..., object], ids: Tensor) -> Tensor:
    with torch.inference_mode():
        told = model(input_ids=ids[None])
    logits = getattr(told, "logits", None)
    found = logits if logits is not None else told[0]  # type: ignore[index]
    assert isinstance(found, Tensor)
    return found


def test_it_is_a_network(external_network: ExternalNetwork) -> None:
    network: Network = external_network
    assert network.sizes.n_blocks == len(network.trace("the cat").blocks)


def test_a_copy_opens_and_changes_without_the_first(external_network: ExternalNetwork) -> None:
    first = external_network.run(IDS)
    model = copy.deepcopy(external_network.model)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(0.9)
    words = TOKENIZERS.get(external_network.label, byte_level)()
    copied, whole = ffnviz.from_module(model, words, "later"), copy.deepcopy(external_network)
    fresh = build(FAMILIES[external_network.label])
    fresh.load_state_dict(model.state_dict())
    assert torch.equal(result(copied.model, IDS), result(fresh, IDS))
    assert not torch.equal(copied.run(IDS).blocks[-1].output, first.blocks[-1].output)
    for network in (external_network, whole):
        assert torch.equal(network.run(IDS).blocks[-1].output, first.blocks[-1].output)


def test_hooks_leave_the_result_as_it_is_to_the_bit(external_network: ExternalNetwork) -> None:
    bare = result(build(FAMILIES[external_network.label]), IDS)
    assert torch.equal(result(external_network.model, IDS), bare)
    recording = Recording(IDS[None], hold=range(9), to_the_end=True)
    returned = record(external_network.model, recording)
    assert torch.equal(returned.logits if hasattr(returned, "logits") else returned[0], bare)


def test_hidden_recomputed_is_hidden_seen(external_network: ExternalNetwork) -> None:
    seen = external_network.run(IDS, hold=range(external_network.sizes.n_blocks))
    later = external_network.run(IDS)
    for held, made in zip(seen.blocks, later.blocks, strict=True):
        assert held.ffn_stages.held is not None
        assert made.ffn_stages.held is None
        for name, stage in vars(held.ffn).items():
            assert torch.equal(stage, getattr(made.ffn, name)), name


def test_hidden_is_shown_as_the_last_layer_reads_it_and_nothing_behind_it_runs(
    external_network: ExternalNetwork,
) -> None:
    """Against the unmodified network: what its down projections read in a pass of its own."""
    ids, blocks = two_texts(), external_network.proof.blocks
    bare: list[Tensor] = []
    down = {id(each.ffn.down.module): each.ffn.down.module for each in blocks}
    hooks = [module.register_forward_pre_hook(lambda _, args: bare.append(args[0].clone()))
             for module in down.values()]  # fmt: skip
    with torch.inference_mode():
        external_network.model(input_ids=ids)
    for hook in hooks:
        hook.remove()
    ran: list[int] = []
    counting = [module.register_forward_hook(lambda *_: ran.append(1)) for module in down.values()]
    for wanted in (range(len(blocks)), [0], [len(blocks) - 1]):
        ran.clear()
        shown: list[Tensor] = []
        external_network.show_hidden(ids, wanted, lambda hidden: shown.append(hidden.clone()))  # noqa: B023
        for number, hidden in zip(wanted, shown, strict=True):
            assert hidden.shape == (*ids.shape, external_network.sizes.d_ff)
            assert torch.equal(hidden.flatten(), bare[number].float().flatten())
        assert len(ran) == max(wanted)
    for hook in counting:
        hook.remove()
    with pytest.raises(ValueError, match="there must be 1 to"):
        external_network.show_hidden(ids[:, :0], [0], print)


def test_a_look_at_hidden_that_fails_leaves_nothing_behind(
    external_network: ExternalNetwork,
) -> None:
    before = external_network.run(IDS).final

    def fails(_: Tensor) -> None:
        raise KeyError("of the one who looks")

    with pytest.raises(KeyError):
        external_network.show_hidden(IDS, [0], fails)
    assert torch.equal(external_network.run(IDS).final, before)


def test_the_views_are_the_equations(external_network: ExternalNetwork) -> None:
    trace = external_network.run(IDS)
    for number, block in enumerate(trace.blocks):
        view, ffn = external_network.ffn(number), block.ffn
        x = ffn.input.double()
        keys = x @ view.keys.double().mT
        pre = keys if view.key_bias is None else keys + view.key_bias.double()
        assert_allclose(ffn.pre_activation, pre, atol=1e-5)
        hidden = view.phi.function(pre)
        assert (view.gated_value is not None) == external_network.card.gated
        if view.gated_value is not None:
            value = x @ view.gated_value.double().mT
            assert isinstance(ffn, GatedFeedForwardRecord)
            assert_allclose(ffn.value, value, atol=1e-5)
            hidden = hidden * value
        assert_allclose(ffn.hidden, hidden, atol=1e-5)
        assert_allclose(ffn.output, view.write(ffn.hidden), atol=1e-5)
        assert_allclose(view.neuron(ffn.input, 7), ffn.hidden[:, 7], atol=1e-5)
        if external_network.card.pre_norm:
            assert_allclose(block.output, block.middle + ffn.output, atol=1e-5)
        if view.norm is not None:
            parallel = external_network.proof.blocks[number].stream.kind == "parallel"
            assert_allclose(
                view.norm(block.input if parallel else block.middle), ffn.input, atol=1e-4
            )


def test_logits_are_products_with_word_vectors_where_the_card_says_so(
    external_network: ExternalNetwork,
) -> None:
    trace, head = external_network.run(IDS), external_network.head
    if head is None:
        with pytest.raises(NotForThisNetwork, match="no word head"):
            _ = trace.logits
        return
    assert_allclose(external_network.logits(trace.final[2]), trace.logits[2], atol=1e-5)
    if head.words is not None:
        read = trace.final if head.norm is None else head.norm(trace.final)
        products = read @ head.words.vectors.mT
        told = products if head.bias is None else products + head.bias
        assert_allclose(told, trace.logits, atol=1e-4)


def test_an_edit_is_made_in_the_equation(external_network: ExternalNetwork) -> None:
    plain = external_network.run(IDS)
    edits = [Edit(0, [3, 9], scale=0.0), Edit(0, [5], value=2.0, tokens=[1])]
    edited = external_network.run(IDS, edits)
    view = external_network.ffn(0)
    hidden = plain.blocks[0].ffn.hidden.clone()
    hidden[:, [3, 9]] = 0
    hidden[1, 5] = 2
    assert torch.equal(edited.blocks[0].ffn.hidden, hidden)
    assert_allclose(edited.blocks[0].ffn.output, view.write(hidden), atol=1e-5)
    assert torch.equal(edited.blocks[0].middle, plain.blocks[0].middle)
    assert not torch.equal(edited.blocks[-1].output, plain.blocks[-1].output)
    with_it = external_network.stream_with(plain, 0, edited.blocks[0].ffn.output)
    assert_allclose(with_it, edited.blocks[-1].output, atol=1e-4)
    unchanged = external_network.run(IDS, [Edit(0, [3], scale=1.0)])
    assert_allclose(unchanged.blocks[-1].output, plain.blocks[-1].output, atol=1e-6)
    with pytest.raises(ValueError, match="no neuron 500"):
        external_network.run(IDS, [Edit(0, [500], scale=0.0)])


def test_batches_are_texts_side_by_side(external_network: ExternalNetwork) -> None:
    both = external_network.run(two_texts())
    alone = external_network.run(IDS)
    for one, two in zip(alone.blocks, both.blocks, strict=True):
        assert_allclose(two.output[0], one.output, atol=1e-5)
        assert_allclose(two.ffn.hidden[0], one.ffn.hidden, atol=1e-5)
    walked = list(external_network.walk(two_texts()))
    assert_allclose(walked[-1].output, both.blocks[-1].output)


@pytest.mark.parametrize("family", ["GPT-2", "Falcon", "ALBERT"])
def test_threads_do_not_mix(family: str, network_of: Callable[[str], ExternalNetwork]) -> None:
    external_network = network_of(family)
    texts = [torch.randint(5, 90, (n,), generator=torch.Generator().manual_seed(n))
             for n in (5, 9, 13)]  # fmt: skip
    edits = [Edit(1, [2, 30, 7], scale=0.0)]
    expected = [(external_network.run(t).final, external_network.run(t, edits).final,
                 external_network.run(t).logits) for t in texts]  # fmt: skip
    wrong: list[str] = []

    def reader(number: int) -> None:
        for _ in range(8):
            run = external_network.run(texts[number])
            found = (run.final, external_network.run(texts[number], edits).final, run.logits)
            if not all(map(torch.equal, found, expected[number])):
                wrong.append(f"text {number}")

    threads = [threading.Thread(target=reader, args=(n,)) for n in (0, 1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_only_streams_are_kept(external_network: ExternalNetwork) -> None:
    trace = external_network.run(IDS)
    # Before and after each block, between its halves, and where more is added behind the FFN;
    # what one writes the next one reads.
    most = external_network.sizes.trace_nbytes(IDS.shape[0]) + IDS.nbytes
    assert trace.nbytes <= most
    _ = trace.blocks[0].ffn
    assert trace.nbytes > most
    trace.forget()
    assert trace.nbytes <= most


def test_a_text_that_is_too_long_says_so(network_of: Callable[[str], ExternalNetwork]) -> None:
    external_network = network_of("BERT")
    trace = external_network.trace("the cat " * 100)
    assert len(trace.tokens) == external_network.sizes.max_tokens == 64
    assert trace.n_left_out == 202 - 64
    assert trace.tokens[-1].special == "[SEP]"
    with pytest.raises(ValueError, match="empty"):
        external_network.trace("")
    with pytest.raises(ValueError, match="1 to 64"):
        external_network.run(torch.zeros(65, dtype=torch.long))


def test_an_embedding_is_the_sum_of_its_parts(external_network: ExternalNetwork) -> None:
    trace = external_network.run(IDS)
    parts = external_network.embedding_parts(trace, 3)
    assert_allclose(sum(parts.values()), trace.embedding[3], atol=1e-6)
    if external_network.label in ("Llama", "Gemma 3", "T5's encoder"):
        assert list(parts) == ["word"]
