"""The ways to write the FFN, as their page shows them."""

from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.journey import Journey

SENTENCE = "The cat sat on the mat."


def measured(new_page: OpenPage, page: str, **query: str) -> Journey:
    """The page with its first measurement, which waits for no press."""
    journey = new_page()
    given = "&".join(f"{name}={value}" for name, value in query.items())
    journey.page.goto(f"{journey.address}/{page}?text={SENTENCE}&{given}")
    journey.page.locator("figure[data-painted]").first.wait_for()
    return journey.settle()


def test_each_way_to_write_it_is_shown_and_run(new_page: OpenPage) -> None:
    journey = measured(new_page, "dimensions", part="forms")
    n = journey.chips.count()
    assert f"({n}, 512) → ({n}, 2,048) → ({n}, 512)" in journey.sentence("forms")
    for name, shapes, code in (
        ("columns", f"(512, {n}) → (2,048, {n}) → (512, {n})", "W2.T @ torch.relu(z)"),
        ("NumPy", f"({n}, 512) → ({n}, 2,048) → ({n}, 512)", "np.maximum(z, 0)"),
        ("a batch of 32", "(32, 128, 512) → (32, 128, 2,048) → (32, 128, 512)", "torch.randn(32"),
    ):
        journey.page.get_by_role("radio", name=name).click()
        journey.settle()
        assert shapes in journey.sentence("forms")
        expect(journey.page.locator('[data-kind="code"]')).to_contain_text(code)
    assert journey.query()["form"] == "batch"
