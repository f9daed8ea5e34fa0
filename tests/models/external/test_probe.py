"""The probe's two texts differ, whatever a tokenizer makes of them."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch

from ffnviz.models.external.proof import probe_ids
from ffnviz.models.external.tokenizer import ExternalTokenizer


@pytest.mark.parametrize("ids", [(0, 0, 0), (7, 7, 7), (3, 5, 0), (3, 5, 5)])
def test_one_token_is_another_in_the_second_text(ids: tuple[int, ...]) -> None:
    tokens = [SimpleNamespace(id=each, special=False) for each in ids]
    read: Any = SimpleNamespace(encode=lambda *_: SimpleNamespace(tokens=tokens))
    texts, changed = probe_ids(cast(ExternalTokenizer, read), torch.device("cpu"))
    assert (texts[0] != texts[1]).nonzero().flatten().tolist() == [changed] == [2]
