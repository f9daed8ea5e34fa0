"""What `ffnviz app` is asked to show: checked and proved before anything is served."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import click

from ffnviz.analysis.features import check_fit
from ffnviz.analysis.neurons.descriptions import Descriptions, DescriptionsError, read_descriptions
from ffnviz.analysis.neurons.index_file import IndexFileError, in_words, read_index
from ffnviz.cli.options import reported
from ffnviz.lecture.chosen import BUILT_IN, lecture_file
from ffnviz.lecture.classroom.live_class import ClassStoreError
from ffnviz.lecture.classroom.store import server_store
from ffnviz.lecture.lecture import LectureError
from ffnviz.models.config import NetworkRequest, config
from ffnviz.models.encoder.folder import ModelFolderError
from ffnviz.models.fingerprint import is_of, made_of
from ffnviz.models.registry import available_networks, open_network, usual_device
from ffnviz.models.sae import Sae, SaeError, read_sae

OLDER = " An older ffnviz made it, which knew a network only by the first weights of its FFNs."


def requested_network(name: str, dtype: str | None) -> NetworkRequest:
    """The network that --model names; a revision on the Hub follows an @."""
    if Path(name).exists():
        return NetworkRequest(str(Path(name).resolve()), dtype)
    model, _, revision = name.partition("@")
    return NetworkRequest(model, dtype, revision or None)


@reported(ModelFolderError)
def prove_networks() -> None:
    """Open the networks that are to be shown, and print what was proved of each."""
    for name, request in available_networks().items():
        if request:
            open_network(name, usual_device(), click.echo)


@reported(IndexFileError)
def opened_index(path: Path) -> str:
    """A line that says what an index holds, and for which network it is shown."""
    labels = []
    for name in available_networks():
        network = open_network(name, usual_device())
        labels.append(network.card.label)
        if not is_of(path, network):
            continue
        sizes = network.sizes
        index = read_index(path, sizes.d_ff, sizes.n_blocks)
        blocks = ""
        n = len(index.numbers)
        if n < sizes.n_blocks:
            blocks = f"block{'s' * (n > 1)} {in_words(index.numbers)} of {sizes.n_blocks}, "
        contents = f"{blocks}{index.n_tokens:,} tokens of {index.source}"
        older = "" if made_of(path) == network.fingerprint else OLDER
        return f"{network.card.label}: index {path}, {contents}.{older}"
    if made_of(path):
        why = "is an index of another network"
    else:
        why = "is not an index of neurons, or does not say of which network"
    raise click.ClickException(
        f"{path} {why}; the networks here are {', '.join(labels)}. Make one with `ffnviz index "
        "--corpus …`, or use --model to show the network that this index belongs to."
    )


@reported(LectureError)
def checked_lecture(_: click.Context, _option: click.Parameter, file: Path | None) -> Path | None:
    """The lecture's absolute path; it is read, so that errors come before anything is served."""
    if file is None:
        return None
    from ffnviz.app.catalog import build_catalog  # no other command needs all pages

    lecture_file(file, build_catalog())
    return file.resolve()


def address_of_store(_: click.Context, _option: click.Parameter, class_store: str) -> str:
    """The address that --class-store gives; of a file, its absolute path."""
    is_file = class_store and "://" not in class_store
    return str(Path(class_store).resolve()) if is_file else class_store


def check_class_store() -> None:
    """Check that classes can be kept, if others can open some or a store was named."""
    if not config().has_classes and not config().class_store:
        return
    try:
        server_store().ready()
    except ClassStoreError as error:
        raise click.ClickException(
            f"Classes cannot be kept: {error} --class-store takes a file, or redis://HOST:PORT."
        ) from error


SHOWN = 3  # authors, and lines that were left out


@reported(DescriptionsError)
def look_at_descriptions(network: str, path: Path) -> tuple[str, str]:
    """The network whose neurons a file describes, unless one is named; a line on what it holds."""
    descriptions = read_descriptions(path)
    network = network or _network_described(descriptions, path)
    opened = open_network(network, usual_device())
    sizes = opened.sizes
    neurons = {
        (row.block, row.index)
        for row in descriptions.rows
        if row.block is not None and row.block < sizes.n_blocks and row.index < sizes.d_ff
    }
    if not neurons:
        layer = "".join(row.layer for row in descriptions.rows[:1])
        raise click.ClickException(
            f"{path} describes no neuron of {opened.card.label}: its first layer is “{layer}”, "
            "where a block's number from 0 is expected."
        )
    authors = Counter(row.who or "somebody" for row in descriptions.rows).most_common(SHOWN)
    n_left_out, left_out = descriptions.n_left_out, "; ".join(descriptions.left_out[:SHOWN])
    skipped = f" Left out: {n_left_out:,} ({left_out})" if n_left_out else ""
    return network, (
        f"{opened.card.label}: descriptions of {len(neurons):,} neurons in {path}, by "
        f"{', '.join(name for name, _ in authors)}.{skipped}"
    )


def _network_described(descriptions: Descriptions, path: Path) -> str:
    """The network that most rows name, of those here."""
    here = list(available_networks())
    named = [model for model, _ in Counter(row.model for row in descriptions.rows).most_common()]
    for model in named:
        if model in here:
            return model
    raise click.ClickException(
        f"{path} describes “{named[0]}”; the networks here are {', '.join(here)}. If it is one of "
        f"these: --descriptions {here[0]}={path}"
    )


def opened_paths(
    option: str, values: tuple[str, ...], look: Callable[[str, Path], tuple[str, str]]
) -> tuple[tuple[tuple[str, Path], ...], list[str]]:
    """Each path with the id of the network that it is shown for, and a line on what it holds.

    A value is PATH or NETWORK=PATH. `look` opens a path for a network, or if that is "" for the one
    that the file names, and returns the network and the line.
    """
    paths, lines = [], []
    for value in values:
        network, sign, name = value.partition("=")
        if not sign or Path(value).exists():
            network, name = "", value
        elif network not in available_networks():
            here = ", ".join(available_networks())
            why = f"there is no “{network}” here; there is {here}."
            raise click.ClickException(f"{option} {value}: {why}")
        path = Path(name).resolve()
        network, line = look(network, path)
        paths.append((network, path))
        lines.append(line)
    return tuple(paths), lines


@reported(SaeError)
def look_at_sae(network: str, path: Path) -> tuple[str, str]:
    """The network that a dictionary is for, unless one is named, and a line on what it holds."""
    sae = read_sae(path)
    network = network or _network_of_sae(sae, path)
    opened = open_network(network, usual_device())
    check_fit(opened, sae)
    return network, (
        f"{opened.card.label}: {sae.d_sae:,} features in {path} ({sae.architecture}), of "
        f"{sae.where}."
    )


def _network_of_sae(sae: Sae, path: Path) -> str:
    """The network that the dictionary names, or the only one that it fits."""
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


class LectureFile(click.Path):
    """A lecture's file, or the name of a built-in lecture."""

    name = "lecture"

    def __init__(self) -> None:
        super().__init__(exists=True, dir_okay=False, path_type=Path)

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Path:
        """The file's path."""
        built_in = BUILT_IN.get(str(value))
        return built_in or Path(super().convert(str(value), param, ctx))  # type: ignore[arg-type]
