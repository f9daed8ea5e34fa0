"""The Vocabulary page: the softmax, its cuts, writing on, the lens, the parts of a logit."""

import re

import pytest

from ffnviz.analysis.writing import Strategy, begin, write_word
from ffnviz.models.encoder.model import load
from ffnviz.parts.sheet import Measured, Measurement, Sheet, cells_of, resolved
from ffnviz.parts.vocabulary import generate
from ffnviz.state.actions import Set, ShowState
from ffnviz.state.settings import Values
from tests.parts.sheets import Drawn, drawn, words

SENTENCE = "She opened the [MASK] and looked out."


def part(name: str, text: str = SENTENCE, **query: str) -> Drawn:
    return drawn("vocabulary", name, True, text=text, **query)


def test_all_probabilities_sum_to_one_and_the_cuts_leave_what_counting_leaves() -> None:
    p = load("relu").trace(SENTENCE).logits_at(3).double().softmax(dim=-1)
    sentence = words(part("softmax").cells["distribution"])
    assert "8,192 probabilities sum to 1.000000" in sentence
    assert f"{float(-(p * p.log2()).sum()):.2f} bits" in sentence

    def cut(**query: str) -> str:
        return words(part("softmax", **query).cells["cut-words"])

    assert "nothing is cut: all 8,192 words stay" in cut()
    p = load("relu").trace(SENTENCE).logits_at(3).double().softmax(-1).sort(descending=True)[0]
    n = int((p.cumsum(dim=0) < 0.8).sum()) + 1
    assert f"the cut keeps {n:,} words" in cut(top_p="0.8")
    n = int((p[:5].cumsum(dim=0) / p[:5].sum() < 0.8).sum()) + 1
    assert f"the cut keeps {n:,} words" in cut(top_p="0.8", top_k="5")
    assert "the cut keeps 1 word" in cut(top_p="0.8", top_k="5", temperature="0.1")


def test_a_slider_stops_where_a_link_has_it_and_by_chance_the_seed_decides() -> None:
    slider = part("softmax", top_k="7").controls["top-k: keep the k likeliest"]
    assert (slider["stops"][slider["stop"]], slider["stops"][-1]) == ("7", "all")

    def picked(seed: str) -> str:
        made = part("softmax", temperature="3", pick="chance", seed=seed)
        assert made.controls["Seed"]["text"] == seed
        return words(made.cells["cut-words"]).partition("pick is ")[2]

    assert picked("11") == picked("11") != picked("12")
    assert "Seed" not in part("softmax").controls, "where nothing is left to chance"
    link = {"words": "8", "pick": "by chance", "top_k": "40"}
    one, other = (
        words(part("write", "The old man", seed=seed, **link).cells["written"]) for seed in "78"
    )
    assert one != other
    again = part("write", "The old man", seed="7", **link)
    assert words(again.cells["written"]) == one


def test_words_are_written_one_at_a_time_and_ten_at_once() -> None:
    model, text = load("relu"), "Once upon a [MASK]"
    expected = begin(model, text)
    for _ in range(11):
        expected = write_word(model, expected, Strategy(top_k=8_192))
    made = part("write", text, words="11", step="3")
    assert words(made.cells["written"]) == f"“Once upon a” {expected.written.strip()}"
    assert words(made.cells["step"]).startswith("Word 3")
    assert made.pressed("Write a word") == Set({"words": "12", "step": None})
    assert made.pressed("Write 10") == Set({"words": "21", "step": None})
    assert made.pressed("Start over") == Set({"words": "0", "step": None})
    assert made.pressed("Write 11") is None
    point = made.cells["written"].events["point"]
    assert (point(1), point(11)) == (Set({"step": "2"}), None)
    taken = made.pressed("Use as my sentence")
    assert isinstance(taken, ShowState)
    assert (taken.state.sentence, taken.state.token) == (expected.text, None)
    assert dict(taken.state.settings)["words"] == "0"


def test_nothing_is_written_after_starting_over_and_no_more_than_is_read() -> None:
    nothing = part("write", words="0")
    assert "Press “Write a word”" in nothing.said
    assert nothing.pressed("Start over") is nothing.pressed("Use as my sentence") is None
    full = part("write", words="20", text="The " * 120)
    assert "The network reads no more than this" in full.said
    assert full.pressed("Write a word") is full.pressed("Write 10") is None
    assert part("write", words="119", text="The").pressed("Write 10") == (
        Set({"words": "128", "step": None})
    )


def test_many_words_are_written_beside_the_page_once_they_are_asked_for() -> None:
    text, link = "Once upon a time", {"words": "25", "top_k": "40"}
    made = part("write", text, **link)
    assert list(made.cells) == ["soon-write"]
    assert made.controls["Write 25 words"]["kind"] == "measure"
    assert made.pressed("Use as my sentence") is None, "not written yet"
    written = begin(made.run.model, text)
    for _ in range(25):
        written = write_word(made.run.model, written, Strategy(top_k=40))
    (work,) = generate.sheet(made.run, Values(link)).rows
    assert isinstance(work, Measurement)
    of_others = Measured(("other",), written, "12:00:00", "a CPU")
    rows = resolved(Sheet([work]), lambda _: of_others).rows
    assert [cell.key for cell in cells_of(rows)] == ["soon-write"]
    (done,) = work.after(Measured(work.setup, written, "12:00:00", "a CPU"))
    assert [cell.key for cell in cells_of([done])] == ["written", "step"]
    assert made.pressed("Use as my sentence").state.sentence == written.text
    assert list(part("write", text, **link).cells) == ["written", "step"], "now it is at hand"
    told: list[float] = []
    (work,) = generate.sheet(made.run, Values({**link, "temperature": "0.9"})).rows
    assert isinstance(work, Measurement)
    assert work.work(made.run, told.append, *work.args).text == written.text
    assert told == sorted(told)


def test_the_lens_ends_at_the_prediction() -> None:
    model, cells = load("gelu"), part("lens", twin="gelu").cells
    best = model.tokenizer.label(int(model.trace(SENTENCE).logits_at(3).argmax()))
    assert f"first predicts “{best}” after" in words(cells["lens"])
    assert words(cells["followed"]).startswith(f"“{best}”")
    assert "rank 1 at the end" in words(cells["followed"])


@pytest.mark.parametrize("place", [0, 9])
def test_the_parts_sum_to_the_logit_for_every_word(place: int) -> None:
    model = load("relu")
    best = model.trace(SENTENCE).logits_at(3).topk(10)
    made = part("parts", parts_word=str(place))
    sentence = words(made.cells["parts"])
    name = model.tokenizer.label(int(best.indices[place]))
    assert f"the logit of “{name}”" in sentence
    summed, said = re.findall(r"(-?\d+\.\d{4})", sentence)
    assert float(summed) == pytest.approx(float(said), abs=2e-4)
    assert float(said) == pytest.approx(float(best.values[place]), abs=2e-4)
    assert made.controls["Word"]["options"][made.controls["Word"]["stop"]] == name
    moved = made.moved("parts_word", place)
    assert moved == (Set({"parts_word": str(place)}), True)
