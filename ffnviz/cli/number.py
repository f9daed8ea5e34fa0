"""What an option takes that is a number: one in a range, and so a number at all."""

import math
from typing import Any

import click


class Number(click.FloatRange):
    """As click's own, which takes “nan” to be in every range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is not in the range {self._describe_range()}.", param, ctx)
        return number
