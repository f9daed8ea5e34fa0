"""What stays moves to its place, a chosen token's way is played once, and calm is kept."""

from tests.browser.conftest import OpenPage
from tests.browser.journey import Journey

SENTENCE = "She opened the [MASK] and looked out."
RECORD = """() => {
  window.played = [];
  const animate = Element.prototype.animate;
  Element.prototype.animate = function (frames, options) {
    if (this.localName === "i") window.frames_of_bars = frames.flatMap(Object.keys);
    window.played.push([this.className || this.localName, options.duration + (options.delay ?? 0)]);
    return animate.call(this, frames, options);
  };
}"""
STAGES = """() => [...document.querySelector('[data-cell="ffn"]').shadowRoot
  .querySelectorAll("canvas")].map((canvas) => canvas.toDataURL())"""


def choose(journey: Journey, token: int) -> list[tuple[str, float]]:
    """What is played when a token is chosen, and when each ends, in milliseconds."""
    journey.page.evaluate(RECORD)
    journey.page.locator('[data-cell="chips"] .chip [aria-pressed]').nth(token).click()
    journey.settle()
    return [(name, end) for name, end in journey.page.evaluate("window.played")]


def test_a_chosen_token_is_played_once_and_the_picture_is_the_same_as_without(
    new_page: OpenPage,
) -> None:
    moving = new_page(moving=True).open(text=SENTENCE, token="4").settle()
    played = choose(moving, 1)
    stages = [end for name, end in played if name in ("grid", "fan")]
    assert len(stages) == 11, "six stages, and five steps between them"
    assert stages == sorted(stages)
    assert max(stages) <= 600
    assert all(end <= 200 for name, end in played if name not in ("grid", "fan"))
    calm = new_page().open(text=SENTENCE, token="4").settle()
    assert choose(calm, 1) == []
    assert calm.page.evaluate(STAGES) == moving.page.evaluate(STAGES)


def test_a_sentence_plays_nothing_but_rows_that_stay(new_page: OpenPage) -> None:
    journey = new_page(moving=True).open(text=SENTENCE).settle()
    journey.page.evaluate(RECORD)
    journey.box.fill("He opened the [MASK] and looked out.")
    journey.box.press("Enter")
    journey.wait_for("He opened the [MASK] and looked out.").settle()
    played = journey.page.evaluate("window.played")
    assert all(end <= 200 and name not in ("grid", "fan") for name, end in played)


def test_bars_get_to_their_length_within_a_fifth_of_a_second_without_a_layout(
    new_page: OpenPage,
) -> None:
    journey = new_page(moving=True).open(text=SENTENCE).settle()
    bars = [end for name, end in choose(journey, 1) if name == "i"]
    assert bars
    assert max(bars) <= 200
    moved = journey.page.evaluate("window.frames_of_bars")
    assert set(moved) == {"transform", "transformOrigin"}
