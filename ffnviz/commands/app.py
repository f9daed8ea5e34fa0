"""`ffnviz app`: serve the page."""

from pathlib import Path

import click
from streamlit.web.cli import main as streamlit

APP = Path(__file__).parents[2] / "app.py"


@click.command()
@click.option("--port", type=click.IntRange(1, 65_535), default=8_501, show_default=True)
def app(port: int) -> None:
    """Serve the page on localhost.

    By now the package has imported PyTorch, so the first visitor need not wait for that.
    """
    streamlit.main(["run", str(APP), "--server.port", str(port)], prog_name="streamlit")
