"""The page that needs no server: a pass beside PyTorch's, and the time from a key to pictures.

A pass keeps all values of a trace and has the logits at one token. Each length is measured in turn,
PyTorch and the browser one after the other, so that both have the same machine. From a key to the
pictures: the text is set, read, passed through both networks, and all five pictures are painted.
"""

import base64
import statistics
import tempfile
from pathlib import Path

import torch
from playwright.sync_api import Page

import ffnviz
from benchmarks import serving
from benchmarks.measure import machine, table
from ffnviz.analysis.measuring import in_turn
from ffnviz.export import bundle
from ffnviz.export.live.packing import packed_network
from ffnviz.export.live.page import live_page
from ffnviz.models.encoder.model import Model

SENTENCE = "The little girl opened the door and looked out at the cat that sat on the mat. "
LENGTHS = (8, 16, 24)
WARM, PASSES, ROUNDS = 10, 20, 5
LIMITS = {8: 1.5, 24: 2.5}  # times PyTorch
LARGEST_KEY_MS = 60
KEYS = 30  # sentences, each a word longer or another
# The median pass of some, as a function in a page with the encoder's modules.
ENGINE = """
window.engines = {};
window.addEngine = (index, base64) => {
  const bytes = Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0)).buffer;
  engines[index.id] = need("encoder.js").makeEncoder(index, bytes);
  return engines[index.id].kind;
};
window.measure = ([id, ids, warm, passes]) => {
  const times = [];
  for (let at = 0; at < warm + passes; at++) {
    const from = performance.now();
    engines[id].logits(engines[id].trace(ids), 5);
    if (at >= warm) times.push(performance.now() - from);
  }
  return times.sort((a, b) => a - b)[passes >> 1];
};
"""
# From a text that is set to the pictures that show it, in milliseconds, painted: what a frame posts
# comes once that frame is painted.
KEY = """(text) => new Promise((resolve) => {
  const box = document.querySelector("input"), from = performance.now();
  const shown = () => [...document.querySelectorAll(".picture:not([hidden])")].every(({ shadowRoot }) =>
    JSON.parse(shadowRoot.querySelector("[data-painted]").dataset.painted || "{}").sentence === text);
  const { port1, port2 } = new MessageChannel();
  const look = () => requestAnimationFrame(() => port1.postMessage(null));
  port2.onmessage = () => (shown() ? resolve(performance.now() - from) : look());
  box.value = text;
  box.dispatchEvent(new Event("input"));
  look();
})"""  # noqa: E501

# Words can be hidden once the worker has read the sentence that the page begins with.
READY = "() => document.querySelector('.chips')?.shadowRoot?.querySelector('.cut:not([hidden])')"


def torch_pass(model: Model, ids: torch.Tensor) -> float:
    """PyTorch's median pass, in milliseconds."""
    spread = in_turn({"": lambda: model.run(ids).logits_at(5)}, PASSES, WARM)[""]
    return spread.median


def passes(page: Page, models: dict[str, Model]) -> list[tuple[object, ...]]:
    """A row a network and length: PyTorch, the browser, and their ratio, least of the rounds."""
    rows: list[tuple[object, ...]] = []
    for name, model in models.items():
        all_ids = model.tokenizer.encode(SENTENCE * 3).ids
        for length in LENGTHS:
            ids = torch.tensor(all_ids[:length])
            rounds = [
                (torch_pass(model, ids),
                 float(page.evaluate("measure", [name, all_ids[:length], WARM, PASSES])))
                for _ in range(ROUNDS)
            ]  # fmt: skip
            ours, theirs = (statistics.median(column) for column in zip(*rounds, strict=True))
            least = min(b / a for a, b in rounds)
            rows.append((name, length, f"{ours:.1f}", f"{theirs:.1f}", f"{theirs / ours:.2f}",
                         f"{least:.2f}", LIMITS.get(length, "")))  # fmt: skip
    return rows


def keys(page: Page) -> list[float]:
    """From a key to all pictures, for sentences of 2 to 16 words, sorted."""
    words = (SENTENCE * 2).split()
    texts = [" ".join(words[at % 7 : at % 7 + 2 + at // 2]) for at in range(KEYS)]
    return sorted(float(page.evaluate(KEY, text)) for text in texts)


def main() -> None:
    """Print the tables."""
    models = {name: ffnviz.load(name) for name in ("relu", "gelu")}
    torch.set_num_threads(2)
    with serving.chromium() as browser, tempfile.TemporaryDirectory() as folder:
        page = browser.new_page()
        page.add_script_tag(content=bundle._functions(["encoder.js"]) + ENGINE)
        for model in models.values():
            packed = packed_network(model)
            arguments = [packed.index, base64.b64encode(packed.weights).decode()]
            kind = page.evaluate("(given) => addEngine(...given)", arguments)
        print(f"## A pass, ms (PyTorch on two threads; the browser on one, {kind})\n")
        header = ("network", "tokens", "PyTorch", "browser", "ratio", "least", "limit")
        print(table(header, passes(page, models)))
        file = Path(folder) / "page.html"
        file.write_text(live_page(list(models.values()), SENTENCE.strip()), encoding="utf-8")
        page = browser.new_page(viewport={"width": 1920, "height": 1080})
        page.goto(file.as_uri())
        page.wait_for_function(READY)
        page.evaluate(KEY, "It is warm.")
        times = keys(page)
    print("\n## From a key to all pictures, ms\n")
    found = [f"{each:.0f}" for each in (times[0], statistics.median(times), times[-2])]
    print(table(("least", "median", "largest but one", "limit"), [(*found, LARGEST_KEY_MS)]))
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
