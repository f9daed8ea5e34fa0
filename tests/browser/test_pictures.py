"""Every picture in a plain page, without Streamlit: mounted, updated, clicked, destroyed."""

import base64
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from ffnviz.app.mounting import mount_cell
from ffnviz.pictures.activation_map import ActivationMap, maps_cell
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.lecture import Attendance, classroom_cell
from ffnviz.pictures.text import storage_cell
from ffnviz.pictures.wording import quoted, typed
from tests.browser import shown
from tests.browser.journey import box_of
from tests.browser.looks import FRAMES
from tests.browser.plain_page import PlainPage, payload
from tests.browser.watched import Watched

N_UPDATES = 500
D_FF, N_TOKENS = 14_336, 9
STAND_OUT = {(3, 777): -2.5, (5, 14_335): 2.25, (8, 0): 2.75, (1, 9_001): -3.0, (6, 5_000): 2.0}

# A row's pixels that have the colour of the scale's ends.
STRONGEST = """(canvas, row) => {
    const { data } = canvas.getContext("2d").getImageData(0, row, canvas.width, 1);
    const seen = new Set();
    for (let x = 0; x < canvas.width; x++) seen.add(data.slice(4 * x, 4 * x + 3).join());
    return [canvas.width, seen.size];
}"""
ACCENTS = {
    "gelu": "#0067a3", "#12ab9F": "#12ab9F", "gpt2": "#1a1c23", "constructor": "#1a1c23",
}  # fmt: skip
LINE = "It reads “<b>phone” as <b>ph + one. "
UNDER = replace(shown.HEAD, under=f"It reads {quoted('<b>phone')} as {typed('<b>ph + one')}. ")

# Each picture's button or canvas, where to click on it, and what is told.
CLICKS = {
    "activation_map": ('canvas[data-name="gelu"]', "neuron",
                       {"map": "gelu", "neuron": 255, "token": 0}),
    "chips": ("button:has(bdi)", "token", 0),
    "examples": ("nav button", "sentence", "The cat 2."),
    "ffn_picture": ('[data-stage="hidden"] canvas', "neuron", 255),
    "neuron_card": ("li button", "meet", {"token": 0}),
    "points": ("canvas", "points", [[3, 3, 1], [9, 12, 0], [0, 15, 1]]),
    "rail": (".choice button", "move", {"name": "kind", "value": 0, "done": True}),
    "verdicts": (".leads", "group", 0),
}  # fmt: skip

# Notes in every frame whether the picture is the one from before, and says what it has painted.
WATCH_FRAMES = """(host) => {
    const root = document.getElementById(host).shadowRoot;
    const first = root.querySelector("[data-painted]");
    window.blinks = [];
    window.frames = 0;
    const look = () => {
        window.frames += 1;
        const now = root.querySelector("[data-painted]");
        if (now !== first || !now.dataset.painted) window.blinks.push("replaced");
        if (now.getBoundingClientRect().height < 20) window.blinks.push("empty");
        const plot = now.querySelector(".plot");
        if (plot && !plot.querySelector(".main-svg")) window.blinks.push("blank");
        for (const canvas of now.querySelectorAll("canvas")) {
            const row = canvas.getContext("2d").getImageData(0, 0, canvas.width, 1).data;
            if (row.every((v) => v === 0)) window.blinks.push("blank");
        }
        window.watching = requestAnimationFrame(look);
    };
    look();
}"""


def test_every_picture_is_mounted_updated_clicked_and_destroyed(plain: PlainPage) -> None:
    for name, show in shown.ALL.items():
        picture = plain.hang(name, lambda show=show: show(1))  # type: ignore[misc]
        plain.update(name, lambda show=show: show(2))  # type: ignore[misc]
        plain.painted(name)
        if name in CLICKS:
            where, event, value = CLICKS[name]
            if name == "examples":
                picture.get_by_role("button", name="Examples").click()
            picture.locator(where).first.click(position={"x": 3, "y": 3})
            assert plain.told()[-1] == [event, value]
        plain.page.evaluate("(name) => made[name].destroy()", name)
        assert picture.evaluate("(host) => host.shadowRoot.childElementCount") == 0
        assert plain.page.locator(f"#{name} .fault").count() == 0


def test_500_updates_leave_nothing_behind(page: Page, files: str) -> None:
    watched = Watched(page)
    plain = PlainPage(page, files)
    unused = watched.count()  # Playwright observes too
    payloads = []
    for name, show in shown.ALL.items():
        plain.hang(name, partial(show, 0))
        payloads.append([name, *(payload(partial(show, seed))[1] for seed in (1, 2))])
    updates = """async ([payloads, rounds]) => {
        const frame = () => new Promise((next) => requestAnimationFrame(next));
        for (let round = 0; round < rounds; round += 1) {
            for (const [name, ...data] of payloads) update(name, data[round % 2]);
            await frame();
        }
        for (let i = 0; i < 20; i += 1) await frame();
    }"""
    page.evaluate(updates, [payloads, 12])
    before = watched.count()
    rounds = -(-N_UPDATES // len(payloads))
    page.evaluate(updates, [payloads, rounds])
    after = watched.count()
    growth = {name: after[name] - before[name] for name in before}
    assert growth["observers"] == 0
    assert growth["listeners"] == 0
    assert growth["all listeners"] <= 10, growth  # plotly.js has some more or fewer in a moment
    assert growth["nodes"] <= 100, growth
    assert growth["heap"] < 600_000, growth
    page.evaluate("() => Object.values(made).forEach((picture) => picture.destroy())")
    emptied = watched.count()
    assert emptied["observers"] == unused["observers"]
    assert emptied["nodes"] < after["nodes"] / 2


def test_no_picture_blinks_when_it_is_updated(plain: PlainPage) -> None:
    for name in ("activation_map", "chart", "chips", "ffn_picture", "neuron_card"):
        show = shown.ALL[name]
        plain.hang(name, partial(show, 0))
        plain.page.evaluate(WATCH_FRAMES, name)
        for seed in range(1, 6):
            plain.update(name, partial(show, seed))
            seen = plain.page.evaluate("frames")
            plain.page.wait_for_function("(seen) => frames > seen + 1", arg=seen)
        plain.painted(name)
        assert plain.page.evaluate("blinks") == [], name
        plain.page.evaluate("cancelAnimationFrame(watching)")


# What has the focus, of which picture.
FOCUSED = [
    ("activation_map", ".orders button >> nth=1"),
    ("chart", ".more"),
    ("chips", ".row [aria-pressed] >> nth=3"),
    ("examples", "button >> nth=0"),
    ("neuron_card", "li button >> nth=4"),
    ("verdicts", "h3 button >> nth=0"),
    ("chart", ".plot"),
    ("ffn_picture", "canvas >> nth=1"),
]


def test_the_focus_survives_an_update(plain: PlainPage) -> None:
    for at, (name, button) in enumerate(FOCUSED):
        host, show = f"host-{at}", shown.ALL[name]
        focused = plain.hang(host, partial(show, 1)).locator(button)
        focused.focus()
        before = focused.element_handle()
        plain.update(host, partial(show, 2))
        plain.painted(host)
        expect(focused).to_be_focused()
        kept = "(one) => one.isConnected && one.getRootNode().activeElement === one"
        assert before.evaluate(kept), (name, button)


def test_when_the_focused_chip_is_gone_the_last_one_has_the_focus(plain: PlainPage) -> None:
    chips = plain.hang("chips", lambda: shown.show_chips(1, n_tokens=6)).locator(
        ".row [aria-pressed]"
    )
    chips.nth(5).focus()
    plain.update("chips", lambda: shown.show_chips(1, n_tokens=3))
    expect(chips).to_have_count(3)
    expect(chips.nth(2)).to_be_focused()


def test_who_moves_a_corner_faster_than_the_page_answers_loses_no_step(plain: PlainPage) -> None:
    at_row = shown.show_handles  # with seed n, its second corner stands in row n + 1
    handle = plain.hang("handles", lambda: at_row(3)).get_by_role("slider").nth(1)
    handle.focus()
    handle.press("ArrowUp")
    handle.press("ArrowUp")
    plain.update("handles", lambda: at_row(4))  # the answer to the first
    expect(handle).to_have_attribute("aria-valuenow", "6")
    handle.press("ArrowUp")
    assert [corners[3] for _, corners in plain.told()] == [5, 6, 7]
    plain.update("handles", lambda: at_row(6))
    plain.update("handles", lambda: at_row(2))  # reset
    expect(handle).to_have_attribute("aria-valuenow", "3")


def test_a_picture_follows_the_systems_theme(plain: PlainPage) -> None:
    picture = plain.hang("chips", lambda: shown.show_chips(1))
    sentence = picture.locator(".sentence")
    expect(sentence).to_have_css("color", "rgb(26, 28, 35)")
    plain.page.emulate_media(color_scheme="dark")
    expect(sentence).to_have_css("color", "rgb(242, 244, 248)")
    accent = sentence.evaluate("(one) => one.style.getPropertyValue('--accent')")
    assert accent == "#ff9d4d"


def test_an_accent_is_of_the_palette_or_its_own_or_that_of_text(plain: PlainPage) -> None:
    found = plain.page.evaluate(
        """async (names) => {
            const { colourOf, theme, themeSheet } = await import("./theme.js");
            const { colour } = await import("./chart.js");
            await themeSheet();
            return names.map((name) => [colourOf(name, theme()), colour(`@${name}`, theme()),
                    colour(`@${name}/0.2`, theme()), colour("rgb(1, 2, 3)", theme())]);
        }""",
        list(ACCENTS),
    )
    assert found == [[own, f"{own}ff", f"{own}33", "rgb(1, 2, 3)"] for own in ACCENTS.values()]
    names = ("#12ab9f", "gpt2")  # as maps of any network have them
    picture = plain.hang("map", lambda: shown.show_map(1, names=names))
    titles = picture.locator(".title b")
    expect(titles.nth(0)).to_have_css("color", "rgb(18, 171, 159)")
    expect(titles.nth(1)).to_have_css("color", "rgb(26, 28, 35)")


def test_in_a_wide_layer_no_neuron_vanishes_or_takes_anothers_name(
    plain: PlainPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    d_ff, loud = 65_537, 65_536
    values = np.zeros((3, d_ff), np.float32)
    values[1, loud] = 5
    monkeypatch.setattr(shown, "hidden", lambda *_: values)
    picture = plain.hang("map", lambda: shown.show_map(1, 3, d_ff, names=("relu",)))
    canvas = picture.locator("canvas")
    painted = canvas.evaluate(
        """(canvas) => [...new Uint32Array(canvas.getContext("2d")
            .getImageData(0, 1, canvas.width, 1).data.buffer)].map((p) => p !== 0xffffffff)"""
    )
    assert painted == [True] + [False] * (len(painted) - 1)  # the order is from last to first
    canvas.evaluate(  # a real click's place is rounded to whole pixels: it may miss the first
        """(canvas) => {
            const { left, top, height } = canvas.getBoundingClientRect();
            const at = { clientX: left + 0.2, clientY: top + height / 2, bubbles: true };
            canvas.dispatchEvent(new PointerEvent("pointermove", at));
            canvas.dispatchEvent(new PointerEvent("click", at));
        }"""
    )
    assert plain.told() == [["neuron", {"map": "relu", "neuron": loud, "token": 1}]]
    stages = plain.hang("ffn", lambda: shown.show_ffn(1, d_ff=d_ff, neuron=loud))
    last = stages.locator('[data-stage="hidden"] canvas')
    last.focus()
    plain.page.keyboard.press("ArrowRight")
    assert plain.aloud("ffn").startswith(f"w1 · neuron {loud} · ")


def test_a_destroyed_rail_tells_nothing_more(page: Page, files: str) -> None:
    plain = PlainPage(page, files)  # whose clock never goes on
    slider = plain.hang("rail", lambda: shown.show_rail(0)).locator("[type=range]")
    plain.page.clock.install()
    slider.press("ArrowRight")  # under way: the page does not answer
    slider.evaluate(
        """(input) => { input.value = "0"; input.dispatchEvent(new Event("input")); }"""
    )
    assert plain.told() == [
        ["move", {"name": "keep", "value": 2, "done": False}],
        ["move", {"name": "keep", "value": 2, "done": True}],
    ]
    plain.page.evaluate("made.rail.destroy()")
    plain.page.clock.run_for(5_000)
    assert plain.told() == []


def test_data_that_cannot_be_drawn_is_said_and_forgotten_with_the_next(plain: PlainPage) -> None:
    picture = plain.hang("chips", lambda: shown.show_chips(1))
    plain.page.evaluate("update('chips', { plain: { texts: null, head: null } })")
    expect(picture.get_by_role("alert")).to_contain_text("This picture could not be drawn")
    plain.update("chips", lambda: shown.show_chips(2))
    expect(picture.get_by_role("alert")).to_have_count(0)


@pytest.mark.parametrize("trusted", [True, False])
def test_code_is_copied_wherever_its_page_comes_from(plain: PlainPage, trusted: bool) -> None:
    page = plain.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("navigator.clipboard.writeText('another')")
    code = plain.hang("code", lambda: shown.ALL["code"](1))
    if not trusted:
        page.evaluate("""() => {
            window.trusted = navigator.clipboard;
            Object.defineProperty(navigator, "clipboard", { value: undefined });
        }""")
    copy = code.get_by_role("button", name="Copy the code")
    copy.click()
    expect(copy).to_have_text("✓")
    copied = page.evaluate("(window.trusted ?? navigator.clipboard).readText()")
    assert copied == "y = phi(x @ 1)  # compress"


def test_a_saved_picture_is_xml_whatever_was_typed(plain: PlainPage) -> None:
    typed = "a\ufffeb\x00c\x1bd\ud800e\uffff <&>"
    figure = shown.figure(1)
    figure["data"][0]["name"] = typed  # type: ignore[index]
    figure["data"][0]["text"] = [typed] * 6  # type: ignore[index]
    figure["data"][0]["mode"] = "text+markers"  # type: ignore[index]
    plain.hang("chart", lambda: shown.show_chart(1, figure))
    found = plain.page.evaluate(
        """async (typed) => {
            const { chartAsSvg } = await import("./chart.js");
            const { asPng, cell } = await import("./saving.js");
            const { theme } = await import("./theme.js");
            const plot = document.getElementById("chart").shadowRoot.querySelector(".plot");
            while (!plot.layout) await new Promise((next) => requestAnimationFrame(next));
            const { data, layout } = plot;
            const svg = await chartAsSvg({ data, layout }, `About ${typed}`, theme());
            const parsed = new DOMParser().parseFromString(svg, "image/svg+xml");
            const png = await asPng(svg);
            return { fault: parsed.querySelector("parsererror")?.textContent ?? "",
                     text: parsed.documentElement.textContent, png: png.type,
                     cell: cell(typed) };
        }""",
        typed,
    )
    clean = "a\ufffdb\ufffdc\ufffdd\ufffde\ufffd <&>"
    assert found["fault"] == ""
    assert found["text"].count("a\ufffdb\ufffdc\ufffdd\ufffde\ufffd") >= 7
    assert found["png"] == "image/png"
    assert found["cell"] == clean


SAVED = """async (host) => {
    const { elementAsSvg } = await import("./save_svg.js");
    const { aboutFrom } = await import("./save_svg.js");
    const { theme } = await import("./theme.js");
    const root = document.getElementById(host).shadowRoot.querySelector(".hung");
    aboutFrom(() => ["A <b>sentence</b>."]);
    const svg = await elementAsSvg(root, "A title & more", theme());
    const parsed = new DOMParser().parseFromString(svg, "image/svg+xml");
    const all = (tag, ...names) => [...parsed.querySelectorAll(tag)].map((e) =>
        [e.textContent, ...names.map((name) => e.getAttribute(name))]);
    const shown = (words) => [...root.querySelectorAll("bdi")]
        .find((e) => e.textContent === words)?.getBoundingClientRect().top;
    return { fault: parsed.querySelector("parsererror")?.textContent ?? "",
             texts: all("text", "x", "y"), fills: all("rect", "fill").map(([, fill]) => fill),
             images: all("image").length, apart: shown("w3") - shown("w0") };
}"""


def test_a_drawn_picture_is_saved_as_it_stands_with_title_and_sentence(plain: PlainPage) -> None:
    images = {"activation_map": 2, "ffn_picture": 3, "neuron_card": 0, "bars": 0}
    for name in images:
        plain.hang(name, partial(shown.ALL[name], 1))
        found = plain.page.evaluate(SAVED, name)
        assert found["fault"] == ""
        words = [text for text, *_ in found["texts"]]
        assert words[:2] == ["A title & more", "A <b>sentence</b>."]
        assert found["images"] == images[name], name
    assert words.count("w0") == 2  # of the bars
    assert "rgb(184, 79, 0)" in found["fills"]  # ReLU's own colour
    high = {text: float(y) for text, _, y in found["texts"]}
    assert high["w3"] - high["w0"] == pytest.approx(found["apart"], abs=0.5)


def test_a_charts_table_has_names_raw_numbers_and_no_formula(plain: PlainPage) -> None:
    plain.hang("chart", lambda: shown.show_chart(1))
    rows, formula = plain.page.evaluate(
        """async () => {
            const { rows } = await import("./chart.js");
            const { cell } = await import("./saving.js");
            const data = [
                { type: "bar", name: "with<br>it", x: [27.3, 4], y: [0, 1],
                  text: ["door <b>27%</b>", "eyes <b>4%</b>"],
                  meta: { names: ["door", "=eyes"], named: "word", unit: "%", counts: [273, 40] } },
                { type: "heatmap", name: "z", z: [[Math.fround(0.1)]], x: [1], y: [0],
                  text: [["1.0"]] },
            ];
            const axis = { title: { text: "token" }, tickvals: [0, 1], ticktext: ["the", "the"] };
            const axes = { xaxis: axis, yaxis: { tickvals: [0], ticktext: ["a &lt; b"] } };
            const formulas = [{ name: "=1+1", x: [1], y: [2], text: ["+a,\\"b\\""] }];
            return [rows(data, axes), rows(formulas, {})[1].map(cell).join(",")];
        }"""
    )
    assert rows == [
        ["series", "x axis", "x", "y axis", "y", "value", "count", "label"],
        ["with it", "%", 27.3, "word", "door", None, 273, None],
        ["with it", "%", 4, "word", "=eyes", None, 40, None],
        ["z", "token", "the (2)", "", "a < b", 0.1, None, None],
    ]
    assert formula == '“=1+1”,,1,,2,,"“+a,""b""”"'


def test_a_move_that_was_not_followed_is_told_again(plain: PlainPage) -> None:
    page = plain.page

    def attend(followed: int) -> None:
        student = Attendance("student", "ABCDEF", followed=followed)
        cell = classroom_cell(student, "classroom", shown.never, shown.never, shown.never)
        show = partial(mount_cell, cell)
        (plain.update if followed else plain.hang)("classroom", show)

    page.clock.install()
    event = 'data: {"moved": 2, "scene": 1, "revealed": [], "counts": {}, "people": 1}\n\n'
    page.route("**/class/ABCDEF/events*", lambda route: route.fulfill(body=event))
    attend(0)
    page.wait_for_function("told.length")
    assert plain.told() == [["moved", 2]]
    page.clock.run_for(7_000)
    assert plain.told() == []  # the server is at it
    page.clock.run_for(2_000)  # or the process that was told is gone
    assert plain.told() == [["moved", 2]]
    attend(2)
    page.clock.run_for(20_000)
    assert plain.told() == []


def test_what_the_browser_keeps_is_offered_once_it_is_asked_for(plain: PlainPage) -> None:
    page = plain.page

    def kept(text: str | None) -> Callable[[], None]:
        return partial(mount_cell, storage_cell("ffnviz-text", text, 100, "k", shown.never))

    plain.hang("local_storage", kept("A text."))
    assert page.evaluate("localStorage.getItem('ffnviz-text')") == "A text."
    plain.update("local_storage", kept("x" * 101))
    assert page.evaluate("localStorage.getItem('ffnviz-text')") == "A text."  # that was too long
    assert plain.told() == []
    plain.update("local_storage", kept(None))
    assert plain.told() == [["kept", "A text."]]
    plain.update("local_storage", kept("A text."))
    page.evaluate("localStorage.setItem('ffnviz-text', 'Of another tab.')")
    page.evaluate("dispatchEvent(new Event('focus'))")
    assert plain.told() == [["kept", "Of another tab."]]
    plain.update("local_storage", kept(""))
    assert page.evaluate("localStorage.getItem('ffnviz-text')") is None


def show_chart(under: bool) -> None:
    head = UNDER if under else shown.HEAD
    cell = chart_cell(head, shown.figure(1), "Shares.", "chart", height=660)
    mount_cell(cell, f"chart {under}")


def test_a_quiet_line_under_a_chart_takes_its_room_from_the_picture(plain: PlainPage) -> None:
    whole = plain.hang("chart", lambda: show_chart(under=False)).locator("figure")
    line = whole.locator(".under")
    for height in (1080, 720):
        plain.page.set_viewport_size({"width": 1280, "height": height})
        plain.page.evaluate(FRAMES)
        before = box_of(whole)
        plain.update("chart", lambda: show_chart(under=True))
        plain.painted("chart")
        expect(line).to_have_text(LINE)
        assert box_of(line)["height"] > 15
        assert box_of(whole)["height"] == pytest.approx(before["height"], abs=1)
        plain.update("chart", lambda: show_chart(under=False))
        plain.painted("chart")
    expect(line).to_have_count(0)


def test_what_was_typed_stays_text_below_the_bars(plain: PlainPage) -> None:
    panel = Bars("with", ["a", "b"], np.array([0.6, 0.4]), "relu")
    cell = bars_cell(UNDER, [panel], "bars")
    host = plain.hang("bars", lambda: mount_cell(cell, "bars"))
    expect(host.locator(".under")).to_have_text(LINE)
    expect(host.locator(".under bdi")).to_have_text(["<b>phone", "<b>ph + one"])
    bars, line = box_of(host.locator(".panels")), box_of(host.locator(".under"))
    assert line["y"] >= bars["y"] + bars["height"]


def a_wide_map() -> ActivationMap:
    generator = np.random.default_rng(0)
    hidden = 0.1 * generator.normal(size=(N_TOKENS, D_FF)).astype(np.float32)
    for (token, neuron), value in STAND_OUT.items():
        hidden[token, neuron] = value
    hidden[0, :3] = (900, -700, 500)  # as the first token of trained networks has them
    names = [f"t{token}" for token in range(N_TOKENS)]
    order = generator.permutation(D_FF)
    return ActivationMap("wide", "Wide", "#009e73", "", hidden, order, names, 3)


def show_wide_map(shown: ActivationMap) -> None:
    cell = maps_cell(
        Head("A map.", "any-maps", "#009e73"), [shown], ("wide", 777), ("index",), "index",
        "k", on_choose=lambda *_: None, on_order=lambda _: None, on_open=lambda *_: None,
    )  # fmt: skip
    mount_cell(cell, "stamp")


def test_of_14336_neurons_every_one_that_stands_out_is_seen_and_named(plain: PlainPage) -> None:
    drawn = a_wide_map()
    _, sent = payload(lambda: show_wide_map(drawn))
    assert len(base64.b64decode(sent["packed"])) < 200_000
    host = plain.hang("wide", lambda: show_wide_map(drawn))
    canvas = host.locator("canvas").first
    box = box_of(canvas)
    places = np.argsort(drawn.order)  # of each neuron, from left to right
    for (token, neuron), value in STAND_OUT.items():
        x = box["x"] + (places[neuron] + 0.5) / D_FF * box["width"]
        y = box["y"] + (token + 0.5) / N_TOKENS * box["height"]
        found = []
        for step in (0, -1, 1):  # a column has neighbours of its neuron, too
            plain.page.mouse.move(x + step, y)
            found.append(host.locator(".tip:not([hidden])").inner_text())
        assert f"t{token} · neuron {neuron} · {value:.2f}".replace("-", "−") in found, found
    # Had the first token's 900 set the scale, all of this would be the background.
    width, colours = canvas.evaluate(STRONGEST, 7)
    assert width < D_FF
    assert colours > 60
    expect(host.locator(".beyond")).to_have_text("values beyond ±0.28 are drawn as ±0.28")
