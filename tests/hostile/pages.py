"""Sentences and links through the pages, without a browser, and what went wrong with them."""

import random
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from streamlit.testing.v1 import AppTest

from ffnviz.parts import PAGES
from ffnviz.parts.part import Page, Part
from ffnviz.state.settings import SURROGATE
from ffnviz.state.state import readable
from tests.hostile.texts import MARKUP, sentence
from tests.parts.visits import opened

HUNG_S = 5.0
TURN_EVERY = 40  # sentences
ANYTHING = ("", "0", "-1", "1", "2", "999999999999999999", "1e308", "-1e308", "nan", "inf", "0x10",
            "٣", "1_000", "{{", "[[[[", '[["relu",2,5,"x"]]', "null", "\x00", "a" * 3_000, "%00",
            "relu", "gelu", "relu-1", "gelu-99999", "../relu", "__class__")  # fmt: skip
SHARED = ("text", "twin", "block", "token", "neuron", "order", "partner", "part", "nonsense")


@dataclass
class Found:
    """All faults of a trial, and how long the slowest input took."""

    tried: int = 0  # inputs
    faults: list[str] = field(default_factory=list)
    slowest: tuple[float, str] = (0.0, "")  # seconds, and the input

    def fault(self, of: object, what: str) -> None:
        """Note what an input did."""
        shown = repr(of)
        self.faults.append(f"{what}: {shown if len(shown) <= 160 else f'{shown[:160]}…'}")

    @contextmanager
    def timed(self, of: object) -> Iterator[None]:
        """One input, which must be answered in time and raise nothing."""
        self.tried += 1
        began = time.process_time()
        try:
            yield
        except Exception as error:
            self.fault(of, f"raised {type(error).__name__} ({error})")
        took = time.process_time() - began
        self.slowest = max(self.slowest, (took, repr(of)))
        if took > HUNG_S:
            self.fault(of, f"took {took:.1f} s")


def try_sentences(n: int, seed: int) -> Found:
    """Type them one after the other, on one part after the other."""
    rng, found = random.Random(seed), Found()
    parts = [(page, part) for page in PAGES for part in page.parts]
    app: AppTest | None = None
    for number in range(n):
        text = SURROGATE.sub("\ufffd", sentence(rng))  # as a browser sends it
        if app is None or number % TURN_EVERY == 0:
            page, part = rng.choice(parts)
            app = opened(page.name, part=part.name)
        with found.timed((page.name, part.name, text)):
            app.text_input(key="text").set_value(text).run()
        faults_of(app, text, (page.name, part.name, text), found)
        if app.exception:
            app = None
    return found


def try_links(n: int, seed: int) -> Found:
    """Open pages at addresses that anybody could have written."""
    rng, found = random.Random(seed), Found()
    for _ in range(n):
        page = rng.choice(PAGES)
        part = rng.choice(page.parts)
        # No URL can hold a lone surrogate.
        query = {name: SURROGATE.sub("?", text) for name, text in link(rng, page, part).items()}
        app: AppTest | None = None
        with found.timed((page.name, query)):
            app = opened(page.name, **query)
        if app is not None:
            faults_of(app, None, (page.name, query), found)
    return found


def link(rng: random.Random, page: Page, part: Part) -> dict[str, str]:
    """The parameters of an address of that part, some of them legal."""
    query = {"part": part.name}
    for setting in part.settings:
        if rng.random() < 0.8:
            query[rng.choice(setting.names)] = value(rng, setting.options)
    for name in SHARED:
        if rng.random() < 0.3:
            query[name] = value(rng, ())
    if rng.random() < 0.8:
        query["text"] = sentence(rng)
    if rng.random() < 0.3:
        for other in [setting for each in page.parts for setting in each.settings][:1]:
            query[other.name] = value(rng, other.options)
    return query


def value(rng: random.Random, options: Iterable[Any]) -> str:
    """What stands behind a “=”."""
    legal = [str(option) for option in options]
    kind = rng.random()
    if legal and kind < 0.5:
        return rng.choice(legal)
    if kind < 0.7:
        return str(rng.choice([rng.randrange(-5, 3_000), rng.uniform(-2, 200)]))
    return rng.choice(ANYTHING) if kind < 0.95 else sentence(rng)


def faults_of(app: AppTest, text: str | None, setup: object, found: Found) -> None:
    """What is wrong with a page."""
    for exception in app.exception:
        found.fault(setup, f"showed a stack trace ({exception.message})")
    if text is not None and not app.exception:
        kept = app.text_input(key="text").value
        if readable(kept or "") != readable(text):
            found.fault(setup, f"lost what was typed, and has {kept!r}")
    for element in app.main:
        body = str(getattr(element.proto, "body", "")) if element.type in SHOWN else ""
        for markup in MARKUP:
            if markup in body:
                found.fault(setup, f"took typed text for markup, in {element.type}")


SHOWN = ("markdown", "caption", "html", "info", "warning", "error", "success", "title", "header")
