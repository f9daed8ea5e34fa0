"""What `make release` and `make versions` say and try, without installing anything."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.release import __main__ as release
from tests.release import versions
from tests.release.__main__ import ROOT


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


def test_every_requirement_names_its_oldest_version() -> None:
    assert versions.lowest("ray[data]>=2.60,<3") == "ray[data]==2.60"
    marked = "uvloop{}0.19; sys_platform != 'win32'"
    assert versions.lowest(marked.format(">=")) == marked.format("==")
    needed, extras = versions.requirements((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert {"torch", "streamlit"} < {each.partition(">=")[0] for each in needed}
    assert "transformers" in {each.partition(">=")[0] for each in extras}
    for each in (*needed, *extras):
        assert "==" in versions.lowest(each)


def test_the_tests_that_run_are_there() -> None:
    for each in (*versions.ALONE, *versions.WITH_EXTRAS):
        assert (ROOT / each).exists(), each


def test_the_oldest_versions_are_for_the_first_python_and_a_failure_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[tuple[str, Sequence[str], bool]] = []

    def install(home: Path, packages: Sequence[str], oldest: bool) -> str:
        asked.append((home.name, packages, oldest))
        return "pip cannot install" if oldest and "transformers==5.23" in packages else ""

    own = "{}.{}".format(*sys.version_info)
    (tmp_path / f"{own}-oldest" / "bin").mkdir(parents=True)
    (tmp_path / f"{own}-newest" / "bin").mkdir(parents=True)
    for kind in ("oldest", "newest"):
        (tmp_path / f"{own}-{kind}" / "bin" / "python").touch()
    monkeypatch.setattr(versions, "FOLDER", tmp_path)
    monkeypatch.setattr(release, "found_python", lambda _: sys.executable)
    monkeypatch.setattr(versions, "install", install)
    monkeypatch.setattr(versions, "installed", lambda _: {"torch": "2.5.0"})
    monkeypatch.setattr(versions, "tested", lambda *_: ("7 passed in 1s", False))
    with pytest.raises(SystemExit) as ended:
        versions.main(["python3.11", "python3.12"])
    assert ended.value.code
    assert [(home, oldest) for home, _, oldest in asked] == [
        (f"{own}-oldest", True), (f"{own}-oldest", True), *[(f"{own}-newest", False)] * 4
    ]  # fmt: skip
    assert "torch==2.5" in asked[0][1]
    assert "torch>=2.5" in asked[2][1]
    rows = capsys.readouterr().out.splitlines()
    assert len(rows) == 1 + 6
    assert "2.5.0" in rows[1]
    assert rows[1].endswith("7 passed in 1s")
    assert rows[2].endswith("pip cannot install")
