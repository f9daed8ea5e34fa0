"""What a network needs: what the page says as long as trainings are missing, and then."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from ffnviz.analysis.lab import trained as analysis
from ffnviz.analysis.lab.trained import QUESTIONS
from ffnviz.analysis.trainings import FAMILIES, SEEDS, Row
from tests.analysis.trainings.rows import ROW
from tests.parts.sheets import Drawn, drawn, words


def shown(monkeypatch: pytest.MonkeyPatch, rows: Sequence[Row]) -> Drawn:
    monkeypatch.setattr(analysis, "trainings", lambda: tuple(rows))
    return drawn("lab", "trained", text="The cat sat.")


def trainings_of(seeds: int, no_ffn: float) -> list[Row]:
    """All variants alike but for those without FFNs, which lose more by so much."""
    return [
        replace(ROW, variant=name, seed=seed, loss=2.5 + 0.001 * (seed + place) % 0.003
                + no_ffn * (name == "no-ffn"))
        for place, name in enumerate(FAMILIES[0]) for seed in range(seeds)
    ]  # fmt: skip


def test_with_some_seeds_it_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    found = shown(monkeypatch, trainings_of(3, 0.2))
    assert f"3 of {SEEDS} seeds done, too few to decide" in words(found.cells["lab-trainings"])
    verdicts = found.cells["verdicts-lab-trained"].data["groups"][0][1]
    assert len(verdicts) == sum(q.variant in FAMILIES[0] for q in QUESTIONS)
    assert {each["kind"] for each in verdicts} == {"undecided"}


@pytest.mark.parametrize(("no_ffn", "says", "kind"), [
    (0.2, "0.200 nats higher", "holds"), (-0.2, "0.200 nats lower", "fails"),
])  # fmt: skip
def test_with_all_seeds_it_says_which_way_and_where(
    monkeypatch: pytest.MonkeyPatch, no_ffn: float, says: str, kind: str
) -> None:
    found = shown(monkeypatch, trainings_of(SEEDS, no_ffn))
    sentence = words(found.cells["lab-trainings"])
    assert f"Without FFNs: the loss is {says} than with the usual network" in sentence
    assert "at d_model 64 on everyday sentences, after 16,000 steps, with 8 seeds" in sentence
    first = found.cells["verdicts-lab-trained"].data["groups"][0][1][0]
    assert (first["claim"], first["kind"]) == (QUESTIONS[0].claim, kind)
