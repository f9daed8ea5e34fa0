"""Features on their view: what is drawn is what the equations say, and a click leads on."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import ffnviz
from ffnviz.analysis.neurons.probes import read_probes
from ffnviz.cli import main
from ffnviz.cli.app_checks import look_at_sae, opened_paths
from ffnviz.models.config import Config, use
from ffnviz.models.encoder.model import load
from ffnviz.models.sae import SaeError
from ffnviz.parts.neurons import features
from ffnviz.parts.sheet import Measured
from ffnviz.state.actions import ChooseBlock, ChooseToken, Set
from tests.analysis.features.folders import drawn as weights
from tests.analysis.features.folders import encoded, saved
from tests.parts.sheets import Drawn, drawn, words
from tests.parts.visits import TEXT

TOLD: dict[str, Any] = {"architecture": "topk", "k": 5}


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    both = [
        saved(tmp_path / "mlp-50", weights("topk", 512, 50), "blocks.1.hook_mlp_out", **TOLD),
        saved(tmp_path / "res-60", weights("topk", 512, 60), "blocks.1.hook_resid_post", **TOLD),
    ]
    use(Config(saes=tuple(("relu", folder) for folder in both)))
    return both


def test_a_dictionary_behind_a_token_of_its_own_says_so(tmp_path: Path) -> None:
    folder = saved(tmp_path / "behind", weights("topk", 512, 50), "blocks.1.hook_mlp_out", **TOLD,
                   prepend_bos=True)  # fmt: skip
    use(Config(saes=(("relu", folder),)))
    assert "behind was trained on texts that begin with a special token" in shown().said


def shown(**query: Any) -> Drawn:
    return drawn("neurons", "wakes", activations_view="features", text=TEXT, block="2", **query)


def test_the_tokens_strongest_features_are_drawn(folders: list[Path]) -> None:
    view = shown()
    x = load("relu").trace(TEXT).blocks[1].ffn.output.double().numpy()
    values, reconstruction = encoded(x, weights("topk", 512, 50), TOLD)
    token = view.run.token
    best = np.argsort(-values[token])[:5]
    panel = view.cells["strongest-features"].data["panels"][0]
    assert panel["ids"] == best.tolist()
    np.testing.assert_allclose(panel["values"], values[token][best], rtol=1e-4)
    assert "5 of 50 features of mlp-50 are active" in words(view.cells["strongest-features"])
    click = view.cells["strongest-features"].events["point"]
    assert click(int(best[2])) == Set({"feature": str(best[2])})
    assert click(50) is None
    feature = int(best[0])
    fires = values[:, feature] > 0
    said = words(view.cells["feature-values"])
    assert f"Feature {feature} is active on {fires.sum()} of {len(fires)} tokens" in said
    assert f"{values[:, feature].max():.2f}" in said
    assert view.cells["feature-values"].events["point"](1) == ChooseToken(1)
    missed = np.linalg.norm(x - reconstruction, axis=1) / np.linalg.norm(x, axis=1)
    assert f"misses {missed[token]:.0%} of x" in words(view.cells["missed"])
    model = load("relu")
    told = ffnviz.sae_error(model, TEXT, ffnviz.read_sae(folders[0]), token=token)
    assert f"{told.unexplained:.0%} of the variance" in words(view.cells["missed"])
    assert f"{told.divergence:.3g} nats" in words(view.cells["missed"])
    assert f"it would move by {told.without:.3g}" in words(view.cells["missed"])


def test_a_feature_and_a_dictionary_can_be_chosen(folders: list[Path]) -> None:
    view = shown(dictionary="res-60", feature="7")
    assert "of res-60 are active" in view.said
    promoted, suppressed = ffnviz.sae_words(
        load("relu"), ffnviz.read_sae(folders[1]), 7, features.WORDS
    )
    panels = view.cells["feature-words"].data["panels"]
    assert panels[0]["names"] == list(promoted.words)
    assert panels[1]["names"] == list(suppressed.words)
    assert view.controls["Feature"]["text"] == "7"
    assert view.controls["Dictionary"]["stop"] == 1
    far = shown(dictionary="gone", feature="60")
    assert "of mlp-50 are active" in far.said


def test_its_strongest_examples_come_when_asked_for(
    folders: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    read = [probe for probe in read_probes() if len(probe.text) < 30][:20]
    monkeypatch.setattr(features, "read_probes", lambda: read)
    run = shown().run
    told: list[float] = []
    measurement = features.its_examples(run, folders[0], 3)
    result = measurement.work(run, told.append, *measurement.args)
    assert told[-1] == 1
    (cell,) = measurement.after(Measured(measurement.setup, result, "", ""))
    model = load("relu")
    best = {}
    for probe in read:
        x = model.trace(probe.text).blocks[1].ffn.output.double().numpy()
        best[probe.text] = encoded(x, weights("topk", 512, 50), TOLD)[0][:, 3].max()
    rows = cell.data["rows"]
    ranked = sorted((value for value in best.values() if value > 0), reverse=True)[:12]
    assert [row[0] for row in rows] == [f"{value:.2f}" for value in ranked]
    for value, *parts in rows:
        assert f"{best[''.join(parts)]:.2f}" == value


def test_another_block_leads_to_the_dictionarys(folders: list[Path]) -> None:
    view = drawn("neurons", "wakes", activations_view="features", text=TEXT, block="1")
    assert "no feature dictionary for block 1" in view.said
    assert view.pressed("Go to block 2") == ChooseBlock(1)
    (folders[0] / "cfg.json").unlink()
    features._opened.cache_clear()
    assert "cannot be read" in shown().said


def test_without_a_dictionary_there_is_no_such_view() -> None:
    view = shown()
    why = "“features” cannot be shown for this network. There is no feature dictionary"
    assert why in view.said
    assert not re.search("features", str(view.controls["Show"]["options"]))


def test_the_command_says_what_is_in_a_folder_and_for_which_network(folders: list[Path]) -> None:
    asked = f"gelu={folders[0]}"
    found, (line,) = opened_paths("--sae", (asked,), look_at_sae)
    assert found == (("gelu", folders[0]),)
    assert "50 features in" in line
    assert "(topk), of what the FFN writes, block 2" in line


@pytest.mark.parametrize(
    ("network", "d_in", "why"),
    [("", 512, "fits relu, gelu. Say which is meant: --sae relu="), ("gpt2=", 512, "no “gpt2”"),
     ("", 64, "vectors of 64 components"), ("gelu=", 64, "vectors of 64 components")],
)  # fmt: skip
def test_the_command_refuses_what_it_cannot_show(
    network: str, d_in: int, why: str, tmp_path: Path
) -> None:
    folder = saved(tmp_path / "a", weights("standard", d_in, 9), "blocks.1.hook_mlp_out")
    done = CliRunner().invoke(main, ["app", "--port", "8694", "--sae", f"{network}{folder}"])
    assert done.exit_code == 1
    assert why in " ".join(done.output.split())
    with pytest.raises(SaeError):
        ffnviz.read_sae(tmp_path)
