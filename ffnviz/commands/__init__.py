"""The `ffnviz` command line. A command is one file here and a line below."""

import click

from ffnviz.commands.app import app
from ffnviz.commands.check import check
from ffnviz.commands.errors import Commands
from ffnviz.commands.export import export
from ffnviz.commands.flips import flips
from ffnviz.commands.index import index
from ffnviz.commands.lab import lab
from ffnviz.commands.timing import timing
from ffnviz.commands.train import train


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="ffnviz")
def main() -> None:
    """Watch a Transformer's feed-forward network work on a sentence."""


main.add_command(app)
main.add_command(check)
main.add_command(export)
main.add_command(flips)
main.add_command(index)
main.add_command(lab)
main.add_command(timing)
main.add_command(train)
