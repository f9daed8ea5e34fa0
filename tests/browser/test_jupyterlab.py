"""A widget in a real JupyterLab: run, clicked, heard by Python, and moved by it.

Only when asked for, as JupyterLab is large and no dependency: `make release` gives it an
environment of its own and runs `pytest -m jupyter` with JUPYTER as the path of jupyter-lab.
"""

import json
import os
import signal
import subprocess
import sysconfig
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import ROOT, START_S
from tests.served import free_port, wait_for

pytestmark = pytest.mark.jupyter
CELLS = (
    "import ffnviz\ntrace = ffnviz.load('relu').trace('The girl opened the [MASK].')\n"
    "view = ffnviz.view(trace)\nview",
    "print('token', view.token, 'neuron', view.neuron)",
    "view.token, view.neuron = 4, 1709",
)


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """The address of a notebook in a JupyterLab whose kernels have this environment's packages."""
    program = os.environ.get("JUPYTER") or pytest.fail("Say where jupyter-lab is: JUPYTER=…")
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "id": f"cell-{at}", "metadata": {}, "execution_count": None,
         "outputs": [], "source": source}
        for at, source in enumerate(CELLS)
    ]  # fmt: skip
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "a.ipynb").write_text(json.dumps(notebook))
    port = free_port()
    paths = os.pathsep.join([str(ROOT), sysconfig.get_path("purelib")])
    server = subprocess.Popen(
        [program, "--no-browser", "--allow-root", f"--port={port}", "--IdentityProvider.token="],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths, "HOME": str(tmp_path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_for(f"http://localhost:{port}/api", server, START_S)
        yield f"http://localhost:{port}/lab/tree/a.ipynb?reset"
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait()


def test_a_click_reaches_the_kernel_and_what_the_kernel_sets_is_drawn(
    browser: Browser, lab: str
) -> None:
    with closing(browser.new_context(viewport={"width": 1280, "height": 1000})) as context:
        page, faults = context.new_page(), list[str]()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(lab)
        cells = page.locator(".jp-Notebook .jp-CodeCell")

        def run(at: int) -> None:
            cells.nth(at).locator(".cm-content").click()
            page.keyboard.press("Shift+Enter")

        expect(page.get_by_text("| Idle")).to_be_visible(timeout=60_000)
        run(0)
        chips = page.get_by_role("group", name="Tokens of the sentence").locator("[aria-pressed]")
        expect(chips).to_contain_text(
            ["The", "girl", "opened", "the", "[MASK]", "."], timeout=60_000
        )
        chips.nth(1).click()
        expect(chips.nth(1)).to_have_attribute("aria-pressed", "true")
        run(1)
        expect(cells.nth(1).locator(".jp-OutputArea-output")).to_have_text("token 1 neuron None\n")
        run(2)
        expect(chips.nth(4)).to_have_attribute("aria-pressed", "true")
        expect(page.locator("article .card h3")).to_contain_text("1709")
        canvas = page.locator("canvas[data-name]").first
        canvas.scroll_into_view_if_needed()
        canvas.click()
        expect(page.locator("article .card h3")).not_to_contain_text("1709")
        neuron = page.locator("article .card h3").inner_text().split(":")[1].split()[0]
        run(1)
        said = cells.nth(1).locator(".jp-OutputArea-output")
        expect(said).to_contain_text(f"neuron {neuron}")
        assert not faults
