"""`python -m ffnviz` is the `ffnviz` command."""

from ffnviz.commands import main

main(prog_name="ffnviz")
