"""The experiments behind the twelve questions, against the Lab and against sums by hand."""

import pytest
import torch

from ffnviz.analysis.cost import multiply_adds, shape_of
from ffnviz.analysis.lab.experiment import Subject
from ffnviz.analysis.lab.linearity import try_linearity
from ffnviz.analysis.lab.positions import try_positions
from ffnviz.models.encoder.model import load
from ffnviz.parts.exercises import predict
from ffnviz.parts.exercises.predict import QUESTIONS, Evidence

TEXT = "She opened the [MASK] and looked out."
RIGHT = (0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 1)  # as the textbooks cited have it


@pytest.fixture(scope="module", params=["relu", "gelu"])
def subject(request: pytest.FixtureRequest) -> Subject:
    model = load(request.param)
    return Subject(model, model.trace(TEXT), 1, 3)


@pytest.fixture(scope="module")
def found(subject: Subject) -> dict[str, Evidence]:
    return {each.name: each.see(subject) for each in QUESTIONS}


def test_the_numbers_choose_what_the_textbooks_say(found: dict[str, Evidence]) -> None:
    assert tuple(found[each.name].answer for each in QUESTIONS) == RIGHT
    assert len(QUESTIONS) == len({each.name for each in QUESTIONS}) == 12


def test_the_lab_agrees(subject: Subject, found: dict[str, Evidence]) -> None:
    tried = {each.name: each for each in try_linearity(subject).tried}
    off = torch.tensor([share or 0 for _, _, share in found["attention"].rows])
    assert off[1] / off[0] < 1e-9
    assert not tried["attention"].check.passed
    assert tried["attention, its shares held"].check.passed
    assert float(found["attention"].rows[0][1]) == pytest.approx(
        tried["attention"].scaling, rel=0.05
    )
    positions = try_positions(subject)
    apart = ~torch.eye(len(positions.ffn), dtype=torch.bool).numpy()
    assert positions.ffn[apart].max() == 0
    assert found["tokens"].rows[1][1] == "0"
    assert positions.attention is not None
    assert found["tokens"].rows[2][1] != "0"


def test_counts_by_hand(subject: Subject, found: dict[str, Evidence]) -> None:
    hidden = subject.trace.blocks[1].ffn.hidden
    limit = 0.0 if subject.model.card.id == "relu" else 0.1
    here = [n for n in range(2_048) if abs(float(hidden[3, n])) > limit]
    assert found["words"].rows[0][1] == f"{len(here):,} of 2,048"
    elsewhere = {
        n for t in range(len(hidden)) if t != 3 for n in here if abs(float(hidden[t, n])) > limit
    }
    assert found["words"].rows[1][1] == f"{len(elsewhere):,}"
    silent = set(range(2_048)) - set(here)
    waked = {int(n) for t in range(len(hidden)) for n in (hidden[t].abs() > limit).nonzero()}
    assert found["dead"].rows[1][1] == f"{len(silent - waked):,}"
    work = multiply_adds(shape_of(subject.ours.encoder.config, len(hidden)))
    share = work["FFN"] / (work["FFN"] + work["attention"])
    assert found["work"].rows[1][1] == f"{share:.0%}"


def test_exact_gelu_is_the_usual_one_where_that_does_not_round() -> None:
    z = torch.linspace(-5, 5, 101, dtype=torch.float64)
    exact = z * torch.special.log_ndtr(z).exp()
    assert torch.allclose(exact, torch.nn.GELU()(z), atol=1e-12)
    far = torch.tensor(-20.0, dtype=torch.float64)
    assert float(far * torch.special.log_ndtr(far).exp()) < 0


def test_a_planted_fault_flips_the_answer(subject: Subject) -> None:
    """An FFN that lets tokens hear one another is found out, as is one whose φ is gone."""

    class Leaks(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> object:
            return subject.ffn(x + x.mean(dim=0, keepdim=True))

    own, others = predict._when_replaced(Leaks(), subject.ffn_input, 3)  # type: ignore[arg-type]
    assert own > 0
    assert others > 0
