"""What stands at the foot of a part: what comes next, and what the network knows."""

import json
from pathlib import Path

from safetensors import safe_open

from ffnviz.app.main import following, what_it_knows
from ffnviz.models.encoder.model import MODELS, load
from ffnviz.parts import PAGES
from tests.run_factory import run_of

TEXT = "The [MASK] sat."


def test_the_foot_leads_through_every_part_of_a_first_course() -> None:
    run = run_of(load("relu"), TEXT)
    page, part = PAGES[0], PAGES[0].parts[0]
    walked = [(page.name, part.name)]
    while (coming := following(page, part, run)) is not None:
        page, part = coming
        walked.append((page.name, part.name))
    pairs = [(page, part) for page in PAGES for part in page.parts]
    assert walked == [(page.name, part.name) for page, part in pairs if not part.further]
    assert 0 < len(pairs) - len(walked) < 5, "a first course passes over few parts"


def test_an_unknown_network_is_led_past_what_it_has_not(model_folder: Path) -> None:
    run = run_of(load(model_folder), TEXT)
    names = {part.name for page in PAGES for part in page.parts if part.missing(run)}
    assert "browse" in names
    page = next(page for page in PAGES if page.name == "sparsity")
    coming = following(page, page.part("keep"), run)
    assert coming is not None
    assert coming[1].name == "flow"


def test_what_a_twin_knows_is_computed_from_its_weights_and_its_record() -> None:
    model = load("gelu")
    told = " ".join(what_it_knows(run_of(model, TEXT)))
    with safe_open(str(MODELS / "gelu" / "weights.safetensors"), "pt") as weights:
        count = sum(weights.get_tensor(name).numel() for name in weights.keys())  # noqa: SIM118
    assert f"{count / 1e6:.1f} million weights" in told
    record = json.loads((MODELS / "gelu" / "training.json").read_text(encoding="utf-8"))
    assert f"{record['final']['tokens'] / 1e6:.1f} million tokens" in told


def test_of_an_unknown_network_nothing_is_claimed(model_folder: Path) -> None:
    assert what_it_knows(run_of(load(model_folder), TEXT)) == []
