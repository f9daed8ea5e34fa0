"""Where what is no code lies: at the top of the repository, or packed into the package."""

from pathlib import Path

_PACKED = Path(__file__).parents[1] / "top"  # only in a wheel; setup.py says what goes there
TOP = _PACKED if _PACKED.is_dir() else Path(__file__).parents[2]
ASSETS = TOP / "assets"
