"""Numbers are written as people write them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ffnviz.analysis.number_format import short


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0, 2, "0"),
        (5.5e-5, 2, "5.5 × 10⁻⁵"),
        (-1.26e-15, 2, "−1.3 × 10⁻¹⁵"),
        (0.01234, 2, "0.012"),
        (1.0, 2, "1"),
        (1.376, 3, "1.38"),
        (29.4, 2, "29"),
        (12_345.6, 2, "12,346"),
        (2.5e7, 1, "2 × 10⁷"),
        (math.inf, 2, "inf"),
        (math.nan, 2, "nan"),
    ],
)
def test_a_number_is_as_long_as_it_must_be(value: float, digits: int, text: str) -> None:
    assert short(value, digits) == text


@given(st.floats(min_value=1e-300, max_value=1e300), st.integers(1, 6))
def test_what_is_written_is_the_number(value: float, digits: int) -> None:
    raised = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    mantissa, _, power = short(value, digits).replace(",", "").partition(" × 10")
    read = float(mantissa) * 10.0 ** int(power.translate(raised) or 0)
    assert math.isclose(read, value, rel_tol=0.6 * 10 ** (1 - digits))
