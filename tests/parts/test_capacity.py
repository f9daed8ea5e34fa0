"""How much fits: what the view says of what was stored."""

import numpy as np

from ffnviz.parts.neurons import capacity
from ffnviz.parts.neurons.capacity import Capacity, Stored
from ffnviz.parts.sheet import Measured, Measurement, cells_of
from ffnviz.state.settings import Values
from tests.parts.sheets import drawn, words


def test_it_says_how_many_are_found_again_and_up_to_where_outputs_are_exact() -> None:
    part = drawn("neurons", "plant", measure=False, text="The cat sat.", plant_view="many")
    assert "How many pairs of words one FFN finds again" in part.said
    (measurement,) = capacity.sheet(part.run, Values()).rows
    assert isinstance(measurement, Measurement)
    counts = np.array([1, 512, 2048])
    result = Capacity(
        counts,
        Stored(np.array([1, 1, 0.69]), np.array([0, 1e-9, 0.5]), 2040),
        Stored(np.array([1, 0.5, 0.03]), np.array([0, 0.2, 0.7]), 512),
        2048,
    )
    made = measurement.after(Measured(measurement.setup, result, "12:00:00", "a CPU"))
    cells = {cell.key: cell for cell in cells_of(made)}
    assert "With block 2's hidden values, 69% of 2,048 random pairs are found again" in words(
        cells["capacity"]
    )
    said = words(cells["capacity-error"])
    assert "up to 512 pairs: the hidden values of all 2,048 span 2,040 dimensions" in said
    assert "Without φ, up to 1: they span 512." in said
