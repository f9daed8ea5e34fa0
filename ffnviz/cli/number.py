"""The type of options that are numbers within a range."""

import math
from typing import Any

import click


class Number(click.FloatRange):
    """Click's FloatRange without “nan”, which click takes to be in every range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is not in the range {self._describe_range()}.", param, ctx)
        return number
