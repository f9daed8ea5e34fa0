"""What the canvases show: zeros are background, and nothing blinks."""

import numpy as np
import pytest

from ffnviz.models.encoder.model import Model
from tests.browser.conftest import OpenPage
from tests.browser.journey import Journey

SENTENCE = "It cost forty pounds."
BACKGROUND = {False: (255, 255, 255), True: (14, 17, 23)}

READ_PIXELS = """(canvas) => [...canvas.getContext("2d")
    .getImageData(0, 0, canvas.width, canvas.height).data]"""

# Notes in every animation frame whether the maps' canvases are the ones from before, and painted.
WATCH = """() => {
    const hosts = [...document.querySelectorAll("*")].filter((e) => e.shadowRoot);
    const mapsOf = (host) => [...host.shadowRoot.querySelectorAll("canvas[data-name]")];
    const find = () => hosts.flatMap(mapsOf);
    const first = find();
    window.blinks = [];
    window.frames = 0;
    const look = () => {
        window.frames += 1;
        const now = find();
        if (now.length !== 2 || now.some((c, i) => c !== first[i])) window.blinks.push("replaced");
        for (const canvas of now) {
            const row = canvas.getContext("2d").getImageData(0, 0, canvas.width, 1).data;
            if (row.every((v) => v === 0)) window.blinks.push("blank");
        }
        window.watching = requestAnimationFrame(look);
    };
    look();
}"""


def pixels(journey: Journey, stage: str) -> np.ndarray:
    """The colours of a stage's cells in the order of the weights, (n, 3)."""
    canvas = journey.page.locator(f'figure[data-stage="{stage}"] canvas')
    return np.array(canvas.evaluate(READ_PIXELS)).reshape(-1, 4)[:, :3]


@pytest.mark.parametrize("dark", [False, True])
def test_what_relu_cut_is_gone(new_page: OpenPage, twins: dict[str, Model], dark: bool) -> None:
    journey = new_page(dark=dark).open(
        text=SENTENCE, twin="relu", block="1", token="3", order="index"
    )
    ffn = twins["relu"].trace(SENTENCE).blocks[0].ffn
    is_background = (pixels(journey, "hidden") == BACKGROUND[dark]).all(axis=1)
    np.testing.assert_array_equal(is_background, ffn.hidden[2].numpy() == 0)
    # Before φ the same neurons were there to be seen.
    was_background = (pixels(journey, "pre") == BACKGROUND[dark]).all(axis=1)
    assert was_background.mean() < 0.01


def test_the_activation_maps_do_not_blink(new_page: OpenPage) -> None:
    journey = new_page().open(text=SENTENCE)
    journey.page.evaluate(WATCH)
    journey.box.fill("It cost fifty pounds and a penny.")
    journey.box.press("Enter")
    journey.wait_for("It cost fifty pounds and a penny.")
    assert journey.page.evaluate("window.frames") > 1
    assert journey.page.evaluate("window.blinks") == []


def test_the_pictures_follow_a_change_of_theme(new_page: OpenPage) -> None:
    journey = new_page(dark=False).open(text=SENTENCE, twin="relu", order="index")
    zeros = (pixels(journey, "hidden") == BACKGROUND[False]).all(axis=1)
    assert zeros.any()
    canvas = journey.page.locator('[data-stage="hidden"] canvas').element_handle()
    light = canvas.evaluate("(canvas) => canvas.toDataURL()")
    journey.page.emulate_media(color_scheme="dark")
    journey.page.wait_for_function(
        "([canvas, light]) => canvas.toDataURL() !== light", arg=[canvas, light]
    )
    repainted = (pixels(journey, "hidden") == BACKGROUND[True]).all(axis=1)
    np.testing.assert_array_equal(repainted, zeros)
