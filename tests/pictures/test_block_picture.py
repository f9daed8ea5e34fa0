"""What the block's picture is sent."""

import numpy as np
import pytest

from ffnviz.pictures.block_picture import pooled


@pytest.mark.parametrize("n", [1, 100, 128, 129, 512, 2_048, 2_049])
def test_in_few_columns_the_strongest_of_neighbours_stands_with_its_sign(n: int) -> None:
    values = np.random.default_rng(n).normal(size=(3, n))
    found = pooled(values)
    each = -(-n // 128)
    assert found.shape == (3, -(-n // each))
    assert found.shape[1] <= 128
    for row, expected in zip(found, values, strict=True):
        for column, value in enumerate(row):
            group = expected[column * each : (column + 1) * each]
            assert value == group[np.abs(group).argmax()]


def test_a_single_number_is_found_wherever_it_stands() -> None:
    for place in (0, 3, 511):
        values = np.zeros((1, 512))
        values[0, place] = -7
        found = pooled(values)
        assert found.min() == -7
        assert found.argmin() == place // 4
