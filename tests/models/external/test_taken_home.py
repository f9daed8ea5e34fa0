"""Networks of other people, as a file and in a notebook: one network, all its blocks."""

import numpy as np

import ffnviz
from ffnviz.models.external.network import ExternalNetwork
from tests.export.opened import contents


def test_a_notebook_shows_every_family_with_all_its_blocks(
    external_network: ExternalNetwork,
) -> None:
    trace = external_network.trace("The cat sat.")
    header, arrays = contents(ffnviz.show(trace).html)
    assert [each["id"] for each in header["networks"]] == [external_network.card.id]
    assert header["networks"][0]["n_blocks"] == len(trace.blocks)
    for block, record in enumerate(trace.blocks):
        hidden = arrays[f"{external_network.card.id} {block} hidden"]
        np.testing.assert_allclose(hidden, record.ffn.hidden.float(), rtol=1e-4, atol=1e-5)
    predictions = [each for view in header["views"].values() for each in view["prediction"]]
    titles = {panel["title"] for each in predictions if each for panel in each["panels"]}
    assert ("with the FFN" in titles) == external_network.card.has_word_head
