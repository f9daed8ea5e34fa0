"""The colours can be read, in both themes."""

import pytest

from ffnviz.pictures.plot import DARK, LIGHT, Palette


def luminance(colour: str) -> float:
    """Relative luminance, WCAG 2.2."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    brighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def test_the_formula_knows_black_and_white() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["text", "muted", "relu", "gelu", "learned", "learned_other"])
def test_type_and_accents_stand_out_from_the_background(palette: Palette, name: str) -> None:
    assert contrast(getattr(palette, name), palette.background) >= 4.5


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_the_signed_scale_grows_away_from_the_background(palette: Palette) -> None:
    for middle, end in (
        (palette.positive_mid, palette.positive),
        (palette.negative_mid, palette.negative),
    ):
        assert 2 < contrast(middle, palette.background) < contrast(end, palette.background)
