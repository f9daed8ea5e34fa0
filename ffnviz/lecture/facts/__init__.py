"""The facts that may stand in braces in a scene's words, computed from what is shown."""

from importlib import import_module
from pkgutil import iter_modules
from string import Formatter

from ffnviz.lecture.facts.registry import FACTS, MEANINGS
from ffnviz.models.network import NotForThisNetwork
from ffnviz.pictures.wording import Sentence, is_marked, number, plain
from ffnviz.state.run import Run

__all__ = ["FACTS", "MEANINGS", "computed"]
for file in iter_modules(__path__):
    import_module(f"{__name__}.{file.name}")  # adds its facts


def computed(words: str, run: Run) -> Sentence:
    """A scene's words with each {name} computed; a dash if this network has no such fact."""
    return "".join(
        plain(text) + ("" if name is None else _fact(name, run))
        for text, name, _, _ in Formatter().parse(words)
    )


def _fact(name: str, run: Run) -> Sentence:
    state, beside = run.state, run.partner.card.id if run.partner else None
    key = ("fact", name, state.block, run.token, state.neuron, beside)
    try:
        value = run.subject.per_sentence(key, lambda: FACTS[name](run))
    except NotForThisNetwork:
        value = "–"
    text = f"{value:,}" if isinstance(value, int) else value
    return text if is_marked(text) else number(text)
