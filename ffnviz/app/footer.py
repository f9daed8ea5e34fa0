"""The footer of every part: what comes next, and what to expect of the network."""

from ffnviz.analysis.needs import ours
from ffnviz.analysis.sparsity.awake import record_of
from ffnviz.parts import PAGES
from ffnviz.parts.part import Page, Part
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.page import footer_cell
from ffnviz.state.actions import OpenPage
from ffnviz.state.run import Run


def following(page: Page, part: Part, run: Run) -> tuple[Page, Part] | None:
    """The next part of a first course that the network can show, here or later; None at the end."""
    parts = [(of_page, each) for of_page in PAGES for each in of_page.parts]
    after = parts[parts.index((page, part)) + 1 :]
    shown = (pair for pair in after if not pair[1].further and not pair[1].missing(run))
    return next(shown, None)


def what_it_knows(run: Run) -> list[str]:
    """What to expect of the network, by what it is and what it was trained on."""
    if not run.card.ours or run.card.provenance is None or run.card.provenance.record is None:
        return []
    count = sum(weight.numel() for weight in ours(run.model).encoder.parameters())
    record = record_of(run.model)
    besides = {"articles": record.articles, "single sentences of our time": record.sentences}
    also = "".join(f", {text}" for text, read in besides.items() if read)
    writes = "often writes" if record.sentences else "writes"
    return [
        f"The network, {run.card.label}, is small: {count / 1e6:.1f} million weights. A chatbot "
        "has thousands of times as many. It has one task: to guess hidden words. It answers no "
        "questions and looks nothing up.",
        f"It learnt English from old novels and other old books{also}: "
        f"{record.tokens[-1] / 1e6:.1f} million tokens in all. So it knows grammar better than "
        f"facts, and it {writes} as people wrote a hundred years ago.",
        "Words of other languages, and signs that are rare in these books, it reads piece by "
        "piece; other scripts byte by byte. It shows how it computes with them, but it "
        "understands hardly any of it.",
    ]


def footer(page: Page, part: Part, run: Run) -> Cell:
    """The footer of a part."""
    coming = following(page, part, run)
    next_page, next_part = coming or (PAGES[0], PAGES[0].parts[0])
    if coming is None:
        label = f"Back to {next_page.title}"
    elif next_page is page:
        label = f"Next: {next_part.title}"
    else:
        part_title = f" · {next_part.title}" if len(next_page.parts) > 1 else ""
        label = f"Next: {next_page.title}{part_title}"
    return footer_cell(
        label,
        run.subject.per_network("what it knows", lambda: what_it_knows(run)),
        key="footer",
        on_next=lambda: OpenPage(next_page.name, next_part.name),
    )
