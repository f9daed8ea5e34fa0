"""What Chromium prints."""

import re


def pages_of(pdf: bytes) -> int:
    """How many sheets of paper a PDF of Chromium's has."""
    return len(re.findall(rb"/Type\s*/Page\b", pdf))
