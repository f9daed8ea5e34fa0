"""How a lecture is named on the command line."""

from pathlib import Path

import click

from ffnviz.lecture.chosen import BUILT_IN


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
