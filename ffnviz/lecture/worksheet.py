"""A lecture as a worksheet on A4: its questions, and its sentences without their numbers."""

from collections.abc import Callable, Sequence
from html import escape
from string import Formatter

from ffnviz.lecture.facts import computed
from ffnviz.lecture.lecture import Lecture, Question, Scene
from ffnviz.pictures.wording import as_text
from ffnviz.state.run import Run
from ffnviz.state.run_factory import make_run
from ffnviz.state.state import Catalog

# The facts that a sentence is about; without them nobody could look up the rest.
GIVEN = frozenset({"sentence", "token", "block", "network", "partner", "neuron", "cost_tokens"})
NO_ANSWER = frozenset({"nothing that has a name", "nothing", "no token"})  # nobody could guess it
FEWEST_GAPS = 2  # a sentence with fewer is left out
TICK, TICKED = "☐", "☒"
STYLE = """
@page { size: A4; margin: 16mm 18mm }
body { font: 11.5pt/1.45 "Source Sans 3", "Helvetica Neue", Arial, sans-serif; color: #000;
  max-width: 174mm; margin: 0 auto; padding: 8mm 0 }
h1 { font-size: 17pt; line-height: 1.2; margin: 0 0 2mm }
h2 { font-size: 13pt; margin: 6mm 0 2mm }
p, ol { margin: 0 0 2mm } ol { padding-left: 10mm }
li { margin-bottom: 2.6mm; break-inside: avoid } li::marker { font-weight: 600 }
.name { display: flex; gap: 8mm; margin: 3mm 0 } .name span { flex: 1; border-bottom: 1px solid }
.gap { display: inline-block; min-width: 20mm; border-bottom: 1px solid #000 }
.options { display: flex; flex-wrap: wrap; gap: 0 7mm }
.new { break-before: page } b { font-weight: 700 }
@media print { body { padding: 0; max-width: none } }
"""

Runs = Callable[[Scene], Run]


def worksheet_html(lecture: Lecture, catalog: Catalog, device: str = "cpu") -> str:
    """A page to print: the worksheet and, on separate sheets, its solutions."""

    def run(scene: Scene) -> Run:
        return make_run(scene.state, device, catalog.networks)

    title = escape(lecture.title)
    sheets = [_sheet(lecture, run, solved) for solved in (False, True)]
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title} · worksheet'
        f"</title><style>{STYLE}</style></head><body>\n"
        f'<section><h1>{title}</h1><p class="name">Name <span></span> Date <span></span></p>'
        f"{sheets[0]}</section>\n"
        f'<section class="new"><h1>{title}: solutions</h1>{sheets[1]}</section></body></html>\n'
    )


def _sheet(lecture: Lecture, run: Runs, solved: bool) -> str:
    questions: list[str] = []
    sentences: list[str] = []
    out: list[int] = []  # the scenes whose sentence is not asked
    for number, scene in enumerate(lecture.scenes, 1):
        if scene.question is not None:
            questions.append(_question(scene.question, run(scene), solved))
        names = [name for _, name, _, _ in Formatter().parse(scene.say) if name is not None]
        if sum(name not in GIVEN for name in names) >= FEWEST_GAPS:
            sentences.append(_sentence(scene, run(scene), solved))
        else:
            out.append(number)
    tick = "Tick what you expect before the scene shows it."
    look = "Each question is answered in a scene of the lecture. Its page shows the numbers."
    scenes = f"scene{'s' * (len(out) > 1)} {', '.join(map(str, out))}"
    left_out = f"Left out, with fewer than {FEWEST_GAPS} computed numbers to ask for: {scenes}."
    return (
        _numbered("Guess first", "" if solved else tick, questions, 1)
        + _numbered("Look it up", "" if solved else look, sentences, len(questions) + 1)
        + (f"<p>{left_out}</p>" if solved and out else "")  # for the author
    )


def _numbered(title: str, how: str, items: Sequence[str], first: int) -> str:
    """A list that goes on counting from the one before."""
    if not items:
        return ""
    listed = "".join(f"<li>{item}</li>" for item in items)
    said = f"<p>{how}</p>" if how else ""
    return f'<h2>{title}</h2>{said}<ol start="{first}">{listed}</ol>'


def _question(question: Question, run: Run, solved: bool) -> str:
    options = "".join(
        f"<span>{TICKED if solved and place == question.answer else TICK} {escape(option)}</span>"
        for place, option in enumerate(question.options)
    )
    return f'{escape(_words(question.ask, run))}<span class="options">{options}</span>'


def _sentence(scene: Scene, run: Run, solved: bool) -> str:
    """A scene's sentence, with a gap or a bold number in place of each computed one."""
    end = "" if scene.title.endswith(("?", "!", ".", "…")) else "."
    pieces = [f"<b>{escape(scene.title)}{end}</b> "]
    for text, name, _, _ in Formatter().parse(scene.say):
        pieces.append(escape(text))
        if name is not None:
            fact = escape(_words(f"{{{name}}}", run))
            gap = f"<b>{fact}</b>" if solved else '<span class="gap">&nbsp;</span>'
            pieces.append(fact if name in GIVEN or fact in NO_ANSWER else gap)
    return "".join(pieces)


def _words(text: str, run: Run) -> str:
    return as_text(computed(text, run))
