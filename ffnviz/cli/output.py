"""Results on stdout, whatever characters it can take."""

import json
import sys
from typing import Any

import click


def show_json(values: dict[str, Any]) -> None:
    """Print indented JSON, escaped where stdout cannot take all characters."""
    text = json.dumps(values, ensure_ascii=False, indent=2)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(values, indent=2)
    click.echo(text)
