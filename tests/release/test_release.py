"""What `make release` and `make versions` say and try, without installing anything."""

import sys
from pathlib import Path

import pytest

from tests.release import __main__ as release
from tests.release import versions
from tests.release.__main__ import ROOT


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
    tried: list[tuple[str, str]] = []
    monkeypatch.setattr(release, "_try", lambda python, what, _: tried.append((python, what.name)))
    monkeypatch.setattr(release, "ROOT", tmp_path)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setenv("PATH", str(shims))
    with pytest.raises(SystemExit, match="one wheel and one sdist"):
        release.main([])
    for name in ("ffnviz.whl", "ffnviz.tar.gz"):
        (tmp_path / "dist" / name).touch()
    release.main([])
    one = str(kept / "python3.12")
    assert tried == [(one, "ffnviz.tar.gz"), (one, "ffnviz.whl")]
    told = capsys.readouterr().out
    assert "Not tried, as they are not here: python3.11, python3.13, python3.14." in told
    with pytest.raises(SystemExit, match=r"There is no python3\.13 here"):
        release.main(["python3.12", "python3.13"])


def test_every_requirement_names_its_oldest_version() -> None:
    assert versions.lowest("ray[data]>=2.60,<3") == "ray[data]==2.60"
    assert versions.lowest("uvloop>=0.19; os_name != 'nt'") == "uvloop==0.19; os_name != 'nt'"
    assert versions.lowest("pytest==9.2.0") == "pytest==9.2.0"
    needed, extras = versions.requirements((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert {"torch", "streamlit"} < {each.partition(">=")[0] for each in needed}
    assert "transformers" in {each.partition(">=")[0] for each in extras}
    for each in (*needed, *extras):
        assert "==" in versions.lowest(each)


def test_the_tests_that_run_are_there() -> None:
    for each in (*versions.ALONE, *versions.WITH_EXTRAS):
        assert (ROOT / each).exists(), each


def test_the_oldest_versions_are_for_the_first_python_and_a_failure_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def tried(python: str, oldest: bool) -> list[versions.Row]:
        result = "1 failed" if oldest else "7 passed"
        return [versions.Row(python, "", {"torch": "2.5.0"}, result, failed=oldest)]

    monkeypatch.setattr(release, "found_python", lambda name: name)
    monkeypatch.setattr(versions, "tried", tried)
    with pytest.raises(SystemExit) as ended:
        versions.main(["python3.11", "python3.12"])
    assert ended.value.code
    told = [row.split(" | ") for row in capsys.readouterr().out.splitlines()[1:]]
    assert [(row[0].strip(), row[2].strip(), row[-1].strip()) for row in told] == [
        ("python3.11", "2.5.0", "1 failed"),
        ("python3.11", "2.5.0", "7 passed"),
        ("python3.12", "2.5.0", "7 passed"),
    ]
