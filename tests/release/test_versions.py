"""What `make versions` installs and says, without installing anything."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.release import __main__ as release
from tests.release import versions
from tests.release.__main__ import ROOT


@pytest.mark.parametrize(
    ("requirement", "oldest"),
    [
        ("torch>=2.5", "torch==2.5"),
        ("streamlit>=1.64,<2", "streamlit==1.64"),
        ("uvloop>=0.19; sys_platform != 'win32'", "uvloop==0.19; sys_platform != 'win32'"),
        ("ray[data]>=2.60", "ray[data]==2.60"),
        ("pytest==9.2.0", "pytest==9.2.0"),
    ],
)
def test_the_oldest_version_that_is_allowed(requirement: str, oldest: str) -> None:
    assert versions.lowest(requirement) == oldest


def test_every_requirement_names_its_oldest_version() -> None:
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
