"""The page that needs no server, as one file or a folder: it says what Python says.

A folder on a plain web server has its pictures first, then its networks, then needs no network.
"""

import http.server
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from ffnviz.analysis.neurons.intervention import direct_contributions
from ffnviz.analysis.prediction import predict, predict_without_ffn
from ffnviz.analysis.sparsity import awake
from ffnviz.export.live.page import ROWS, live_folder
from ffnviz.export.runs import exported_run
from ffnviz.lecture.html_file import lecture_html
from ffnviz.models.edit import Edit
from ffnviz.models.encoder.model import Model
from ffnviz.parts.neurons.activations import strongest_examples
from ffnviz.parts.neurons.choose import index_with_notes
from ffnviz.pictures.wording import percent, signed
from tests.browser.conftest import LIVE_TEXT as TEXT
from tests.browser.journey import box_of
from tests.browser.looks import check_file
from tests.browser.plain_page import hosted
from tests.browser.test_export import LABELS, offline
from tests.lecture.lecture_runs import catalog, lecture

SENTENCES = (
    "The ship belonged to an [MASK] captain.",
    "How ___ they know?",
    "It's “Zoë’s” naïve <b>[mask]</b> – 😀!",
    "A cat",
)
# What is chosen after each: a network, a block, and the first or the last token.
THEN = dict(zip(
    SENTENCES, (("gelu", 1, 0), ("gelu", 0, -1), ("relu", 0, 0), ("relu", 1, -1)), strict=True
))  # fmt: skip
SAID = {SENTENCES[1]: "How [MASK] they know?"}  # what is read, where it is not what was typed
LARGEST, LARGEST_FOLDER, LARGEST_PAGE = 62_000_000, 46_000_000, 2_000_000  # bytes
PAINTED = """(wanted) => [...document.querySelectorAll(".picture:not([hidden])")].every(({ shadowRoot }) => {
    const painted = shadowRoot?.querySelector("[data-painted]")?.dataset.painted;
    return painted && Object.entries(wanted).every(([name, value]) => JSON.parse(painted)[name] === value);
})"""  # noqa: E501


@pytest.fixture(scope="module")
def page(browser: Browser, live_file: Path) -> Iterator[Page]:
    """The file opened once, as it takes seconds; each test begins with a sentence of its own."""
    assert live_file.stat().st_size < LARGEST
    with offline(browser) as (page, faults):
        page.set_viewport_size({"width": 1920, "height": 1080})
        page.goto(live_file.as_uri())
        painted(page, sentence=TEXT)
        yield page
    assert faults == []


def painted(page: Page, **state: str | int) -> None:
    """Wait until all pictures show it."""
    page.wait_for_function(PAINTED, arg=state)


def typed(page: Page, text: str) -> str:
    """Type a text; what is read of it."""
    page.get_by_role("textbox", name="Sentence").fill(text)
    painted(page, sentence=SAID.get(text, text))
    return SAID.get(text, text)


def check(page: Page, model: Model, text: str, block: int, token: int) -> None:
    """The page says of a sentence what the network says."""
    trace = model.trace(text)
    says, without = predict(model, trace, token), predict_without_ffn(model, trace, block, token)
    lines = page.locator(".leads li")
    for place, told in ((0, says), (10, without)):
        names = lines.locator("bdi").all_inner_texts()[place : place + 10]
        assert names == list(told.words)
        for at in range(10):
            share = percent(float(told.probabilities[at]))
            expect(lines.nth(place + at).locator("b")).to_have_text(share)
    counted = awake(trace, block, 0.1 if model.name == "gelu" else 0.0)
    chips = page.get_by_role("group", name="Tokens of the sentence")
    assert chips.locator("small").all_inner_texts() == [percent(s) for s in counted.shares]
    note = page.locator('.ffn_picture [data-stage="hidden"] > small')
    expect(note).to_have_text(re.compile(rf"^{counted.counts[token]:,} active"))
    added = direct_contributions(model, trace, token, int(says.ids[0]), block)[0]
    neuron = int(added.argmax())
    expect(page.locator(".card h3")).to_contain_text(f"Neuron {block + 1}:{neuron} ·")
    expect(page.locator(".neuron_card .sentence")).to_contain_text(f"+{added[neuron]:.2f}")
    check_examples(page, model, block, neuron)
    hidden = trace.blocks[block].ffn.hidden[:, neuron]
    values = page.locator(".card li b").all_inner_texts()
    shown = [signed(float(value)) for value in hidden]
    assert [value for value in values if "10" not in value] == [
        ("0" if float(value) == 0 else text)
        for value, text, seen in zip(hidden, shown, values, strict=True)
        if "10" not in seen  # of values near zero a power of ten is shown
    ]


def check_examples(page: Page, model: Model, block: int, neuron: int) -> None:
    """The first of the sentences that the Neurons page shows of it."""
    run = exported_run([model], TEXT)
    run = replace(run, state=replace(run.state, block=block))
    index = index_with_notes(run).index
    assert index is not None
    told = strongest_examples(run, index, neuron)[0].data
    rows = page.locator(".passages li")
    expect(rows).to_have_count(min(ROWS, len(told["rows"])))
    for place, (value, *text) in enumerate(told["rows"][:ROWS]):
        expect(rows.nth(place)).to_have_text(value + "".join(text))
        expect(rows.nth(place).locator("mark")).to_have_text(text[1])
    said = "".join(text for text, _ in told["head"]["spans"])
    expect(page.locator(".passages .sentence")).to_have_text(said)


def test_what_is_typed_is_computed_as_python_does(page: Page, twins: dict[str, Model]) -> None:
    chips = page.get_by_role("group", name="Tokens of the sentence").locator("[aria-pressed]")
    network, block = "relu", 1
    for sentence, (next_network, next_block, end) in THEN.items():
        text = typed(page, sentence)
        tokens = twins[network].trace(text).tokens
        usual = [at for at, token in enumerate(tokens) if token.id == 0] or [len(tokens) - 1]
        check(page, twins[network], text, block, usual[0])
        network, block, token = next_network, next_block, range(len(tokens))[end]
        page.get_by_role("button", name=LABELS[network], exact=True).click()
        page.get_by_role("button", name=f"block {block + 1}", exact=True).click()
        chips.nth(token).click()
        painted(page, sentence=text, network=network, block=block, token=token)
        check(page, twins[network], text, block, token)
    assert page.locator(".journey b b").count() == 0, "markup is text"
    page.reload()
    painted(page, sentence=TEXT)

    # Who types fast has the newest sentence.
    box = page.get_by_role("textbox", name="Sentence")
    box.fill("")
    box.press_sequentially("The cat sat on the [MASK].")
    painted(page, sentence="The cat sat on the [MASK].")
    check(page, twins["relu"], "The cat sat on the [MASK].", 1, 5)
    assert box.input_value() == "The cat sat on the [MASK]."
    box.fill("  ")
    expect(page.get_by_role("status").first).to_contain_text("Type a sentence")
    painted(page, sentence="The cat sat on the [MASK].")

    # A text that is too long is cut, and what is left out is counted.
    long = "It was the best of times, it was the worst of times. " * 15
    typed(page, long.strip())
    n_left_out = twins["relu"].trace(long.strip()).n_left_out
    assert n_left_out > 0
    expect(page.locator(".notice")).to_have_text(
        f"The network reads at most 128 tokens. The last {n_left_out} are left out "
        "below; shorten the text to see all of it."
    )
    typed(page, "It was late.")
    expect(page.locator(".notice")).to_be_empty()


def test_the_ffn_neurons_and_words_are_switched_off_and_on(
    page: Page, twins: dict[str, Model]
) -> None:
    typed(page, "She opened the door and looked out.")
    chips = page.get_by_role("group", name="Tokens of the sentence").locator(".chip")
    chips.nth(3).locator("[aria-pressed]").click()
    painted(page, sentence="She opened the door and looked out.", token=3)
    page.get_by_role("button", name="Hide this word").click()
    painted(page, sentence=TEXT, token=3)
    expect(page.get_by_role("textbox", name="Sentence")).to_have_value(TEXT)
    check(page, twins["relu"], TEXT, 1, 3)
    page.get_by_role("button", name="FFN off").click()
    painted(page, sentence=TEXT, off=True)
    told = predict_without_ffn(twins["relu"], twins["relu"].trace(TEXT), 1, 3)
    expect(page.locator(".leads .sentence")).to_contain_text(
        f"Without the FFN of block 2 the network says “{told.words[0]}”"
        f" ({percent(float(told.probabilities[0]))})."
    )
    notes = page.locator(".ffn_picture [data-stage] > small")
    assert notes.last.inner_text() == notes.nth(4).inner_text(), "the stream passes it by"
    page.get_by_role("button", name="FFN off").click()
    painted(page, sentence=TEXT, off=False)
    check(page, twins["relu"], TEXT, 1, 3)

    # A neuron is switched off for all that follows.
    text = typed(page, SENTENCES[0])
    title = page.locator(".card h3 span").inner_text()
    neuron = int(title.split()[1].removeprefix("2:"))
    page.get_by_role("button", name="Switch it off").click()
    expect(page.locator(".notice")).to_contain_text(f"neuron 2:{neuron} (ReLU)")
    off = Edit(block=1, neurons=[neuron], scale=0.0)
    told = predict(twins["relu"], twins["relu"].trace(text, off), 5)
    plain = predict(twins["relu"], twins["relu"].trace(text), 5)
    assert float(told.probabilities[0]) != float(plain.probabilities[0])
    line = page.locator(".leads li").first
    expect(line).to_have_text(f"{told.words[0]}{percent(float(told.probabilities[0]))}")
    assert set(page.locator(".card li b").all_inner_texts()) == {"0"}
    page.get_by_role("button", name="Switch it on again").click()
    expect(line).to_have_text(f"{plain.words[0]}{percent(float(plain.probabilities[0]))}")
    page.get_by_role("button", name="Switch it off").click()
    page.get_by_role("button", name="Switch all on again").click()
    expect(line).to_have_text(f"{plain.words[0]}{percent(float(plain.probabilities[0]))}")
    expect(page.locator(".notice")).to_be_empty()

    # Hidden words come back, each its own.
    typed(page, "The ship belonged to an English captain.")
    for word in ("ship", "captain"):
        page.locator(".chips").get_by_role("button", name=re.compile(rf"^{word}\b")).click()
        page.get_by_role("button", name="Hide this word").click()
        painted(page, token={"ship": 1, "captain": 6}[word])
    box = page.get_by_role("textbox", name="Sentence")
    expect(box).to_have_value("The [MASK] belonged to an English [MASK].")
    page.get_by_role("button", name="Unhide “captain”").click()
    expect(box).to_have_value("The [MASK] belonged to an English captain.")
    mask = page.locator(".chips").get_by_role("button", name=re.compile(r"^\[MASK\]"))
    expect(mask).to_have_count(1)
    mask.click()
    page.get_by_role("button", name="Unhide “ship”").click()
    expect(box).to_have_value("The ship belonged to an English captain.")


def test_it_fits_windows_and_phones_light_and_dark(page: Page) -> None:
    for width, height, dark in ((1280, 720, True), (390, 844, False)):  # more: test_export.py
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(reduced_motion="reduce")  # or bars still change places
        typed(page, f"The ship belonged to an [MASK] captain of {width}.")
        check_file(page, width, height, dark=dark)


@pytest.mark.parametrize("fault", ["changed", "cut off"])
def test_damage_is_noticed_and_said(
    browser: Browser, live_file: Path, tmp_path: Path, fault: str
) -> None:
    html = live_file.read_text("utf-8")
    at = html.index('id="weights-gelu">') + 18 + 1_000_001
    other = "B" if html[at] == "A" else "A"
    damaged = tmp_path / "damaged.html"
    whole = f"{html[:at]}{other}{html[at + 1 :]}"
    damaged.write_text(whole if fault == "changed" else html[:at], encoding="utf-8")
    why = "their checksum differs" if fault == "changed" else "bytes only 750,000 are here"
    with offline(browser) as (page, faults):
        page.goto(damaged.as_uri())
        painted(page, sentence=TEXT)
        expect(page.get_by_role("alert")).to_contain_text("Nothing new can be computed here")
        expect(page.get_by_role("alert")).to_contain_text(why)
        expect(page.get_by_role("textbox", name="Sentence")).to_be_disabled()
        page.get_by_role("button", name="GELU", exact=True).click()  # what was saved is still shown
        painted(page, sentence=TEXT, network="gelu")
    assert faults == []


def test_in_a_lecture_the_sentence_can_be_changed(
    browser: Browser, twins: dict[str, Model], tmp_path: Path
) -> None:
    rooms, file = catalog(), tmp_path / "lecture.html"
    file.write_text(lecture_html(lecture(), rooms, live=True), "utf-8")
    assert file.stat().st_size < LARGEST
    with offline(browser) as (page, faults):
        page.set_viewport_size({"width": 1280, "height": 720})
        page.goto(file.as_uri())
        page.get_by_role("button", name="Show the answer").click()
        own = page.get_by_role("textbox", name="Sentence").input_value()
        below = box_of(page.locator(".picture.chips"))
        text = typed(page, "I don't [MASK] it.")
        assert box_of(page.locator(".picture.chips")) == below, "nothing moves"
        trace = twins["relu"].trace(text)
        token = trace.ids.tolist().index(twins["relu"].tokenizer.mask_id)
        check(page, twins["relu"], text, 1, token)
        page.get_by_role("textbox", name="Sentence").press("ArrowLeft")
        expect(page.locator(".where")).to_have_text("1 of 20")
        back = page.get_by_role("button", name="The scene's sentence")
        back.click()
        expect(back).to_be_disabled()
        expect(page.locator(".picture.chips")).to_contain_text(own.split()[1])
        typed(page, "A cat")
        page.keyboard.press("PageDown")
        page.keyboard.press("PageUp")
        expect(page.get_by_role("textbox", name="Sentence")).to_have_value(own)
    assert faults == []


class Host(http.server.SimpleHTTPRequestHandler):
    """A static host, which answers with other bytes where a test wants it to."""

    spoils: dict[str, int] = {}  # noqa: RUF012 (each test sets it)
    asked: list[str] = []  # noqa: RUF012

    def do_GET(self) -> None:
        self.asked.append(self.path)
        if self.spoils.get(self.path, 0):
            self.spoils[self.path] -= 1
            content = bytearray(Path(self.translate_path(self.path)).read_bytes())
            content[1_000_000] ^= 1
            self.send_response(200)
            self.end_headers()
            self.wfile.write(content)
        else:
            super().do_GET()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def folder(twins: dict[str, Model], tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("folder")
    files = live_folder([twins["relu"], twins["gelu"]], TEXT)
    for name, content in files.items():
        (place / name).write_bytes(content)
    assert sum(map(len, files.values())) < LARGEST_FOLDER
    assert len(files["index.html"]) < LARGEST_PAGE
    return place


@pytest.fixture
def host(folder: Path) -> Iterator[str]:
    """Its address; a browser takes localhost for safe, and so has a service worker."""
    Host.spoils, Host.asked = {}, []
    with hosted(folder, Host) as address:
        yield address


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    yield context
    context.close()


def opened(context: BrowserContext, address: str) -> tuple[Page, list[str]]:
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda line: faults.append(line.text))
    page.goto(address)
    painted(page, sentence=TEXT)
    return page, faults


def test_a_folder_works_on_a_plain_host_and_then_without_a_network(
    context: BrowserContext, host: str, folder: Path, twins: dict[str, Model]
) -> None:
    page, faults = opened(context, host)
    text = typed(page, SENTENCES[0])
    check(page, twins["relu"], text, 1, 5)
    expect(page.locator("progress")).to_have_count(0)
    assert {path for path in Host.asked if path.endswith(".bin")} == {
        f"/{path.name}" for path in folder.glob("*.bin")
    }
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    n_asked = len(Host.asked)
    context.set_offline(True)
    page.reload()
    painted(page, sentence=TEXT)
    text = typed(page, SENTENCES[0])
    check(page, twins["relu"], text, 1, 5)
    assert len(Host.asked) == n_asked
    assert faults == []


def test_while_the_networks_are_on_their_way_a_recorded_sentence_is_shown(
    context: BrowserContext, host: str
) -> None:
    held: list[Route] = []
    let_through = False

    def hold(route: Route) -> None:
        if let_through:
            route.continue_()
        else:
            held.append(route)

    page = context.new_page()
    page.route("**/*.bin", hold)
    page.goto(host)
    painted(page, sentence=TEXT)
    expect(page.locator("progress")).to_be_visible()
    page.get_by_role("button", name="GELU", exact=True).click()
    painted(page, sentence=TEXT, network="gelu")
    page.get_by_role("textbox", name="Sentence").fill(SENTENCES[0])
    let_through = True
    for route in held:
        route.continue_()
    painted(page, sentence=SENTENCES[0], network="gelu")
    expect(page.locator("progress")).to_have_count(0)


def test_a_damaged_network_is_loaded_again(
    context: BrowserContext, host: str, folder: Path, twins: dict[str, Model]
) -> None:
    (name,) = [path.name for path in folder.glob("gelu-*.bin")]
    Host.spoils = {f"/{name}": 1}
    page, faults = opened(context, host)
    check(page, twins["relu"], typed(page, SENTENCES[0]), 1, 5)
    assert Host.asked.count(f"/{name}") == 2
    assert faults == []


def test_a_network_that_stays_damaged_is_said(
    context: BrowserContext, host: str, folder: Path
) -> None:
    (name,) = [path.name for path in folder.glob("gelu-*.bin")]
    Host.spoils = {f"/{name}": 2}
    page, _ = opened(context, host)
    expect(page.get_by_role("alert")).to_contain_text("their checksum differs")


def test_a_folder_opened_as_a_file_asks_for_a_host(context: BrowserContext, folder: Path) -> None:
    page, _ = opened(context, (folder / "index.html").as_uri())
    expect(page.get_by_role("alert")).to_contain_text("put the folder on a web server")
