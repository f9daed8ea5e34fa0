"""One of every picture, from small random numbers: what a component is called with."""

from collections.abc import Callable
from functools import partial

import numpy as np

from ffnviz.app.mounting import mount_cell
from ffnviz.app.rail import rail_cell
from ffnviz.parts.sheet import Button, Control, Switch
from ffnviz.pictures import exercises, lecture, page, text, tokens, votes
from ffnviz.pictures.activation_map import ActivationMap, maps_cell
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.block_picture import BlockActions, BlockView, Station, Strip, block_cell
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.ffn_picture import Stage, ffn_cell
from ffnviz.pictures.plot import axis
from ffnviz.pictures.plot import figure as plotly_figure
from ffnviz.pictures.waiting import waiting_cell
from ffnviz.pictures.wording import number, typed
from ffnviz.state.settings import Values, choice_setting, number_setting, text_setting

D_MODEL, D_FF = 64, 256
HEAD = Head(f"A {number('7%')}{typed(' <b>typed</b>')}", "ffn", "relu")


def never(*_: object) -> None:
    """Nobody clicks on the server's side here."""


def texts(n_tokens: int) -> list[str]:
    return [f"w{token}" for token in range(n_tokens)]


def hidden(seed: int, n_tokens: int = 5, d_ff: int = D_FF) -> np.ndarray:
    values = np.random.default_rng(seed).normal(size=(n_tokens, d_ff)).astype(np.float32)
    return np.maximum(values, 0)


def show_map(
    seed: int, n_tokens: int = 5, d_ff: int = D_FF, names: tuple[str, ...] = ("relu", "gelu")
) -> None:
    order = np.arange(d_ff)[::-1]
    shown = [
        ActivationMap(n, n, n, "x", hidden(seed, n_tokens, d_ff), order, texts(n_tokens), 1)
        for n in names
    ]
    cell = maps_cell(HEAD, shown, (names[0], 3), ["token", "index"], "index", "map", never, never,
                     never)  # fmt: skip
    mount_cell(cell, f"map {seed}")


def show_ffn(seed: int, d_ff: int = D_FF, neuron: int | None = 3) -> None:
    rng = np.random.default_rng(seed)
    x, h = rng.normal(size=D_MODEL), rng.normal(size=d_ff)
    stages = [
        Stage("input", "input x", f"({D_MODEL})", "norm 1", x, False, "x"),
        Stage("pre", "before φ", f"({d_ff})", "some", h, True, "h"),
        Stage("hidden", "after φ", f"({d_ff})", "fewer", np.maximum(h, 0), True, "h"),
    ]
    steps = [("W₁", "expand"), ("φ", "ReLU")]
    order = np.arange(d_ff)[::-1]
    mount_cell(
        ffn_cell(HEAD, stages, steps, order, neuron, (0, ["w1"]), "ffn", never), f"ffn {seed}"
    )


def figure(seed: int, n_points: int = 6) -> dict[str, object]:
    y = np.random.default_rng(seed).uniform(1, 9, size=(2, n_points)).round(1)
    y[:, 0] = 2.5, 7.5
    names = axis("", tickvals=list(range(n_points)), ticktext=texts(n_points))
    traces = [
        {"type": "scatter", "mode": "lines+markers", "name": name, "x": np.arange(n_points),
         "y": y[place], "customdata": 10 * place + np.arange(n_points),
         "marker": {"color": f"@{name}"},
         "hovertemplate": "%{y:.1f}%<extra>%{fullData.name}</extra>"}
        for place, name in enumerate(("relu", "gelu"))
    ]  # fmt: skip
    return plotly_figure(traces, names, axis("share"))


def show_chart(seed: int, figure: dict[str, object] | None = None) -> None:
    drawn = figure or globals()["figure"](seed)
    cell = chart_cell(HEAD, drawn, "Shares of two twins.", "chart", on_choose=never)
    mount_cell(cell, f"chart {seed}")


def show_chips(seed: int, n_tokens: int = 5) -> None:
    shares = np.random.default_rng(seed).uniform(size=n_tokens).tolist()
    words = texts(n_tokens)
    chips = tokens.Chips(head=HEAD, accent="relu", texts=words, shares=shares, chosen=1,
                         what="awake", hides=words, on_choose=never, on_hide=never)  # fmt: skip
    mount_cell(chips.to_cell("chips"), f"chips {seed}")


def show_card(seed: int, n_tokens: int = 5) -> None:
    values = np.random.default_rng(seed).normal(size=n_tokens)
    card = tokens.NeuronCard(head=HEAD, title=f"Neuron {seed}", texts=texts(n_tokens), token=1,
                      values=values.tolist(), words=["up", "down"], on_meet=never)  # fmt: skip
    mount_cell(card.to_cell("card"), f"card {seed}")


def show_bars(seed: int) -> None:
    shares = np.sort(np.random.default_rng(seed).dirichlet(np.ones(4)))[::-1]
    panels = [Bars(title, texts(4), shares, "relu") for title in ("with", "without")]
    mount_cell(bars_cell(HEAD, panels, "bars"), f"bars {seed}")


def show_passages(seed: int) -> None:
    shown = [text.Passage(f"{seed}.{row}", "before ", "at", " after") for row in range(3)]
    mount_cell(text.passages_cell(HEAD, shown, "passages"), f"passages {seed}")


def show_verdicts(seed: int) -> None:
    claim = votes.Claim("It holds", "holds", "✓", "holds", "exactly 0", f"{seed}", "0 ≤ 0")
    groups = [("Linear?", [claim, claim]), ("Fit", [claim])]
    mount_cell(votes.verdicts_cell(HEAD, groups, "verdicts", on_choose=never), f"verdicts {seed}")


def show_handles(seed: int) -> None:
    x = np.linspace(-2.0, 12.0, 29)
    curve = (x, 5 + 4 * np.sin(x + seed))
    corners = [(0, 5), (4, 1 + seed % 8), (10, 5)]
    cell = exercises.handles_cell(
        HEAD, corners, 11, curve, (x[4:25:5], x[4:25:5]), "A line", "h", never
    )
    mount_cell(cell, f"handles {seed}")


def show_points(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = exercises.PointEditor(
        head=HEAD, points=[(3, 3, True), (9, 12, False)], side=16, most=3,
        classes=("circles", "squares"), score=rng.normal(size=(5, 5)),
        lines=rng.uniform(-1, 1, size=(4, 4)), label="Points", on_change=never,
    )  # fmt: skip
    mount_cell(points.to_cell("points"), f"points {seed}")


def show_bar(seed: int) -> None:
    entries, outcome = [("add", "Add this view")], f"Added: {seed}."
    cell = page.bar_cell(
        "Sparsity", f"Part {seed}", "The cat sat.", ["ReLU", "block 2"], "bar",
        None, entries, never, outcome,
    )  # fmt: skip
    mount_cell(cell)


def show_story(seed: int) -> None:
    question = lecture.Question(f"How many of {number('8')}?", ["one", "two"], 1)
    cell = lecture.story_cell(
        lecture.StoryScene("A lecture", seed % 3, ["First", "Second", "Third"], [0, 1, 2], "",
                   f"It is {seed}.", "", question, "Notes.", "Third", 8, presenting=False,
                   exploring=False, strayed=False, accent="relu"),
        "story", never, never,
    )  # fmt: skip
    mount_cell(cell)


def show_sentences(seed: int) -> None:
    guesses = [
        tokens.Guess("ReLU", "relu", "door", 0.27),
        tokens.Guess("GELU", "gelu", "gate", 0.021),
    ]
    lines = [tokens.Line(1, f"<b>The</b> [MASK] {seed}.", guesses=guesses),
             tokens.Line(2, "It rained.", (), "No guess")]  # fmt: skip
    cell = tokens.sentences_cell(HEAD, lines, "sentences", never, never)
    mount_cell(cell, f"sentences {seed}")


def show_scene_list(seed: int) -> None:
    scenes = [
        lecture.ListedScene(f"Scene {n} of {seed}", "Sparsity", "It rained.", "") for n in range(3)
    ]
    mount_cell(lecture.scene_list_cell(scenes, seed % 3, "scenes", never, never))


def show_words_box(seed: int) -> None:
    offered = (("says", "the likeliest word", f"“{seed}”"), ("d_ff", "neurons", "9"))
    choices = [lecture.Choice(*each) for each in offered]
    written, reads = f"It says {{says}} {seed}.", f"It says {number('x')}"
    cell = lecture.words_cell("What to say", written, 90, reads, choices, "words", never, never)
    mount_cell(cell)


def stations(seed: int, n_tokens: int = 4, n_asked: int = 3) -> list[Station]:
    rng = np.random.default_rng(seed)

    def made(name: str, kind: str, **more: object) -> Station:
        output = rng.normal(size=(n_tokens, D_MODEL))
        strips = [Strip("", "reads", output[-1], "x"), Strip("=", "writes", output[-1], "x")]
        return Station(
            name, kind, f"{kind} {name}", f"norm {seed}", f"It is {name}, {number('7')}",
            output, "x", strips, **more,  # type: ignore[arg-type]
        )  # fmt: skip

    def weights(sources: int) -> np.ndarray:
        return rng.dirichlet(np.ones(sources), size=(2, n_tokens))

    return [
        made("x", "stream"),
        made("n", "norm"),
        made("a", "attention", weights=weights(n_tokens)),
        made("s", "sum", source="x"),
        made("c", "cross", weights=weights(n_asked)),
        made("t", "sum", source="s"),
        made("f", "ffn", hidden=hidden(seed, n_tokens)),
    ]


def show_block(
    seed: int, station: str = "a", head: int = 0, token: int = 1, n_tokens: int = 4
) -> None:
    asks = BlockActions(never, never, never, never, never)
    ways = {"own": "one way", "moved": "another"}
    shown = BlockView(station, head, token, "before", "after", ways, "own")
    cell = block_cell(HEAD, stations(seed, n_tokens), texts(n_tokens), ["u", "v", "w"], shown,
                      "block", asks)  # fmt: skip
    mount_cell(cell, f"block {seed}")


def show_learn_bar(seed: int) -> None:
    progress = page.Progress("paused", seed, seed + 2, seed + 9, f"step {10 * seed}", "Train")
    mount_cell(page.learn_bar_cell("learn-bar", progress, never, never, ("network.zip", b"PK")))


def show_by_hand(seed: int) -> None:
    gap = exercises.Gap(
        "z", seed + 2.0, [(seed + 1.0, "Bias.")], 0.0, (), 0.0, relu=False, uses=[(0, 0, 1)]
    )
    step = exercises.Step(
        "z = x + b", [exercises.Table("x", [["2", str(seed)]], ["a", "b"])], [gap]
    )
    mount_cell(exercises.by_hand_cell("by-hand", HEAD, f"exercise {seed}", [step], ["1"], never))


def show_vote(seed: int) -> None:
    experiment = votes.Experiment("It ran.", [("one", f"{seed}", 0.5), ("two", "3", None)])
    asked = votes.VoteQuestion(
        0, "Which?", ["a", "b", "c"], [1, None], "why", experiment, "", "Since.", "Lab"
    )
    cell = votes.vote_cell(
        "vote", HEAD, asked, ["A.", "B."], [(0, 1), (None, None)], never, never, never
    )
    mount_cell(cell)


def show_bet(seed: int) -> None:
    bet = votes.Bet(ask=f"Which {seed}?", options=["a", "b"], bet=1, scene=votes.FIRST_BET,
                    begun=True, outcome=seed % 2, on_bet=never)  # fmt: skip
    mount_cell(bet.to_cell("bet"))


def show_program(seed: int) -> None:
    lines = [
        exercises.ProgramLine("a", "y = f(x)", [exercises.Value(f"{seed}", "2")]),
        exercises.ProgramLine("b", "x = y", (), "No y."),
    ]
    mount_cell(exercises.program_cell("program", HEAD, ["off by"], lines, never))


def show_rail(seed: int) -> None:
    share = number_setting("keep", 5, 1, 100).with_control("Keep", (1, 5, 100), lambda n: f"{n}%")
    word = text_setting("word").with_control("A word", example="moon")
    kind = choice_setting("kind", {"a": "one", "b": "two"}).with_control("Kind")
    controls: list[Control] = [
        share,
        word,
        kind,
        Switch("GPU", bool(seed % 2), never),
        Button("Reset", None),
    ]
    cell = rail_cell(controls, Values({"word": f"w{seed}"}), {})
    assert cell is not None
    mount_cell(cell)


# Cells of one expression, which bear no stamp, by the picture's name.
SMALL: dict[str, Callable[[int], Cell]] = {
    "classroom": lambda _: lecture.classroom_cell(
        lecture.Attendance(""), "classroom", never, never, never
    ),
    "code": lambda seed: text.code_cell("code", f"y = phi(x @ {seed})  # compress"),
    "drawing": lambda seed: exercises.drawing_cell(
        "A curve", [seed / 9, *[0.5] * 16], "relu", "drawing", never
    ),
    "examples": lambda seed: page.examples_cell(
        [("Some", [f"The cat {seed}.", "A dog."]), ("More", ["It."])], "examples", never
    ),
    "footer": lambda seed: page.footer_cell(
        f"Next: {seed}", ["It is small.", f"It read {seed} books."], "foot", never
    ),
    "local_storage": lambda seed: text.storage_cell(
        "ffnviz-text", f"Text {seed}", 100, "local_storage", never
    ),
    "opening": lambda seed: text.opening_cell(f"File {seed}", ".json", 9, "opening", never),
    "progress": lambda seed: Cell(
        "progress",
        "progress",
        {"measurements": [{"name": "stages", "share": seed / 9, "waits": "", "left": 4.0}]},
    ),
    "saving": lambda seed: text.saving_cell(
        f"Save {seed}", f"{seed} é", "kept.txt", "text/plain", "saving"
    ),
    "table": lambda seed: text.table_cell("table", HEAD, ["layer", "size"], [["FFN", seed]]),
    "text": lambda seed: text.text_cell("text", f"One {seed}", f"Two {number('2')}", tone="info"),
    "waiting": lambda seed: waiting_cell(
        "stages", "Measure", "Measuring …", seed % 2 == 0, f"To come: {seed}", "stages", 300
    ),
    "welcome": lambda _: page.welcome_cell(True, "Follow the story", "welcome", never),
    "xor_net": lambda seed: exercises.xor_cell(
        "xor", HEAD, [float(seed)] * 9, seed % 2 == 0, never, never
    ),
}


def show_small(name: str, seed: int) -> None:
    mount_cell(SMALL[name](seed))


ALL: dict[str, Callable[[int], None]] = {
    **{name: partial(show_small, name) for name in SMALL},
    "by_hand": show_by_hand,
    "vote_question": show_vote,
    "bet": show_bet,
    "program": show_program,
    "activation_map": show_map,
    "block_picture": show_block,
    "chart": show_chart,
    "chips": show_chips,
    "handles": show_handles,
    "words_box": show_words_box,
    "ffn_picture": show_ffn,
    "learn_bar": show_learn_bar,
    "neuron_card": show_card,
    "page_bar": show_bar,
    "passages": show_passages,
    "points": show_points,
    "bars": show_bars,
    "rail": show_rail,
    "scene_list": show_scene_list,
    "sentences": show_sentences,
    "story": show_story,
    "verdicts": show_verdicts,
}
