"""A proved network behind the protocol: its hooks, edits, batches, threads, views and memory."""

import pickle
import threading

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
from tests.export.opened import contents
from tests.models.external.by_hand import logits_of
from tests.models.external.families import FAMILIES, KINDS, build, two_texts
from tests.models.external.folders import counted, network_of

IDS = two_texts()[0].clone()
TEXTS = ["the cat sat on the mat", "she", "it sat"]


def test_hooks_leave_the_result_as_it_is_to_the_bit(network: ExternalNetwork) -> None:
    protocol: Network = network
    assert protocol.sizes.n_blocks == len(network.trace("the cat").blocks)
    bare = logits_of(build(FAMILIES[network.label]), IDS[None])
    assert torch.equal(logits_of(network.model, IDS[None]), bare)
    recording = Recording(IDS[None], hold=range(9), to_the_end=True)
    returned = record(network.model, recording)
    assert torch.equal(returned.logits if hasattr(returned, "logits") else returned[0], bare)


def fails(_: Tensor) -> None:
    raise ZeroDivisionError


def test_hidden_is_shown_and_nothing_behind_it_runs(one_of_a_kind: ExternalNetwork) -> None:
    network, ids = one_of_a_kind, two_texts()
    run, n_blocks = network.run(ids), network.sizes.n_blocks
    for wanted in (range(n_blocks), [0], [n_blocks - 1]):
        shown: list[Tensor] = []
        with counted(network) as ran:
            network.show_hidden(ids, wanted, lambda hidden: shown.append(hidden.clone()))  # noqa: B023
        for number, hidden in zip(wanted, shown, strict=True):
            assert torch.equal(hidden, run.blocks[number].ffn.hidden)
        assert sum(n for name, n in ran.items() if name.startswith("block")) == max(wanted) + 1
    with pytest.raises(ValueError, match="there must be 1 to"):
        network.show_hidden(ids[:, :0], [0], print)
    with pytest.raises(ZeroDivisionError):
        network.show_hidden(ids, [0], fails)
    assert torch.equal(network.run(ids).final, run.final), "a failure leaves nothing behind"


def test_the_views_are_the_equations(network: ExternalNetwork) -> None:
    trace = network.run(IDS)
    for number, block in enumerate(trace.blocks):
        view, ffn = network.ffn(number), block.ffn
        x = ffn.input.double()
        keys = x @ view.keys.double().mT
        pre = keys if view.key_bias is None else keys + view.key_bias.double()
        assert_allclose(ffn.pre_activation, pre, atol=1e-5)
        hidden = view.phi.function(pre)
        assert (view.gated_value is not None) == network.card.gated
        if view.gated_value is not None:
            value = x @ view.gated_value.double().mT
            assert isinstance(ffn, GatedFeedForwardRecord)
            assert_allclose(ffn.value, value, atol=1e-5)
            hidden = hidden * value
        assert_allclose(ffn.hidden, hidden, atol=1e-5)
        assert_allclose(ffn.output, view.write(ffn.hidden), atol=1e-5)
        assert_allclose(view.neuron(ffn.input, 7), ffn.hidden[:, 7], atol=1e-5)
        if network.card.pre_norm:
            assert_allclose(block.output, block.middle + ffn.output, atol=1e-5)
        if view.norm is not None:
            parallel = network.proof.blocks[number].stream.kind == "parallel"
            read = block.input if parallel else block.middle
            assert_allclose(view.norm(read), ffn.input, atol=1e-4)
    parts = network.embedding_parts(trace, 3)
    assert_allclose(sum(parts.values()), trace.embedding[3], atol=1e-6)
    if network.label in ("Llama", "Gemma 3", "T5's encoder"):
        assert list(parts) == ["word"]


def test_logits_are_products_with_word_vectors(network: ExternalNetwork) -> None:
    trace, head = network.run(IDS), network.head
    if head is None:
        with pytest.raises(NotForThisNetwork, match="no word head"):
            _ = trace.logits
        return
    assert_allclose(network.logits(trace.final[2]), trace.logits[2], atol=1e-5)
    if head.words is not None:
        read = trace.final if head.norm is None else head.norm(trace.final)
        products = read @ head.words.vectors.mT
        told = products if head.bias is None else products + head.bias
        assert_allclose(told, trace.logits, atol=1e-4)


def test_each_of_many_texts_is_what_it_is_alone(network: ExternalNetwork) -> None:
    assert network._ignores_padding
    edits = [Edit(0, [3, 9], scale=0.0), Edit(1, add=torch.ones(32), tokens=[0], at="output")]
    in_full = network.label in KINDS  # of the others the streams alone, without edits
    for how in ([], edits) if in_full else ([],):
        for text, trace in zip(TEXTS, network.traces(TEXTS, how), strict=True):
            alone = network.trace(text, how)
            assert trace.tokens == alone.tokens
            assert_allclose(trace.embedding, alone.embedding, atol=1e-5)
            assert_allclose(trace.final, alone.final, rtol=1e-4, atol=1e-4)
            for one, other in zip(trace.blocks, alone.blocks, strict=True):
                assert_allclose(one.middle, other.middle, atol=1e-4)
                if in_full:
                    assert_allclose(one.ffn.hidden, other.ffn.hidden, atol=1e-4)
                    assert_allclose(one.ffn.output, other.ffn.output, atol=1e-4)
            if network.head is not None:
                assert_allclose(trace.logits, alone.logits, atol=1e-4)
            # What one block writes the next one reads: it is kept once.
            assert trace.blocks[1].input is trace.blocks[0].output
    both, alone_too = network.run(two_texts()), network.run(IDS)
    for two, first in zip(both.blocks, alone_too.blocks, strict=True):
        assert_allclose(two.output[0], first.output, atol=1e-5)
        assert_allclose(two.ffn.hidden[0], first.ffn.hidden, atol=1e-5)
    walked = list(network.walk(two_texts()))
    assert_allclose(walked[-1].output, both.blocks[-1].output)


def test_without_padding_texts_of_one_length_go_together(monkeypatch: pytest.MonkeyPatch) -> None:
    network = network_of("BERT")
    monkeypatch.setitem(network.__dict__, "_ignores_padding", False)
    same = ["the cat sat", "the mat sat", *TEXTS]
    for text, trace in zip(same, network.traces(same), strict=True):
        assert_allclose(trace.final, network.trace(text).final, atol=1e-5)
    whole = network.model.forward
    monkeypatch.setattr(network.model, "forward", lambda input_ids: whole(input_ids=input_ids))
    monkeypatch.delitem(network.__dict__, "_ignores_padding")
    assert not network._ignores_padding  # its code takes no mask
    monkeypatch.setattr(network.model, "forward", lambda input_ids, **_: whole(input_ids=input_ids))
    monkeypatch.delitem(network.__dict__, "_ignores_padding")
    assert not network._ignores_padding  # its code takes one and passes over it


@pytest.mark.parametrize("family", ["GPT-2", "Falcon", "ALBERT"])
def test_threads_do_not_mix(family: str) -> None:
    network, edits = network_of(family), [Edit(1, [2, 30, 7], scale=0.0)]
    texts = [torch.randint(5, 90, (n,), generator=torch.Generator().manual_seed(n))
             for n in (5, 9, 13)]  # fmt: skip

    def read(ids: Tensor) -> tuple[Tensor, ...]:
        run = network.run(ids)
        return run.final, network.run(ids, edits).final, run.logits

    expected = [read(ids) for ids in texts]
    equal: list[bool] = []

    def reader(number: int) -> None:
        equal.extend(all(map(torch.equal, read(texts[number]), expected[number])) for _ in range(8))

    threads = [threading.Thread(target=reader, args=(n,)) for n in (0, 1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert equal == [True] * 24


def test_a_text_that_is_too_long_says_so() -> None:
    network = network_of("BERT")
    trace = network.trace("the cat " * 100)
    assert len(trace.tokens) == network.sizes.max_tokens == 64
    assert trace.n_left_out == 202 - 64
    assert trace.tokens[-1].special == "[SEP]"
    with pytest.raises(ValueError, match="empty"):
        network.trace("")
    with pytest.raises(ValueError, match="1 to 64"):
        network.run(torch.zeros(65, dtype=torch.long))


def test_a_trace_is_shown_whole_and_pickled(one_of_a_kind: ExternalNetwork) -> None:
    trace, card = one_of_a_kind.trace("The cat sat."), one_of_a_kind.card
    header, arrays = contents(ffnviz.show(trace).html)
    assert [each["id"] for each in header["networks"]] == [card.id]
    assert header["networks"][0]["n_blocks"] == len(trace.blocks)
    for block, each in enumerate(trace.blocks):
        hidden = arrays[f"{card.id} {block} hidden"]
        assert_allclose(hidden, each.ffn.hidden.float(), rtol=1e-4, atol=1e-5)
    predictions = [each for view in header["views"].values() for each in view["prediction"]]
    titles = {panel["title"] for each in predictions if each for panel in each["panels"]}
    assert ("with the FFN" in titles) == card.has_word_head

    fresh = one_of_a_kind.trace("the cat")
    computed = fresh.blocks[1].ffn.hidden
    loaded = pickle.loads(pickle.dumps(fresh))
    assert torch.equal(loaded.blocks[1].ffn.hidden, computed)
    with pytest.raises(RuntimeError, match="pickled without its network"):
        _ = loaded.logits
