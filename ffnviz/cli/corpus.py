"""The type of --corpus: a path on this machine, or an address in a store."""

from pathlib import Path
from typing import Any

import click

from ffnviz.jobs.indexing.stores import Address, StoreError, found_at, is_address


class Corpus(click.Path):
    """An existing file or folder, or s3://…, gs://… or file://…, which is checked later."""

    name = "path or address"

    def __init__(self) -> None:
        super().__init__(exists=True, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path or address."""
        if isinstance(value, str) and is_address(value):
            try:
                value = found_at(value)
            except StoreError as error:
                self.fail(str(error), param, ctx)
        if isinstance(value, Address):
            return value
        if not Path(value).exists():
            self.fail(f"there is no such path: {click.format_filename(value)}", param, ctx)
        return super().convert(value, param, ctx)
