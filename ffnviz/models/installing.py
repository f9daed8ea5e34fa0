"""How to install optional dependencies: other people's networks, a Ray cluster, Redis."""

import re
from importlib.metadata import PackageNotFoundError, requires

from ffnviz.models.assets import TOP


def install(extra: str) -> str:
    """The command that installs what an extra needs, wherever ffnviz itself came from.

    It names the packages and not `ffnviz[extra]`: pip would look for that in an index, but ffnviz
    may have come from a folder.

    Args:
        extra: "hf", "ray", "redis", "xarray" or "pandas", as pyproject.toml has them.
    """
    try:
        requirements = [line.partition(";") for line in requires("ffnviz") or ()]
    except PackageNotFoundError:  # a checkout that was never installed
        requirements = []
    of_extra = re.compile(rf"""extra\s*==\s*['"]{extra}['"]""")
    names = [name.strip() for name, _, marker in requirements if of_extra.search(marker)]
    return "pip install " + " ".join(f"'{name}'" for name in names or [f"{TOP}[{extra}]"])


def lacking(what: str, extra: str) -> ImportError:
    """The error where a package is missing that an extra of the same name installs."""
    return ImportError(f"{what} needs the package {extra}. Install it: {install(extra)}")
