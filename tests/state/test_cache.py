"""The one cache: bounded in bytes, computed once, safe among threads."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pytest
import torch
from torch import nn

from ffnviz.state.cache import Cache, bytes_held


@dataclass
class Growing:
    """A value with a part that is made later, as a trace has."""

    parts: list[np.ndarray] = field(default_factory=list)


def each(n_bytes: int) -> np.ndarray:
    return np.zeros(n_bytes, np.uint8)


def test_what_was_used_least_recently_goes_first() -> None:
    cache = Cache(most_bytes=3_000)
    for name in "abc":
        cache.get(name, lambda: each(1_000))
    cache.get("a", lambda: each(1))
    cache.get("d", lambda: each(1_000))
    assert len(cache) == 3
    made = []
    cache.get("a", lambda: made.append("a"))
    cache.get("b", lambda: made.append("b"))
    assert made == ["b"]


def test_it_holds_no_more_than_its_bound_but_for_a_single_value() -> None:
    cache = Cache(most_bytes=10_000)
    for number in range(30):
        cache.get(("usual", number), lambda: each(1_500))
        assert cache.held <= 10_000
    for number in range(30):
        cache.get(("large", number), lambda: each(20_000))
        cache.get(("usual", number // 2), lambda: each(1_500))
        assert 20_000 <= cache.held <= 30_000
    cache.clear()
    cache.get("first", lambda: each(9_000))
    cache.get("another", lambda: each(9_000))
    assert len(cache) == 1


def test_a_value_that_has_grown_counts_for_what_it_holds_now() -> None:
    cache = Cache(most_bytes=10_000)
    first = cache.get("first", Growing)
    cache.get("second", lambda: each(1_000))
    cache.get("first", Growing).parts.append(each(9_500))
    cache.get("third", lambda: each(1_000))
    assert cache.held <= 10_000
    assert cache.get("first", Growing) is not first


def test_a_value_larger_than_the_bound_pushes_no_other_out() -> None:
    cache, made = Cache(most_bytes=10_000), list[str]()

    def make(name: str) -> np.ndarray:
        made.append(name)
        return each(50_000 if name == "large" else 1_000)

    for name in ("small", "large", "small", "other", "large", "small", "other"):
        cache.get(name, partial(make, name))
    assert made == ["small", "large", "other"]


def test_what_is_asked_for_at_once_is_computed_once_and_keeps_nobody_else() -> None:
    cache, made = Cache(), []

    def compute() -> int:
        made.append(threading.get_ident())
        time.sleep(0.05)
        return 7

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: cache.get("x", compute), range(32))) == {7}
    assert len(made) == 1
    cache, inside, done = Cache(), threading.Event(), threading.Event()

    def slow() -> int:
        inside.set()
        assert done.wait(10)
        return 1

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(cache.get, "slow", slow)
        assert inside.wait(10)
        assert cache.get("quick", lambda: 2) == 2
        done.set()
        assert first.result() == 1
    cache = Cache()
    with pytest.raises(ZeroDivisionError):
        cache.get("x", lambda: 1 // 0)
    assert cache.get("x", lambda: 3) == 3


def test_bytes_are_counted_once_and_a_view_counts_all_it_keeps() -> None:
    array, tensor = each(100), torch.zeros(25)
    assert bytes_held((array, [array, {1: array}])) == 100
    assert bytes_held(array[:1]) == 100
    assert bytes_held((tensor, tensor[:1], tensor.view(5, 5))) == 100
    assert bytes_held(nn.Linear(4, 2)) == 4 * (8 + 2)
    assert bytes_held(Growing([each(5), each(6)])) == 11
    assert bytes_held(None) == bytes_held(lambda: 0) == 0
