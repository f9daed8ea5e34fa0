"""Every part of every page on a sentence that nobody had in mind."""

import pytest
from playwright.sync_api import expect

from ffnviz.parts import PAGES
from ffnviz.parts.part import Page
from tests.browser.conftest import OpenPage
from tests.browser.test_parts import turned, views
from tests.parts.test_sparsity_sheets import percents

# Shorter and longer ones: tests/parts/test_any_sentence.py.
TEXT = '👩\u200d👩\u200d👧 <b>x</b> 你好 """\\{x}'
# Timing measures the same on any sentence; Learn says nothing before somebody trains.
SLOW = ("timing", "learn")


@pytest.mark.parametrize("page", [p for p in PAGES[1:] if p.name not in SLOW], ids=lambda p: p.name)
def test_every_part_draws_any_sentence(new_page: OpenPage, page: Page) -> None:
    journey = new_page()
    journey.page.goto(f"{journey.address}/{page.name}?words=2&block=1&twin=gelu&neuron=gelu-3")
    journey.page.locator(".row [aria-pressed]").first.wait_for()
    journey.box.fill(TEXT)
    journey.box.press("Enter")
    for part, view in views(page):
        turned(journey, page, part, view)
        expect(journey.page.get_by_test_id("stException")).to_have_count(0)
        heads = journey.page.locator(".sentence").all_inner_texts()
        assert heads, part.name
        for sentence in [*heads, *journey.page.locator(".verdicts li").all_inner_texts()]:
            assert "nan" not in sentence.split(), part.name
            if page.name == "vocabulary":
                assert all(0 <= share <= 100 for share in percents(sentence)), part.name
