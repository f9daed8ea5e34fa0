"""docs/teach.md: each link opens what it names, each scene exists, each answer is right."""

import re
import tomllib
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
import torch

import ffnviz
from ffnviz.analysis.cost import Shape, overtaking_length
from ffnviz.app.catalog import build_catalog
from ffnviz.models.config import ASSETS
from ffnviz.parts import PAGES
from ffnviz.state.state import from_url

TEXT = (Path(__file__).parents[2] / "docs" / "teach.md").read_text(encoding="utf-8")
LINKS = re.findall(r"http://localhost:8501/(\w+)\?([^)]+)\)", TEXT)


@pytest.mark.parametrize(("page", "query"), LINKS)
def test_each_link_opens_the_part_and_the_view_that_it_names(page: str, query: str) -> None:
    asked = dict(parse_qsl(query))
    state = from_url(page, asked, build_catalog())
    (shown,) = [each for each in PAGES if each.name == page]
    part = shown.part(asked["part"])
    assert (state.page, state.part, part.name) == (page, asked["part"], asked["part"])
    settings = {each.name: each for each in part.settings}
    for name in asked.keys() - {"part"}:
        assert settings[name].text(settings[name].parse(asked[name])) == asked[name]


def _lecture(name: str) -> str:
    return (ASSETS / "lectures" / f"{name}.toml").read_text(encoding="utf-8")


def test_each_scene_exists() -> None:
    titles = {
        name: [scene["title"] for scene in tomllib.loads(_lecture(name))["scene"]]
        for name in ("ffn", "course")
    }
    for lecture, line in re.findall(r"\| (Lecture|Course), ([^|]+) \|", TEXT):
        name = "ffn" if lecture == "Lecture" else "course"
        named = re.findall("“([^”]+)”", line)
        assert named
        assert set(named) <= set(titles[name]), line


def test_the_answers_of_the_exam_questions_are_right() -> None:
    assert overtaking_length(Shape()) == 1_024
    assert "equal at n = 1,024" in TEXT
    ffn = ffnviz.load("relu").encoder.blocks[0].ffn
    product = ffn.compress.weight.detach().double() @ ffn.expand.weight.detach().double()
    assert int(torch.linalg.matrix_rank(product)) == 512
