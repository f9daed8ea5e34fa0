"""The `ffnviz` command line. A command is one file here and a name in the loop below."""

import click

from ffnviz.cli.app import app
from ffnviz.cli.check import check
from ffnviz.cli.export import export
from ffnviz.cli.flips import flips
from ffnviz.cli.lab import lab
from ffnviz.cli.learn import learn, study
from ffnviz.cli.options import Commands
from ffnviz.cli.timing import timing
from ffnviz.cli.train import train


class _All(Commands):
    """All commands. `index` is imported on demand: a server does without pyarrow."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names, in order."""
        return sorted([*super().list_commands(ctx), "index"])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        if cmd_name != "index":
            return super().get_command(ctx, cmd_name)
        from ffnviz.cli.index import index

        return index


@click.group(cls=_All, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="ffnviz")
def main() -> None:
    """Watch a Transformer's feed-forward network work on a sentence."""


for command in (app, check, export, flips, lab, learn, study, timing, train):
    main.add_command(command)
