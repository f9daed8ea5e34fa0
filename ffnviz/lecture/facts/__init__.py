"""The facts that may stand in braces in a scene's words, computed from what is shown."""

from importlib import import_module
from pkgutil import iter_modules
from string import Formatter

from ffnviz.lecture.facts.registry import FACTS, MEANINGS
from ffnviz.models.network import NotForThisNetwork
from ffnviz.pictures.wording import Number, Sentence, Typed, number
from ffnviz.state.run import Run

__all__ = ["FACTS", "MEANINGS", "computed"]
for file in iter_modules(__path__):
    import_module(f"{__name__}.{file.name}")  # adds its facts


def computed(words: str, run: Run) -> Sentence:
    """A scene's words with each {name} computed; a dash if this network has no such fact."""
    sentence: Sentence = []
    for text, name, _, _ in Formatter().parse(words):
        if text:
            sentence.append(text)
        if name is not None:
            sentence.append(_fact(name, run))
    return sentence


def _fact(name: str, run: Run) -> Number | Typed:
    state = run.state
    key = ("fact", name, state.block, run.token, state.neuron,
           run.partner.card.id if run.partner else None)  # fmt: skip
    try:
        value = run.subject.per_sentence(key, lambda: FACTS[name](run))
    except NotForThisNetwork:
        value = "–"
    if isinstance(value, int):
        value = f"{value:,}"
    return number(value) if isinstance(value, str) else value
