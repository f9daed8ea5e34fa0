"""Which browsers are served, and what the others show: a sentence in place of a blank page."""

from pathlib import Path

# The first with CSS's light-dark() and zoom (MDN's browser-compat-data 8.0.10). Which
# features are newer, tests/pictures/test_old_browsers.py says.
OLDEST = {"Safari": "17.5", "Firefox": "126", "Chrome": "123", "Edge": "123"}
TOO_OLD = (
    "This browser is too old for this page: update it to "
    f"{', '.join(map(' '.join, OLDEST.items()))} or newer (on an iPhone: Settings, General, "
    "Software Update), or open the page on another device."
)
NO_SCRIPT = (
    "A script draws everything here, and this browser runs none: allow JavaScript for this page "
    "in the browser's settings, and load it again."
)
# It runs in browsers that know no word of the other scripts.
OLD_BROWSER_JS = (
    Path(__file__).with_name("old_browser.js").read_text("utf-8").replace("{sentence}", TOO_OLD)
)
