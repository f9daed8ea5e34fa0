"""One token, one matrix: the FFN's Jacobian J, along the way from one token to another."""

from functools import partial

from ffnviz.analysis.lab.local_map import Place, Way, look_at, terms_of, way
from ffnviz.figures.lab.curves import lines
from ffnviz.figures.lab.local_map import changes, switches
from ffnviz.figures.layout import axis
from ffnviz.figures.wording import Sentence, number, percent, quoted
from ffnviz.models.network import NotForThisNetwork
from ffnviz.parts.neuron_shown import open_neuron
from ffnviz.parts.sheet import Control, Sheet, row
from ffnviz.parts.token_choice import token_choice, token_setting
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.text import text_cell
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, number_setting

SHARE = number_setting("way_share", 0.5, 0.0, 1.0).with_control(
    "share of the way to it", [stop / 40 for stop in range(41)], "{:.1%}".format
)
OTHER = token_setting("way_to")
SETTINGS = (OTHER, SHARE)


def sheet(run: Run, values: Values) -> Sheet:
    """Which neurons switch, how J changes, and its rank."""
    other, share, block = other_token(run, values), values[SHARE], run.state.block
    inputs = run.trace.blocks[block].ffn.input
    start = inputs[run.token]
    end = 0 * start if other is None else inputs[other]
    setup = (block, run.token, other)
    try:
        walked = run.subject.per_sentence(
            ("way", *setup), lambda: way(terms_of(run.model.ffn(block)), start, end)
        )
    except NotForThisNetwork as error:
        return Sheet([row(text_cell("too-large", str(error), tone="info"))], [])
    place = run.subject.per_sentence(
        ("place on the way", *setup, share),
        lambda: look_at(terms_of(run.model.ffn(block)), start, end, share),
    )
    ends = (run.labels[run.token], "0" if other is None else run.labels[other])
    pictures = [
        the_switches(run, walked, ends, share),
        the_changes(run, walked, place, ends, share),
        the_rank(run, place, share),
    ]
    controls: list[Control] = [SHARE]
    if other is not None:
        others = [at for at in range(len(run.labels)) if at != run.token]
        controls.append(token_choice("To token", OTHER, run.labels, others, other))
    return Sheet([row(*pictures, widths=(1, 1.2, 1))], controls)


def other_token(run: Run, values: Values) -> int | None:
    """The token at the other end, by default the furthest; None if the sentence has no other."""
    inputs = run.trace.blocks[run.state.block].ffn.input
    wanted = values[OTHER] - 1
    if len(inputs) < 2:
        return None
    if 0 <= wanted < len(inputs) and wanted != run.token:
        return wanted
    return int((inputs - inputs[run.token]).norm(dim=-1).argmax())


def the_switches(run: Run, walked: Way, ends: tuple[str, str], share: float) -> Cell:
    """The neurons that change J most."""
    d_ff = run.model.sizes.d_ff
    sentence: Sentence = [
        "From ", quoted(ends[0]), " to ", quoted(ends[1]), " ",
        number(f"{walked.switched:,} of {d_ff:,} neurons"), " switch"
        + (": each one adds its kᵀv to J, or takes it away."
           if run.card.phi.exact_zeros else ", but none at once: φ′ slides from 0 to 1."),
    ]  # fmt: skip
    colour = f"@{run.card.colour}"
    return chart_cell(
        Head(sentence, "local-switches", run.card.colour),
        switches(walked.shares, walked.neurons, walked.slopes, ends, share, colour),
        "The slope φ′ of the neurons that change the FFN's matrix most, from token to token.",
        height=560,
        on_choose=partial(open_neuron, run),
    )


def the_changes(run: Run, walked: Way, place: Place, ends: tuple[str, str], share: float) -> Cell:
    """How far J changes over the whole way, and how far around this place it holds."""
    moved = float(walked.distance[round(share * (len(walked.shares) - 1))])
    sentence: Sentence = [
        f"After {percent(share)} of the way J is ", number(percent(moved)),
        " from that of ", quoted(ends[0]), ".",
    ]  # fmt: skip
    low, high = place.piece
    sentence += [
        f" Until the next neuron switches, for {100 * (high - low):.2g}% of the way, the FFN is "
        "this one matrix and a bias."
        if run.card.phi.exact_zeros and not run.card.gated
        else " Nearby it changes without a jump."
    ]
    return chart_cell(
        Head(sentence, "local-changes", run.card.colour),
        changes((walked.shares, walked.distance), (place.shares, place.off), ends, share,
                f"@{run.card.colour}"),
        "How far the FFN's matrix is from the first token's, and how far it is all of the FFN.",
        height=560,
    )  # fmt: skip


def the_rank(run: Run, place: Place, share: float) -> Cell:
    """The singular values of J."""
    n, values = len(place.singular), place.singular
    neurons = "1 neuron has" if place.active == 1 else f"{place.active:,} neurons have"
    sentence: Sentence = [
        f"At {percent(share)} of the way J has ", number(f"rank {place.rank:,} of {n:,}"),
        f": {neurons} a slope φ′ that is not 0.",
    ]  # fmt: skip
    shown = values > values[0] * 1e-12
    return chart_cell(
        Head(sentence, "local-rank", run.card.colour),
        lines(
            1 + shown.nonzero()[0], {"J": (values[shown], f"@{run.card.colour}", "solid")},
            axis("number", range=[0, n + 1]),
            axis("singular value", type="log", exponentformat="power", dtick=1),
            showlegend=False, margin={"l": 70, "r": 16, "t": 10, "b": 56},
        ),
        "The singular values of the FFN's matrix at this place.",
        height=560,
    )  # fmt: skip
