"""What `make release` says before it takes minutes, and that its recipe tries both packages."""

import subprocess
from pathlib import Path

import pytest

from tests.release import __main__ as release


def test_a_python_that_is_not_here_is_named() -> None:
    with pytest.raises(SystemExit, match=r"There is no python9\.9 here"):
        release.main(["python3", "python9.9"])


def test_without_both_packages_it_says_how_they_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release, "ROOT", tmp_path)
    with pytest.raises(SystemExit, match="one wheel and one sdist"):
        release.main(["python3"])


def test_each_python_that_is_asked_for_is_tried() -> None:
    command = ["make", "--dry-run", "release", "PYTHONS=python3.11 python3.13"]
    told = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True)
    assert "-m tests.release python3.11 python3.13" in told.stdout
