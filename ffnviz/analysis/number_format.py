"""Numbers as people write them."""

import math

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
SMALLEST, LARGEST = 1e-3, 1e6  # beyond these, more zeros than one reads at a glance


def short(value: float, digits: int = 2) -> str:
    """A number with so many significant digits; very small or large, as in 5.5 × 10⁻⁵."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}".replace("-", "−")
    if SMALLEST <= abs(value) < LARGEST:
        places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
        text = f"{value:,.{places}f}"
        return (text.rstrip("0").rstrip(".") if "." in text else text).replace("-", "−")
    mantissa, _, power = f"{value:.{digits - 1}e}".partition("e")
    return f"{mantissa} × 10{str(int(power)).translate(_RAISED)}".replace("-", "−")
