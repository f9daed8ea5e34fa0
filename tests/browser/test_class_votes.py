"""A class votes on a misconception, sees the experiment, and votes again."""

from playwright.sync_api import expect

from tests.browser.journey import Journey
from tests.browser.test_class import Somebody, open_class, server, somebody

__all__ = ["server", "somebody"]  # fixtures


def led_to(page: str, part: str, somebody: Somebody) -> tuple[Journey, Journey, Journey]:
    """A lecturer there, with two students who follow, the first on a phone."""
    lecturer, anna, ben = somebody(), somebody(390, 844), somebody()
    code = open_class(lecturer)
    for student in (anna, ben):
        student.page.goto(f"{student.address}/class/{code}")
    expect(lecturer.text("2 follow")).to_be_visible()
    lecturer.page.get_by_role("link", name=page).click()
    lecturer.page.get_by_role("radio", name=part).click()
    return lecturer, anna, ben


def test_a_class_votes_twice_and_sees_its_gain(somebody: Somebody) -> None:
    lecturer, anna, ben = led_to("Exercises", "Predict, see, vote", somebody)
    pages = [each.page for each in (lecturer, anna, ben)]
    options = [page.locator('[data-cell="vote"] .options button') for page in pages]
    for each in options:
        expect(each).to_have_count(3)
    says = [page.locator('[data-cell="vote"] .status') for page in pages]

    options[1].nth(1).click()
    options[2].nth(0).click()
    expect(says[0]).to_have_text("2 votes.")
    expect(says[1]).to_contain_text("Your vote is in")
    expect(options[1].first.locator("small")).to_have_text("")
    lecturer.page.get_by_role("button", name="See the experiment").click()
    for page in pages:
        expect(page.get_by_text("The experiment", exact=True)).to_be_visible()
    for each in options[1:]:
        each.nth(0).click()
    expect(says[0]).to_have_text("2 votes.")
    lecturer.page.get_by_role("button", name="Show the answer").click()
    for each in options:
        expect(each.nth(0).locator("small")).to_have_text("1 → 2")
    expect(says[1]).to_have_text("Right this time. What changed your mind?")
    expect(says[2]).to_have_text("Right, both times.")
    lecturer.page.locator("summary", has_text="Before, after").click()
    total = lecturer.page.locator(".gains .total")
    expect(total).to_contain_text("50% right before, 100% after; gain 1.00")

    # A lecturer whose page is loaded again has what was voted on before.
    lecturer.page.get_by_role("button", name="Next question").click()
    expect(lecturer.page.locator('[data-cell="vote"] .sentence')).to_contain_text("Question 2 of")
    lecturer.page.reload()
    expect(lecturer.text("2 follow")).to_be_visible()
    for name in ("See the experiment", "Show the answer"):
        for page in (anna.page, ben.page):
            expect(page.locator('[data-cell="vote"] .sentence')).to_contain_text("Question 2 of")
            page.locator('[data-cell="vote"] .options button').first.click()
        expect(says[0]).to_have_text("2 votes.")
        lecturer.page.get_by_role("button", name=name).click()
        for page in (anna.page, ben.page):
            expect(page.get_by_text("The experiment", exact=True)).to_be_visible()
    lecturer.page.locator("summary", has_text="Before, after").click()
    expect(total).to_contain_text("2 questions: ")


def test_a_class_bets_before_two_networks_are_trained(somebody: Somebody) -> None:
    lecturer, anna, ben = led_to("Learn", "a bet on two", somebody)
    pages = [each.page for each in (lecturer, anna, ben)]
    options = [page.locator('[data-cell="bet-placed"] .options button') for page in pages]
    says = [page.locator('[data-cell="bet-placed"] .status') for page in pages]
    for each in options:
        expect(each).to_have_count(3)
    options[1].nth(0).click()
    options[2].nth(0).click()
    options[2].nth(2).click()  # changed
    expect(says[2]).to_contain_text("Your bet is in")
    expect(says[0]).to_have_text("2 bets of the class.")
    expect(options[0].nth(0).locator("small")).to_have_text("")  # or all would bet with the most
    train = lecturer.page.get_by_role("button", name="Train both")
    expect(train).to_be_disabled()
    options[0].nth(1).click()
    train.click()
    for each in options:
        expect(each.locator("small")).to_have_text(["1", "0", "1"])
        expect(each.nth(0)).to_be_disabled()
    lecturer.page.get_by_role("button", name="Cancel").click()
