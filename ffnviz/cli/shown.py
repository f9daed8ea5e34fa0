"""What `ffnviz app` is asked to show: checked and proved before anything is served."""

from pathlib import Path

import click

from ffnviz.analysis.neurons.index_file import IndexFileError, in_words, read_index
from ffnviz.cli.errors import reported
from ffnviz.lecture.chosen import lecture_file
from ffnviz.lecture.classroom.errors import ClassStoreError
from ffnviz.lecture.classroom.store import server_store
from ffnviz.lecture.tables import LectureError
from ffnviz.models.config import NetworkRequest, config
from ffnviz.models.encoder.folder import ModelFolderError
from ffnviz.models.fingerprint import is_of, made_of
from ffnviz.models.registry import available_networks, open_network, usual_device

OLDER = " An older ffnviz made it, which compared the first weights of the FFNs alone."


def requested_network(name: str, dtype: str | None) -> NetworkRequest:
    """The network that --model names; a revision on the Hub follows an @."""
    if Path(name).exists():
        return NetworkRequest(str(Path(name).resolve()), dtype)
    model, _, revision = name.partition("@")
    return NetworkRequest(model, dtype, revision or None)


@reported(ModelFolderError)
def prove_networks() -> None:
    """Open the networks that are to be shown, and print what was proved of each.

    Raises:
        ClickException: in a sentence, if one of them cannot be shown.
    """
    for name, request in available_networks().items():
        if request:
            open_network(name, usual_device(), click.echo)


@reported(IndexFileError)
def opened_index(path: Path) -> str:
    """A line that says what an index holds, and for which network it is shown.

    Raises:
        ClickException: in a sentence, if it is no index, or one of no network here.
    """
    labels = []
    for name in available_networks():
        network = open_network(name, usual_device())
        labels.append(network.card.label)
        if not is_of(path, network):
            continue
        sizes = network.sizes
        index = read_index(path, sizes.d_ff, sizes.n_blocks)
        is_partial = len(index.numbers) < sizes.n_blocks
        blocks = f"block {in_words(index.numbers)} of {sizes.n_blocks}, " * is_partial
        contents = f"{blocks}{index.n_tokens:,} tokens of {index.source}"
        older = "" if made_of(path) == network.fingerprint else OLDER
        return f"{network.card.label}: index {path}, {contents}.{older}"
    why = (
        "is an index of another network"
        if made_of(path)
        else "is not an index of neurons, or does not say of which network"
    )
    raise click.ClickException(
        f"{path} {why}; here are {', '.join(labels)}. Make one with `ffnviz index --corpus …`, or "
        "show the network that it is of with --model."
    )


@reported(LectureError)
def check_lecture(lecture: Path) -> None:
    """Read the lecture, so that its errors are reported before anything is served."""
    from ffnviz.app.main import build_catalog  # no other command needs all pages

    lecture_file(lecture, build_catalog())


def address_of_store(class_store: str | None) -> str:
    """The address that --class-store gives; of a file, its absolute path."""
    if not class_store or "://" in class_store:
        return class_store or ""
    return str(Path(class_store).resolve())


def check_class_store() -> None:
    """Check that classes can be kept, if others can open some or a store was named.

    Raises:
        ClickException: in a sentence, if they cannot be kept there.
    """
    if not config().has_classes and not config().class_store:
        return
    try:
        server_store().ready()
    except ClassStoreError as error:
        raise click.ClickException(
            f"Classes cannot be kept: {error} --class-store takes a file, or redis://HOST:PORT."
        ) from error
