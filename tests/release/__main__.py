"""`make release`: each package in dist/ installed in a bare environment of each Python, and tried.

python -m tests.release                        # every Python from 3.11 on that is here
python -m tests.release python3.11 python3.13
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Sequence
from pathlib import Path

import ffnviz
from tests.browser.conftest import serving

ROOT = Path(__file__).parents[2]
TEXT = "The cat sat on the [MASK]."
LIKELIEST = (
    "import ffnviz; from pathlib import Path; "
    "assert Path(ffnviz.__file__).is_relative_to({home!r}); "
    f"print(*ffnviz.load('relu').trace({TEXT!r}).logits[-2].topk(5).indices.tolist())"
)
NAMES = [f"python3.{minor}" for minor in range(11, 15)]  # all that PyTorch has wheels for
# Where pyenv and uv keep those that the PATH does not lead to, under the home.
KEPT = (".pyenv/versions/3.*/bin", ".local/share/uv/python/cpython-3.*/bin")
PIP = ("-m", "pip", "--disable-pip-version-check", "--quiet")


def main(pythons: list[str]) -> None:
    """Try each package on each Python; the first that fails ends it."""
    here = pythons_here(pythons, "release")
    packages = sorted([*(ROOT / "dist").glob("*.whl"), *(ROOT / "dist").glob("*.tar.gz")])
    if len(packages) != 2:
        sys.exit("dist/ should have one wheel and one sdist: python -m build makes them.")
    for python in here:
        for package in packages:
            with tempfile.TemporaryDirectory(prefix="ffnviz-release-") as folder:
                _try(python, package, Path(folder))
            sys.stdout.write(f"{package.name} works on {python}.\n")
            sys.stdout.flush()


def pythons_here(pythons: Sequence[str], target: str) -> list[str]:
    """The paths of those that are asked for, or of all that are here; says which are not."""
    found = {name: found_python(name) for name in pythons or NAMES}
    missing = ", ".join(name for name, path in found.items() if not path)
    here = [path for path in found.values() if path]
    if missing and (pythons or not here):
        sys.exit(f"There is no {missing} here. Name others with make {target} PYTHONS=…")
    if missing:
        sys.stdout.write(f"Not tried, as they are not here: {missing}.\n")
    return here


def found_python(name: str) -> str:
    """The path of a Python that runs, by its name or path; empty if there is none."""
    kept = [str(path) for folder in KEPT for path in sorted(Path.home().glob(f"{folder}/{name}"))]
    for path in (shutil.which(name), *kept):
        # A shim of pyenv is there for every version that it could run, and then does not.
        if (
            path
            and subprocess.run([path, "-c", "import venv"], capture_output=True).returncode == 0
        ):
            return path
    return ""


def _try(python: str, package: Path, folder: Path) -> None:
    """Install it with what it says it needs; run the tests of public names; open the page."""
    home, empty = folder / "environment", folder / "empty"
    shutil.copytree(Path(__file__).parent / "installed", empty)
    shutil.copy(ROOT / "tests" / "test_public_names.py", empty)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "STREAMLIT_"))}
    environment = {**kept, "HOME": str(folder)}  # pip has the user's own, and so their index
    own = str(home / "bin" / "python")

    def run(*command: str, env: dict[str, str] = environment) -> str:
        done = subprocess.run(command, cwd=empty, env=env, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(f"{package.name} fails on {python}: {' '.join(command)}\n{done.stdout}")
        return done.stdout

    run(python, "-m", "venv", str(home))
    run(own, *PIP, "install", str(package), pinned("pytest"), env=kept)
    run(own, *PIP, "check")
    run(own, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_public_names.py")
    here = ffnviz.load("relu").trace(TEXT).logits[-2].topk(5).indices.tolist()
    if run(own, "-c", LIKELIEST.format(home=str(home))).split() != [str(each) for each in here]:
        sys.exit(f"{package.name} on {python} does not say what this checkout says.")
    with serving([home / "bin" / "ffnviz"], empty, environment) as address:
        for path in ("/", "/_stcore/bidi-components/ffnviz.picture/adapter.js"):
            with urllib.request.urlopen(address + path, timeout=60) as answer:
                if answer.status != 200 or not answer.read():
                    sys.exit(f"{package.name} on {python}: {path} is empty.")


def pinned(name: str) -> str:
    """The version that this checkout is tested with."""
    pins = (ROOT / "requirements-dev.txt").read_text(encoding="utf-8")
    return re.findall(rf"^{name}==.*$", pins, re.MULTILINE)[0]  # type: ignore[no-any-return]


if __name__ == "__main__":
    main(sys.argv[1:])
