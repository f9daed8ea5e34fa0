"""What is advised to install is right, whatever ffnviz came from."""

import importlib.metadata
import re
from pathlib import Path

import pytest

from ffnviz.models import config
from ffnviz.models.config import TOP, install


@pytest.mark.parametrize(
    ("extra", "package"), [("hf", "transformers"), ("ray", "ray[data]"), ("redis", "redis")]
)
def test_packages_are_named_as_the_installed_metadata_has_them(extra: str, package: str) -> None:
    said = install(extra)
    assert re.fullmatch(rf"pip install '{re.escape(package)}[^']*'( '[^']+')*", said)
    assert "ffnviz" not in said


def test_metadata_is_read_in_any_spelling(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["torch>=2", "a>=1,<2; extra == 'hf'", 'b[c]==3 ; python_version > "3" and extra=="hf"']
    monkeypatch.setattr(config, "requires", lambda _: lines)
    assert install("hf") == "pip install 'a>=1,<2' 'b[c]==3'"


def test_a_checkout_that_was_never_installed_is_installed_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(_: str) -> None:
        raise importlib.metadata.PackageNotFoundError

    monkeypatch.setattr(config, "requires", missing)
    assert install("hf") == f"pip install '{TOP}[hf]'"
    assert (Path(TOP) / "pyproject.toml").is_file()
