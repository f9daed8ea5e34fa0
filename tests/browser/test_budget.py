"""What the Journey brings over the wire stays within its limits."""

from playwright.sync_api import Browser

from tests.browser.budget import LIMITS, counts


def test_nothing_brings_more_than_its_limit(browser: Browser, address: str) -> None:
    found = counts(browser, address)
    over = {name: found[name] for name, limit in LIMITS.items() if found[name] > limit}
    assert over == {}
    assert found["messages, sentence"] > 0
    assert found["messages, token"] > 0
