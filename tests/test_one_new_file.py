"""What docs/add.md calls one file is one: added to a copy of the package, it is there."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
SEEN = """
import json
import ffnviz.app.catalog
from ffnviz.app.lecture.editor import numbers_of
from ffnviz.export.runs import cells_shown
from ffnviz.lecture.facts import computed
from ffnviz.models.activations import ACTIVATIONS
from ffnviz.parts.lab import fit
from ffnviz.parts.sparsity import PARTS
from ffnviz.pictures.wording import as_text
from ffnviz.state.run_factory import make_run
from ffnviz.state.state import from_url

catalog = ffnviz.app.catalog.build_catalog()
state = from_url("lab", {"text": "It cost forty pounds.", "part": "zoo"}, catalog)
run = make_run(state, "cpu", catalog.networks)
part = PARTS[0]
shown = cells_shown(part, state, lambda state: make_run(state, "cpu", catalog.networks), catalog)
print(json.dumps({
    "package": ffnviz.__file__,
    "pictures": [repr(picture.data) for picture in shown],
    "functions to fit": dict(fit.PHI.options),
    "numbers": {choice.name: choice.meaning for choice in numbers_of(None)},
    "said": as_text(computed("{hidden_norm}", run)),
    "norm": float(run.trace.blocks[state.block].ffn.hidden[run.token].double().norm()),
}))
"""


def diffs() -> dict[str, str]:
    """The document's diffs: a file's name, and what is added at its end."""
    text = (ROOT / "docs" / "add.md").read_text(encoding="utf-8")
    added = {}
    for block in text.split("```diff\n")[1:]:
        head, *lines = block.split("```")[0].splitlines()
        assert head.startswith("+++ b/")
        assert all(line.startswith("+") for line in lines)
        added[head.removeprefix("+++ b/")] = "".join(f"{line[1:]}\n" for line in lines)
    return added


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    top = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "ffnviz", top / "ffnviz", ignore=shutil.ignore_patterns("__pycache__"))
    (top / "assets").symlink_to(ROOT / "assets")
    for name, text in diffs().items():
        with (top / name).open("a", encoding="utf-8") as file:
            file.write(text)
    done = subprocess.run(
        [sys.executable, "-c", SEEN], cwd=top, env={**os.environ, "PYTHONPATH": str(top)},
        capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert Path(told["package"]).is_relative_to(top)
    return told


def test_each_is_one_file() -> None:
    assert [Path(name).parts[1:3] for name in diffs()] == [
        ("lecture", "facts"), ("models", "activations"), ("analysis", "lab"),
    ]  # fmt: skip
    for name, text in diffs().items():
        lint = ["ruff", "check", "--quiet", "--stdin-filename", name, "-"]
        whole = (ROOT / name).read_text(encoding="utf-8") if (ROOT / name).exists() else ""
        subprocess.run([sys.executable, "-m", *lint], input=whole + text, text=True, check=True,
                       encoding="utf-8", cwd=ROOT)  # fmt: skip


def test_a_new_activation_claim_and_fact_are_on_the_page(seen: dict[str, Any]) -> None:
    assert seen["functions to fit"]["softplus"] == "softplus"
    assert any("'name': 'softplus'" in picture for picture in seen["pictures"])
    assert any("No activation function is steeper than 1." in each for each in seen["pictures"])
    assert seen["numbers"]["hidden_norm"] == "The norm of the hidden layer on the chosen token"
    assert float(seen["said"]) == pytest.approx(seen["norm"], abs=0.06)
