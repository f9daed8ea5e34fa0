"""Many sentences together: against each sentence on its own."""

import torch

from ffnviz.app.lecture.class_sentences import NEURONS, read_pool
from ffnviz.models.encoder.model import load

TEXTS = ("The old dog slept.", "It cost forty [MASK].", "She opened the door.", "forty")


def test_shares_and_neurons_are_those_of_each_sentence_alone() -> None:
    told: list[float] = []
    for name, threshold in (("relu", 0.0), ("gelu", 0.1)):
        model = load(name)
        pool = read_pool(model, TEXTS, 1, told.append)
        hidden = [model.trace(text).blocks[1].ffn.hidden for text in TEXTS]
        shares = [float((h.abs() > threshold).double().mean()) for h in hidden]
        assert torch.allclose(torch.tensor(pool.shares), torch.tensor(shares).double(), atol=1e-6)
        fired = torch.stack([(h.abs() > threshold).any(dim=0) for h in hidden]).sum(dim=0)
        assert [each.sentences for each in pool.shared] == fired.topk(NEURONS).values.tolist()
        for text, guess in zip(TEXTS, pool.guesses, strict=True):
            if "[MASK]" not in text:
                assert guess is None
                continue
            trace = model.trace(text)
            mask = next(at for at, each in enumerate(trace.tokens) if each.text.strip() == "[MASK]")
            words = torch.softmax(trace.logits[mask].double(), dim=-1)
            assert guess is not None
            assert guess[0] == model.tokenizer.label(int(words.argmax()))
            assert abs(guess[1] - float(words.max())) < 1e-4
        for each in pool.shared:
            largest = [float(h[:, each.neuron].abs().max()) for h in hidden]
            assert abs(each.mean - sum(largest) / len(TEXTS)) < 1e-4
            assert fired[each.neuron] == each.sentences
            place, token = each.strongest[0]
            furthest = max(h[:, each.neuron].abs().max() for h in hidden)
            assert hidden[place][token, each.neuron].abs() == furthest
    assert told[-1] == 1.0
