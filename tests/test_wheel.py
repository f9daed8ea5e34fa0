"""What `pip install` gives: the whole app, from any folder, where there is no checkout."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import urllib.request
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

import pytest
import torch
from playwright.sync_api import Browser

import ffnviz
from tests.browser.conftest import serving
from tests.browser.journey import WIRE, Journey

ROOT = Path(__file__).parents[1]
NOT_SOURCE = (
    ".git", ".venv", ".*_cache", ".hypothesis", ".training", "build", "dist", "site",
    "*.egg-info",
)  # fmt: skip
TEXT = "The cat sat on the [MASK]."
LARGEST = 60e6  # bytes; it was 40e6 when this was written
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel in it, and an empty folder to be in."""

    python: Path
    command: Path
    package: Path
    folder: Path
    environment: dict[str, str]

    def run(self, *command: str | Path) -> str:
        """What the command prints."""
        return subprocess.check_output(command, cwd=self.folder, env=self.environment, text=True)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the source distribution, so that neither may miss a file."""
    source = tmp_path_factory.mktemp("source") / "ffnviz"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(*NOT_SOURCE))
    (source / "corpus").mkdir()
    (source / "corpus" / "a-book.txt").write_text("Call me Ishmael.", encoding="utf-8")
    build = "from setuptools.build_meta import build_sdist; build_sdist('dist')"
    subprocess.run([sys.executable, "-c", build], cwd=source, check=True, capture_output=True)
    (packed,) = (source / "dist").glob("*.tar.gz")
    built = tmp_path_factory.mktemp("wheel")
    options = ("--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", built)
    subprocess.run([*PIP, "wheel", *options, packed], check=True)
    (path,) = built.glob("ffnviz-*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel beside the libraries of this environment, without this checkout."""
    base = tmp_path_factory.mktemp("environment")
    venv.create(base, symlinks=os.name != "nt")
    places = {"base": str(base), "platbase": str(base)}
    scripts, packages = (
        Path(sysconfig.get_path(name, "venv", vars=places)) for name in ("scripts", "purelib")
    )
    python = scripts / "python"
    subprocess.run(
        [*PIP, "--python", python, "install", "--no-deps", "--no-index", wheel], check=True
    )
    # A .pth is read in site-packages alone, so the one that leads to this checkout is not followed.
    libraries = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (packages / "libraries.pth").write_text("\n".join(libraries), encoding="utf-8")
    folder = tmp_path_factory.mktemp("empty")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "STREAMLIT_"))}
    home = str(tmp_path_factory.mktemp("home"))
    return Installed(
        python, scripts / "ffnviz", packages / "ffnviz", folder, {**kept, "HOME": home}
    )


@pytest.fixture(scope="module")
def address(installed: Installed) -> Iterator[str]:
    """`ffnviz app` from the wheel, started in the empty folder."""
    with serving([installed.command], installed.folder, installed.environment) as address:
        yield address


def test_the_wheel_holds_what_it_needs_and_pip_knows_what_it_is(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        about = archive.read(name).decode()
    package = (path for path in (ROOT / "ffnviz").rglob("*") if "__pycache__" not in path.parts)
    top = (*(ROOT / "assets").rglob("*"), ROOT / "app.py", ROOT / "pyproject.toml")
    wanted = {path.relative_to(ROOT).as_posix() for path in package if path.is_file()}
    wanted |= {"ffnviz/top/" + p.relative_to(ROOT).as_posix() for p in top if p.is_file()}
    wanted |= {"ffnviz/top/.streamlit/config.toml"}
    readmes = {"ffnviz/top/assets/journey.png", "ffnviz/top/assets/journey.webp"}
    assert held == wanted - readmes
    assert wheel.stat().st_size < LARGEST
    assert f"\nVersion: {ffnviz.__version__}\n" in about
    assert "\nLicense-Expression: Apache-2.0\n" in about
    assert "\nRequires-Python: >=3.11\n" in about
    assert "\nRequires-Dist: torch>=" in about
    assert "\n# ffnviz\n" in about  # the readme


def test_a_notebook_works_in_any_folder(installed: Installed) -> None:
    program = (
        "import ffnviz, json; "
        f"trace = ffnviz.load('relu').trace({TEXT!r}); "
        "print(json.dumps([ffnviz.__file__, trace.logits[-2].topk(5).indices.tolist()]))"
    )
    file, likeliest = json.loads(installed.run(installed.python, "-c", program))
    assert Path(file).parent == installed.package
    logits = ffnviz.load("relu").trace(TEXT).logits
    assert likeliest == torch.topk(logits[-2], 5).indices.tolist()


def test_the_app_starts_anywhere_and_serves_its_parts(installed: Installed, address: str) -> None:
    folders = {"picture": "pictures/adapter", "pictures": "pictures/static"}
    for name in ("picture/adapter.js", "pictures/activation_map.css", "pictures/palettes.json"):
        component, _, path = name.partition("/")
        served = f"{address}/_stcore/bidi-components/ffnviz.{name}"
        file = installed.package / folders[component] / path
        with urllib.request.urlopen(served, timeout=60) as answer:
            assert answer.read() == file.read_bytes()
    assert list(installed.folder.iterdir()) == []  # nothing is left behind


@pytest.mark.browser
def test_the_page_has_its_pictures_and_its_settings(address: str, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 1920, "height": 1080})
    page.add_init_script(WIRE)
    failed: list[str] = []
    page.on("response", lambda answer: failed.append(answer.url) if answer.status >= 400 else None)
    try:
        Journey(page, address).open(text=TEXT)
        font = page.evaluate("getComputedStyle(document.documentElement).fontSize")
    finally:
        page.close()
    assert failed == []
    assert font == "18px"  # as .streamlit/config.toml has it; Streamlit's own is 16px
