"""Our lecture's scenes as runs, without a session around them."""

import json
from collections.abc import Sequence
from functools import cache

import ffnviz.app.catalog
from ffnviz.lecture.chosen import BUILT_IN, lecture_file
from ffnviz.lecture.facts import computed
from ffnviz.lecture.lecture import Lecture, Scene
from ffnviz.pictures.wording import as_text
from ffnviz.state.run import Run
from ffnviz.state.run_factory import make_run
from ffnviz.state.state import Catalog, from_url


def scene_text(view: dict[str, str], question: Sequence[str] = (), **texts: str) -> str:
    """A scene as a lecture's file has it; a question, its options and the right one's number."""

    def lines(values: dict[str, str]) -> list[str]:
        return [f"{key} = {json.dumps(value)}" for key, value in values.items()]

    asked: list[str] = []
    if question:
        ask, *options, answer = question
        asked = ["[scene.question]", *lines({"ask": ask})]
        asked += [f"options = {json.dumps(options)}", f"answer = {answer}"]
    return "\n".join(["[[scene]]", *lines(texts), "[scene.view]", *lines(view), *asked, ""])


@cache
def catalog() -> Catalog:
    return ffnviz.app.catalog.build_catalog()


@cache
def lecture(name: str = "ffn") -> Lecture:
    return lecture_file(BUILT_IN[name], catalog())


def run_of_scene(scene: Scene) -> Run:
    return make_run(scene.state, "cpu", catalog().networks)


def shown(page: str, **query: str) -> Run:
    return make_run(from_url(page, query, catalog()), "cpu", catalog().networks)


def said(words: str, run: Run) -> str:
    return as_text(computed(words, run))


def share(percentage: str) -> float:
    """A share that is written in percent."""
    return float(percentage.removesuffix("%")) / 100
