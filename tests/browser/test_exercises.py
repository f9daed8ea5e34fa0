"""The exercises are done by keyboard and by finger; how large what it presses is: test_parts.py."""

import random
import re

import numpy as np
from playwright.sync_api import Locator, Page, expect

from ffnviz.analysis.by_hand import small_ffn
from ffnviz.parts.exercises.by_hand import backward
from tests.browser.conftest import OpenPage
from tests.browser.journey import Journey, box_of, download


def opened(journey: Journey, query: str) -> Page:
    journey.page.goto(f"{journey.address}/exercises?{query}")
    return journey.page


def gaps(page: Page) -> Locator:
    return page.locator('[data-cell="by-hand"] .gap input')


def said(page: Page, name: str) -> Locator:
    at = [f"{v}{i}" for v, n in (("z", 3), ("h", 3), ("y", 2)) for i in range(1, n + 1)].index(name)
    return page.locator(f'[data-cell="by-hand"] #said-{at}')


def test_by_hand_with_the_keyboard(new_page: OpenPage) -> None:
    ffn = small_ffn(4)
    page = opened(new_page(), "hand_seed=4")
    gaps(page).first.focus()
    page.keyboard.type(str(ffn.z[0] - ffn.b1[0]))  # the bias is forgotten
    expect(said(page, "z1")).to_contain_text("Bias:")
    page.keyboard.press("Control+a")
    page.keyboard.type(str(ffn.z[0] - 2 * ffn.x[0] * ffn.w1[0, 0]))
    expect(said(page, "z1")).to_contain_text("Sign:")
    page.keyboard.press("Enter")
    page.keyboard.type("0")  # ReLU too early: of seed 4 the second is below zero
    assert ffn.z[1] < 0
    expect(said(page, "z2")).to_contain_text("φ:")
    # What follows from a wrong number is told apart from what is wrong by itself.
    page.locator("#gap-3").fill(str(max(0, ffn.z[0] - 2 * ffn.x[0] * ffn.w1[0, 0])))
    if ffn.z[0] - 2 * ffn.x[0] * ffn.w1[0, 0] > 0:
        expect(said(page, "h1")).to_contain_text("Right for your z₁")
    gaps(page).first.focus()
    for value in (*ffn.z, *ffn.h, *ffn.y):
        page.keyboard.press("Control+a")
        page.keyboard.type(str(value).replace("-", "−"))  # as a phone may write it
        page.keyboard.press("Enter")
    expect(page.locator('[data-cell="by-hand"] .done')).to_have_text("All 8 right.")
    expect(page).to_have_url(
        re.compile("typed=[0-9a-f]{8}_" + "_".join(str(n) for n in (*ffn.z, *ffn.h, *ffn.y)))
    )
    page.reload()
    expect(page.locator('[data-cell="by-hand"] .done')).to_have_text("All 8 right.")
    page.get_by_role("button", name="Another").click()
    expect(page).to_have_url(re.compile("hand_seed=5"))
    expect(page.locator('[data-cell="by-hand"] .done')).to_have_text("0 of 8 right.")
    expect(page.get_by_role("button", name="Another")).to_be_hidden()


def test_what_is_no_number_stays_until_another_exercise(new_page: OpenPage) -> None:
    journey = new_page()
    page = opened(journey, "hand_seed=4")
    gaps(page).first.fill("one")
    gaps(page).nth(1).fill("2")
    expect(said(page, "z1")).to_have_text("Type a number, such as −3 or 0.5.")
    expect(page).to_have_url(re.compile("typed=[0-9a-f]{8}__2"))
    journey.settle()
    expect(gaps(page).first).to_have_value("one")
    seed = page.get_by_label("Seed")
    seed.fill("8")
    seed.press("Enter")
    for at in range(2):
        expect(gaps(page).nth(at)).to_have_value("")
    sheet = download(page.get_by_role("button", name="Worksheet (A4)")).path()
    assert "Exercise 8" in sheet.read_text(encoding="utf-8")
    assert "<script" not in sheet.read_text(encoding="utf-8")


def test_one_step_back_is_filled_in_and_ends_with_another(new_page: OpenPage) -> None:
    exercise = backward(small_ffn(4))
    rights = [*exercise.at_y, *exercise.at_h, *exercise.at_z, *exercise.at_w1[0]]
    page = opened(new_page(width=1280, height=720), "hand_view=back&hand_seed=4")
    expect(gaps(page)).to_have_count(11)
    inactive = int((exercise.ffn.z < 0).argmax())
    gaps(page).nth(5 + inactive).fill(str(exercise.at_h[inactive]))
    remark = page.locator(f'[data-cell="by-hand"] #said-{5 + inactive}')
    expect(remark).to_contain_text("ReLU is flat")
    for gap, value in zip(gaps(page).all(), rights, strict=True):
        gap.fill(str(value))
    expect(page.locator('[data-cell="by-hand"] .done')).to_have_text("All 11 right.")
    page.get_by_role("button", name="Another").click()
    expect(page).to_have_url(re.compile("hand_seed=5"))


def test_by_hand_with_a_finger(phone: Journey) -> None:
    ffn = small_ffn(3)
    page = opened(phone, "hand_seed=3")
    expect(gaps(page)).to_have_count(8)
    for gap, value in zip(gaps(page).all(), (*ffn.z, *ffn.h, *ffn.y), strict=True):
        gap.tap()
        page.keyboard.insert_text(str(value))
    expect(page.locator('[data-cell="by-hand"] .done')).to_have_text("All 8 right.")


def test_a_neuron_of_the_typed_sentence(new_page: OpenPage) -> None:
    page = opened(new_page(), "hand_view=yours&text=The+cat+sat.&token=2&neuron=relu-5")
    table = page.locator('[data-cell="by-hand"] table').first
    rows = [row.split("\t") for row in table.inner_text().splitlines()[1:] if "\t" in row]
    assert len(rows) == 10

    def number(text: str) -> float:
        return float(text.replace("−", "-"))

    first = number(rows[0][1]) * number(rows[0][2])
    z = first + sum(number(row[-1]) for row in rows[1:])
    gaps(page).nth(0).fill(f"{first:.3f}")
    gaps(page).nth(1).fill(f"{z:.3f}")
    gaps(page).nth(2).fill(f"{max(0.0, z):.3f}")
    expect(page.locator('[data-cell="by-hand"] .done')).to_have_text("3 of 4 right.")


def test_xor_is_judged_by_running_it(new_page: OpenPage, phone: Journey) -> None:
    rng = random.Random(5)
    journey = new_page()
    page = opened(journey, "hand_view=xor")
    inputs = page.locator('[data-cell="xor"] input')
    for weights in ([1, 1, 0, 1, 1, -1, 1, -2, 0], [rng.randint(-3, 3) for _ in range(9)]):
        for place, weight in enumerate(weights):
            inputs.nth(place).fill(str(weight))
        first, out = np.array(weights[:6]).reshape(2, 3), np.array(weights[6:])
        for row, (a, b) in enumerate(((0, 0), (0, 1), (1, 0), (1, 1))):
            y = np.maximum(first @ [a, b, 1], 0) @ out[:2] + out[2]
            shown = page.locator('[data-cell="xor"] tbody tr').nth(row).locator("td").nth(4)
            expect(shown).to_have_text(str(y).replace("-", "−"))
    opened(journey, "hand_view=xor&xor=1_1_0_1_1_-1_1_-2_0")
    verdict = page.locator('[data-cell="xor"] .said')
    expect(verdict).to_contain_text("All four right: y = ReLU(a + b) − 2 · ReLU(a + b − 1)")
    page.get_by_role("button", name="φ is ReLU").press("Enter")
    expect(verdict).to_contain_text("Without φ")

    page = opened(phone, "hand_view=xor&xor=1_1_0_1_1_-1_1_-1_0")
    page.get_by_role("button", name="weight of h₂ in y: one less").tap()
    expect(page.locator('[data-cell="xor"] .said')).to_contain_text("All four right")


def options(page: Page) -> Locator:
    return page.locator('[data-cell="vote"] .options button')


def test_predict_see_and_vote_again_with_the_keyboard(new_page: OpenPage) -> None:
    page = opened(new_page(), "part=predict")
    told = page.locator('[data-cell="vote"] .status')
    expect(options(page)).to_have_count(3)
    expect(page.get_by_text("The experiment", exact=True)).to_be_hidden()
    options(page).nth(1).press("Enter")
    expect(page.get_by_text("The experiment", exact=True)).to_be_visible()
    rows = page.locator('[data-cell="vote"] .row')
    expect(rows.nth(1)).to_contain_text("another token's, at most")
    expect(rows.nth(1).locator("b")).to_have_text("0")
    expect(options(page).first).to_be_focused()
    page.keyboard.press("Enter")
    expect(told).to_have_text("Right this time. What changed your mind?")
    expect(page.get_by_role("button", name="Next question")).to_be_focused()
    expect(page.locator('[data-cell="vote"] .why')).to_contain_text("Vaswani")
    expect(page).to_have_url(re.compile("votes=10-"))
    page.locator("summary").press("Enter")
    expect(page.locator(".gains .total")).to_contain_text("0% right before, 100% after; gain 1.00")


def test_the_quiz_is_done_with_a_finger(phone: Journey) -> None:
    page = opened(phone, "part=predict&misconception=logits")
    expect(options(page)).to_have_count(3)
    options(page).nth(0).tap()
    expect(page.locator('[data-cell="vote"] .row').nth(1)).to_contain_text("10 added")
    options(page).nth(2).tap()
    expect(page.locator('[data-cell="vote"] .status')).to_have_text(re.compile("Right this time"))


def test_a_block_is_built_with_the_keyboard(new_page: OpenPage) -> None:
    page = opened(new_page(), "part=build&lines=abcdefghijlkm")
    said = page.locator('[data-cell="program"] .sentence')
    expect(said).to_contain_text("another block")
    handle = page.locator('[data-cell="program"] .handle').nth(11)
    handle.focus()
    page.keyboard.press("ArrowUp")
    expect(said).to_contain_text("It runs, and is the network's own block")
    expect(page).to_have_url(re.compile("lines=abcdefghijklm"))
    expect(page.locator('[data-cell="program"] .handle').nth(10)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(said).to_contain_text("another block")  # φ stands before LayerNorm, and all runs
    expect(page).to_have_url(re.compile("lines=abcdefghkijlm"))
    page.locator('[data-cell="program"] .handle').nth(11).press("ArrowUp")  # W₂ before W₁
    fault = page.locator('[data-cell="program"] em:visible')
    expect(fault).to_contain_text("It needs y of shape (11, 2,048); y is (11, 512).")


def test_a_line_is_dragged_with_a_finger(phone: Journey) -> None:
    page = opened(phone, "part=build&lines=bacdefghijklm")
    expect(page.get_by_text("hold ⠿ at its end and drag it")).to_be_visible()
    said = page.locator('[data-cell="program"] .sentence')
    expect(said).to_contain_text("Line 1 cannot run")
    handle = page.locator('[data-cell="program"] .handle').first
    handle.scroll_into_view_if_needed()
    to = box_of(page.locator('[data-cell="program"] li').nth(1))
    box = box_of(handle)
    # A finger's way, as the browser hears it: down, along, up.
    finger = page.context.new_cdp_session(page)
    x = box["x"] + box["width"] / 2
    for kind, y in (("touchStart", box["y"] + 20), ("touchMove", to["y"] + to["height"] - 4)):
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    expect(said).to_contain_text("It runs, and is the network's own block")


def test_a_planted_bug_is_found_by_its_numbers(new_page: OpenPage) -> None:
    page = opened(new_page(), "part=build&block_view=find&patient=1")
    softmax = page.locator('[data-cell="program"] li').nth(4)
    expect(softmax.locator(".value.off")).not_to_have_count(0)
    page.get_by_label("Which bug is it?").select_option("Mask inverted")
    told = page.locator('[data-cell="diagnosis"]')
    expect(told).to_contain_text("Not that one.")
    page.get_by_label("Which bug is it?").select_option("Softmax over the wrong axis")
    expect(told).to_contain_text("the rows of softmax do not sum to 1")
    page.get_by_role("slider", name="Bug", exact=True).press("ArrowRight")
    expect(told).to_contain_text("On the left, choose a bug")
