"""`look_at`, the former name of `hold`: it goes on for one version."""

import warnings

from ffnviz.models.arguments import Hold


def held_block(look_at: int | None, hold: Hold) -> Hold:
    """What is to be held, under either name."""
    if look_at is None:
        return hold
    warnings.warn("look_at is now called hold.", DeprecationWarning, stacklevel=4)
    return look_at
