"""README’s pictures: the first page, still, and while a sentence is typed and a token chosen."""

import io

from PIL import Image
from playwright.sync_api import Page as Tab
from playwright.sync_api import ViewportSize

from benchmarks.serving import chromium
from ffnviz.models.config import ASSETS
from tests.served import free_port, served

SENTENCE, CHOSEN = "A hen has [MASK] legs, not four.", "hen"
WINDOW, SHOWN = ViewportSize(width=1280, height=720), (960, 540)
KEY_MS, LOOK_MS, LAST_MS = 90, 1_600, 3_500  # how long a frame stays
SLOW = 12  # times as slow as it is played, so that screenshots keep up
LARGEST = 3_000_000  # bytes
READY = "() => document.querySelector('[data-test-script-state=\"notRunning\"]')"


class Film:
    """Frames, and how long each stays."""

    def __init__(self, tab: Tab) -> None:
        self.tab = tab
        self.frames: list[Image.Image] = []
        self.lasts: list[int] = []

    def take(self, lasts: int) -> None:
        """The page as it is now; what stays as it was stays longer."""
        shot = Image.open(io.BytesIO(self.tab.screenshot())).convert("RGB").resize(SHOWN)
        if self.frames and self.frames[-1].tobytes() == shot.tobytes():
            self.lasts[-1] += lasts
        else:
            self.frames.append(shot)
            self.lasts.append(lasts)

    def settle(self) -> None:
        """Wait until the page shows what was asked."""
        self.tab.wait_for_timeout(1_500)
        self.tab.wait_for_function(READY, timeout=60_000)
        self.tab.wait_for_timeout(1_500)

    def save(self) -> int:
        """Write it; how many bytes it has."""
        first, *others = self.frames
        to = ASSETS / "journey.webp"
        first.save(to, save_all=True, append_images=others, duration=self.lasts, loop=0,
                   quality=60, method=4)  # fmt: skip
        return to.stat().st_size


def film(tab: Tab) -> Film:
    """A sentence is typed, then a token is chosen."""
    made = Film(tab)
    made.take(LOOK_MS)
    tab.keyboard.press("/")
    tab.locator(".st-key-text input").fill("")
    for sign in SENTENCE:
        tab.keyboard.type(sign)
        made.take(KEY_MS)
    tab.keyboard.press("Enter")
    made.settle()
    made.take(LOOK_MS)
    slow = tab.context.new_cdp_session(tab)
    slow.send("Animation.enable")
    slow.send("Animation.setPlaybackRate", {"playbackRate": 1 / SLOW})
    tab.locator('[data-cell="chips"] .chip [aria-pressed]', has_text=CHOSEN).click()
    for _ in range(24):
        made.take(KEY_MS)
        tab.wait_for_timeout(200)
    slow.send("Animation.setPlaybackRate", {"playbackRate": 1})
    made.settle()
    made.take(LAST_MS)
    return made


def main() -> None:
    """Take both, and say how large they are."""
    with served(free_port()) as server, chromium() as browser:
        tab = browser.new_page(viewport=WINDOW)
        tab.goto(server.url)
        tab.evaluate("localStorage.setItem('ffnviz-welcome-closed', 'yes')")
        tab.goto(server.url)
        tab.wait_for_selector('[data-cell="ffn"]', timeout=60_000)
        made = film(tab)
        size = made.save()
        print(f"journey.webp: {len(made.frames)} frames, {size:,} bytes")
        if size > LARGEST:
            raise SystemExit(f"That is more than {LARGEST:,} bytes.")
        tab.set_viewport_size({"width": 1920, "height": 1080})
        tab.goto(server.url)
        made.settle()
        tab.screenshot(path=ASSETS / "journey.png")
        print(f"journey.png: {(ASSETS / 'journey.png').stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
