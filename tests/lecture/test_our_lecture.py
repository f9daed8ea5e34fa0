"""The built-in lectures: each scene can be shown, and answers are what the networks compute."""

import re
from dataclasses import replace

import numpy as np
import pytest

from ffnviz.analysis.lab.linearity import try_linearity
from ffnviz.analysis.prediction import predict
from ffnviz.app.lecture.story import scene_data
from ffnviz.lecture.lecture import Scene
from ffnviz.parts import PAGES
from ffnviz.parts.experiments import cached_result
from ffnviz.parts.neurons.fact import locate
from ffnviz.parts.sparsity.keep import kept_at, strongest_pass
from ffnviz.pictures.wording import as_text
from ffnviz.state.run import Run
from ffnviz.state.state import ViewOptions
from tests.lecture.lecture_runs import lecture, run_of_scene, said, share, shown

SCENES = {scene.title: scene for scene in lecture().scenes}
COURSE = {scene.title: scene for scene in lecture("course").scenes}
WORDS = 160  # a minute is so many, spoken slowly


def all_said(scene: Scene, run: Run) -> list[str]:
    ask = scene.question.ask if scene.question else ""
    return [said(words, run) for words in (scene.say, scene.notes, ask)]


def fact(scene: Scene, name: str) -> str:
    return said(f"{{{name}}}", run_of_scene(scene))


def share_anywhere(scene: Scene) -> float:
    """The share of a block's neurons that at least one token activates."""
    counts = [int(fact(scene, name).replace(",", "")) for name in ("awake_anywhere", "d_ff")]
    return counts[0] / counts[1]


@pytest.mark.parametrize(
    "scene", [*SCENES.values(), *COURSE.values()], ids=lambda scene: scene.title
)
def test_a_scene_can_be_shown_and_all_its_numbers_are_there(scene: Scene) -> None:
    run = run_of_scene(scene)
    page = next(page for page in PAGES if page.name == scene.state.page)
    assert not page.part(scene.state.part).missing(run)
    for text in all_said(scene, run):
        assert "–" not in text
        assert "{" not in text
    assert len(said(scene.say, run).split()) <= 50, "it is said in one breath or two"


def test_all_is_said_of_a_sentence_of_one_token_too() -> None:
    run = shown("journey", text="a", neuron="relu-475")
    assert said("{tokens}", run) == "1"
    for scene in (*SCENES.values(), *COURSE.values()):
        for text in all_said(scene, run):
            assert not re.search(r"(?<![\d.,])1 (tokens|neurons|blocks|words)\b", text)


def test_a_neuron_that_is_shown_at_a_token_fires_there() -> None:
    looked_at = [s for s in SCENES.values() if s.state.neuron and s.state.page == "neurons"]
    assert any(scene.state.token is not None for scene in looked_at)
    for scene in looked_at:
        run = run_of_scene(scene)
        hidden = run.trace.blocks[run.state.block].ffn.hidden
        values = hidden[:, scene.state.neuron.index]  # type: ignore[union-attr]
        if scene.state.token is not None:
            assert int(values.argmax()) == run.token
            assert float(values[run.token]) > 1, "not by a hair"


def answer_of(title: str) -> int:
    question = SCENES[title].question
    assert question is not None
    return question.answer


def test_every_answer_is_what_is_computed() -> None:
    scene = SCENES["A word is missing"]
    assert scene.question is not None
    assert f"“{scene.question.options[answer_of(scene.title)]}”" == fact(scene, "says")
    scene = SCENES["Without the FFNs, without φ"]
    moved = [float(fact(scene, n).removesuffix(" nats")) for n in ("no_ffns_nats", "no_phi_nats")]
    assert answer_of(scene.title) == int(moved[1] > moved[0])
    assert fact(scene, "no_ffns") != fact(scene, "says")
    assert float(fact(scene, "no_phi_times")) > 2
    assert float(fact(scene, "no_phi_cosine").replace("−", "-")) < 0.5, "“in another direction”"
    scene = SCENES["How many are left?"]
    anywhere = share_anywhere(scene)
    assert answer_of(scene.title) == [anywhere > 0.9, 0.45 < anywhere < 0.55, 0.2 < anywhere < 0.3,
                                      anywhere < 0.1].index(True)  # fmt: skip
    scene = SCENES["Make it narrow: W₂"]
    run = run_of_scene(scene)
    strongest = strongest_pass(run.model, run.trace, run.state.block, 102)
    few = kept_at(run.model, strongest, run.token).prediction
    whole = predict(run.model, run.trace, run.token)
    assert answer_of(scene.title) == 0
    assert few.words[:3] == whole.words[:3]
    assert 0.1 < whole.probabilities[0] - few.probabilities[0] < 0.2, "“a little less surely”"
    scene = SCENES["Without this FFN"]
    assert answer_of(scene.title) == int(fact(scene, "without_ffn") != fact(scene, "says"))
    scene = SCENES["Why so few are active"]
    assert answer_of(scene.title) == int(0.4 < share(fact(scene, "born_from")) < 0.6)
    scene = SCENES["Where is the fact?"]
    found = locate(run_of_scene(scene), lambda _: None)
    assert fact(scene, "carriers") == str(len(found.neurons))
    assert fact(scene, "says_without_carriers") == f"“{found.without.words[0].strip()}”"
    assert found.taken
    assert answer_of(scene.title) == 0
    assert 15 <= len(found.neurons) <= 30, "“about 20”"
    assert found.kept > 0.95 * found.known, "“nearly all”"
    here = found.alone[:, :, run_of_scene(scene).token]
    assert here[0, 0] == found.alone.min() < here[1, 1], "“even more than the last FFN”"
    other = run_of_scene(replace(scene, state=replace(scene.state, network="gelu")))
    assert len(locate(other, lambda _: None).neurons) < len(found.neurons), "“with GELU fewer”"
    scene = SCENES["Cost"]
    assert answer_of(scene.title) == int(share(fact(scene, "ffn_of_block")) > 0.5)
    scene = SCENES["Is everything else linear?"]
    tried = cached_result(run_of_scene(scene), "linearity", try_linearity).tried
    straight = {each.name for each in tried if each.check.passed}
    assert answer_of(scene.title) == int(not {"attention", "LayerNorm"} & straight)
    assert straight == {"FFN without φ", "attention, its shares held",
                        "LayerNorm, its divisor held",
                        "all before the FFN, both held"}  # fmt: skip


def test_words_and_sentences_are_of_what_the_scene_shows() -> None:
    ours, place = lecture(), list(SCENES).index("Bend it: φ")
    scene = SCENES["Bend it: φ"]
    typed = replace(scene.state, sentence="It cost forty [MASK].")
    other = replace(scene.state, network="gelu")
    for state, here in ((scene.state, True), (typed, True), (other, False)):
        run = run_of_scene(replace(scene, state=state))
        shown = scene_data(ours, place, ViewOptions(place), run)
        assert bool(shown.say) == bool(shown.question) == bool(shown.look) == here
    for place, scene in enumerate(ours.scenes):
        shown = scene_data(ours, place, ViewOptions(place, presenting=True), run_of_scene(scene))
        words = as_text(shown.say)
        assert (scene.state.sentence in words) != (shown.sentence == scene.state.sentence)


def test_lectures_fit_their_minutes_and_the_shorter_path_is_a_story_of_its_own() -> None:
    ours = lecture()
    path = ours.path(short=True)
    assert path[0] == 0
    assert 8 <= len(path) < len(ours.scenes)
    texts = [said(ours.scenes[place].say, run_of_scene(ours.scenes[place])) for place in path]
    assert sum(len(text.split()) for text in texts) / WORDS < ours.short_minutes / 2
    assert 15 <= len(ours.scenes) <= 20
    for place in ours.path(short=True):
        assert "10⁻" not in said(ours.scenes[place].say, run_of_scene(ours.scenes[place]))
    course = lecture("course")
    texts = [said(scene.say, run_of_scene(scene)) for scene in course.scenes]
    assert sum(len(text.split()) for text in texts) / WORDS < course.minutes / 2
    asked = [place for place, scene in enumerate(course.scenes) if scene.question is not None]
    thirds = {3 * place // len(course.scenes) for place in asked}
    assert thirds == {0, 1, 2}


def test_every_answer_of_the_course_is_what_is_computed() -> None:
    def is_answer(scene: Scene, wanted: str) -> bool:
        question = scene.question
        return question is not None and question.options[question.answer] == wanted

    scene = COURSE["Why a Transformer"]
    assert is_answer(scene, fact(scene, "says").strip("“”"))
    scene = COURSE["What it costs"]
    assert is_answer(scene, "Two thirds")
    assert 0.6 < share(fact(scene, "ffn_of_block")) < 0.7
    scene = COURSE["What width buys"]
    weights = run_of_scene(scene).model.ffn(0).keys.double().cpu().numpy()
    assert is_answer(scene, f"At most {np.linalg.matrix_rank(weights):,}")
    scene = COURSE["How few are active"]
    assert is_answer(scene, "A third")
    assert 0.28 < share_anywhere(scene) < 0.38
    scene = COURSE["Who said it"]
    assert is_answer(scene, "Another word wins")
    assert fact(scene, "without_ffn") != fact(scene, "says")
    says, without = (share(fact(scene, n)) for n in ("says_share", "says_share_without_ffn"))
    assert without < says
