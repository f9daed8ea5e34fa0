"""What `make release` says before it takes minutes, and that its recipe tries both packages."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.release import __main__ as release


def test_a_python_that_is_not_here_is_named() -> None:
    with pytest.raises(SystemExit, match=r"There is no python9\.9 here"):
        release.main(["python3", "python9.9"])


def test_those_that_run_are_found_and_the_others_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A shim that only says how to choose a version is none; one in a folder of pyenv's is."""
    shims, kept = tmp_path / "shims", tmp_path / ".pyenv/versions/3.12.1/bin"
    for folder in (shims, kept, tmp_path / "dist"):
        folder.mkdir(parents=True)
    for name in ("python3.12", "python3.13"):
        (shims / name).write_text("#!/bin/sh\nexit 127\n")
        (shims / name).chmod(0o755)
    (kept / "python3.12").symlink_to(sys.executable)
    for name in ("ffnviz.whl", "ffnviz.tar.gz"):
        (tmp_path / "dist" / name).touch()
    tried: list[tuple[str, str]] = []
    monkeypatch.setattr(release, "_try", lambda python, what, _: tried.append((python, what.name)))
    monkeypatch.setattr(release, "ROOT", tmp_path)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setenv("PATH", str(shims))
    release.main([])
    one = str(kept / "python3.12")
    assert tried == [(one, "ffnviz.tar.gz"), (one, "ffnviz.whl")]
    told = capsys.readouterr().out
    assert "Not tried, as they are not here: python3.11, python3.13, python3.14." in told
    with pytest.raises(SystemExit, match=r"There is no python3\.13 here"):
        release.main(["python3.12", "python3.13"])


def test_without_both_packages_it_says_how_they_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release, "ROOT", tmp_path)
    with pytest.raises(SystemExit, match="one wheel and one sdist"):
        release.main(["python3"])


@pytest.mark.parametrize("target", ["release", "versions"])
def test_each_python_that_is_asked_for_is_tried(target: str) -> None:
    command = ["make", "--dry-run", target, "PYTHONS=python3.11 python3.13"]
    told = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True)
    module = {"release": "tests.release", "versions": "tests.release.versions"}[target]
    assert f"-m {module} python3.11 python3.13" in told.stdout
