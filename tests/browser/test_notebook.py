"""A notebook in a real JupyterLab: its pictures are alive, both ways."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

pytest.importorskip(
    "jupyterlab", reason="JupyterLab is not installed: pip install jupyterlab ipykernel"
)

CELLS = [
    'import ffnviz\ntrace = ffnviz.load("relu").trace("The cat sat on the [MASK].")\n'
    "view = ffnviz.view(trace)\nview",
    'print("seen", view.token, view.neuron)',
    "view.token, view.block = 3, 0",
    "ffnviz.view.map(trace)",
]
UP_S, RUN_MS = 120, 120_000


def notebook() -> str:
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "execution_count": None, "id": f"c{n}", "metadata": {},
         "outputs": [], "source": source}
        for n, source in enumerate(CELLS)
    ]  # fmt: skip
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return json.dumps({"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5})


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a JupyterLab with the notebook open."""
    folder: Path = tmp_path_factory.mktemp("lab")
    (folder / "bench.ipynb").write_text(notebook())
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port = probe.getsockname()[1]
    own = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    environment = {**os.environ, **{name: str(folder / name.lower()) for name in own}}
    options = ["--no-browser", "--allow-root", f"--port={port}", "--ServerApp.port_retries=0",
               "--IdentityProvider.token=", f"--ServerApp.root_dir={folder}"]  # fmt: skip
    server = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", *options],
        cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    try:
        wait_for(f"http://localhost:{port}/api")
        yield f"http://localhost:{port}/lab/tree/bench.ipynb?reset"
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait()


def wait_for(address: str) -> None:
    end = time.monotonic() + UP_S
    while time.monotonic() < end:
        with suppress(OSError), urllib.request.urlopen(address, timeout=5):
            return
        time.sleep(0.3)
    pytest.fail(f"JupyterLab did not answer within {UP_S} s")


def run_cell(page: Page, number: int) -> None:
    page.locator(".jp-CodeCell .jp-InputArea-editor").nth(number).click()
    page.keyboard.press("Shift+Enter")


def test_a_click_tells_python_and_python_moves_the_pictures(browser: Browser, lab: str) -> None:
    page = browser.new_page(viewport={"width": 1400, "height": 1800})
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(lab)
    page.locator(".jp-CodeCell").first.wait_for(timeout=RUN_MS)
    page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').wait_for(timeout=RUN_MS)
    page.wait_for_timeout(1500)  # a cell that runs before the kernel is bound asks which to take
    choose = page.get_by_role("dialog").get_by_role("button", name="Select Kernel")
    if choose.is_visible():
        choose.click()
    run_cell(page, 0)
    view = page.locator(".jp-CodeCell").nth(0).locator(".ffnviz-view")
    chips = view.locator('[data-cell="chips"] button[aria-pressed]')
    expect(chips.nth(6)).to_be_visible(timeout=RUN_MS)
    assert view.locator(".cell canvas").count() > 0, "the map is painted"
    chips.nth(2).click()
    expect(chips.nth(2)).to_have_attribute("aria-pressed", "true")
    run_cell(page, 1)
    said = page.locator(".jp-CodeCell").nth(1).locator(".jp-OutputArea-output")
    expect(said).to_contain_text("seen 2 None", timeout=RUN_MS)
    run_cell(page, 2)
    expect(chips.nth(3)).to_have_attribute("aria-pressed", "true")
    expect(view.locator('[data-cell="neuron-card"]')).to_contain_text("Neuron 1:")
    run_cell(page, 3)
    page.locator(".jp-CodeCell").nth(3).locator(
        '.ffnviz-view [data-cell="maps"] canvas'
    ).first.wait_for()
    assert faults == []
    page.close()
