"""The folders of --sae: what each holds, and for which network it is shown."""

from pathlib import Path

import click

from ffnviz.analysis.features import check_fit
from ffnviz.cli.errors import reported
from ffnviz.models.registry import available_networks, open_network, usual_device
from ffnviz.models.sae import Sae, SaeError, read_sae


@reported(SaeError)
def look_at_sae(network: str, path: Path) -> tuple[str, str]:
    """The network that a dictionary is for, unless one is named, and a line on what it holds.

    Raises:
        ClickException: in a sentence, if it cannot be read, or fits no network here.
    """
    sae = read_sae(path)
    network = network or _meant(sae, path)
    opened = open_network(network, usual_device())
    check_fit(opened, sae)
    return network, (
        f"{opened.card.label}: {sae.d_sae:,} features in {path} ({sae.architecture}), of "
        f"{sae.where}."
    )


def _meant(sae: Sae, path: Path) -> str:
    """The network that the dictionary names, or the only one that it fits.

    Raises:
        SaeError: if it fits no network.
        ClickException: if it fits several.
    """
    here = list(available_networks())
    if sae.trained_on in here:
        return sae.trained_on
    fitting, misfits = [], []
    for name in here:
        try:
            check_fit(open_network(name, usual_device()), sae)
            fitting.append(name)
        except SaeError as error:
            misfits.append(error)
    if not fitting:
        raise misfits[0]
    if len(fitting) > 1:
        raise click.ClickException(
            f"{path} is of “{sae.trained_on}” and fits {', '.join(fitting)}. Say which is meant: "
            f"--sae {fitting[0]}={path}"
        )
    return fitting[0]
