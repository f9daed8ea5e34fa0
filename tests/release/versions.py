"""`make versions`: the quick tests with the oldest and with the newest versions allowed, by Python.

python -m tests.release.versions                        # every Python from 3.11 on that is here
python -m tests.release.versions python3.11 python3.13

The oldest versions are those that pyproject.toml names, on the oldest Python: a newer one came
after some of them. Tests run first with what ffnviz needs alone; then with what its extras need,
which may need newer versions. Environments are kept in build/versions and used again.
"""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.release.__main__ import PIP, ROOT, pinned, pythons_here

FOLDER = ROOT / "build" / "versions"
SHOWN = ("torch", "numpy", "transformers", "streamlit", "plotly", "pyarrow", "uvicorn", "pandas")
TESTS_NEED = ("pytest", "hypothesis", "beartype")
EXTRAS = ("hf", "notebook", "xarray", "pandas")  # Redis and Ray have servers of their own
# What a version can break: tensors, files, figures, the page, the server, the command line.
ALONE = (
    "tests/models/test_encoder.py",
    "tests/models/test_against_pytorch.py",
    "tests/models/test_linear.py",
    "tests/models/test_edit.py",
    "tests/models/test_folder.py",
    "tests/models/test_tokenizer.py",
    "tests/state/test_state.py",
    "tests/pictures/test_files.py",
    "tests/pictures/test_wording.py",
    "tests/pictures/test_payload.py",
    "tests/parts/test_vocabulary_sheets.py",
    "tests/app/test_app.py",
    "tests/server/test_streamlit_patches.py",
    "tests/server/test_application.py",
    "tests/cli/test_index.py",
    "tests/training/test_learning.py",
)
WITH_EXTRAS = (
    "tests/models/test_trace_file.py",
    "tests/models/external/test_network.py",
    "tests/models/external/test_in_memory.py",
    "tests/models/external/test_opening.py",
    "tests/analysis/causal/test_attribution.py",
    "tests/export/test_view.py",
    "tests/gpu/test_simulated_gpu.py",
)


@dataclass(frozen=True)
class Row:
    """What the tests said in one environment."""

    python: str  # "3.11"
    what: str
    versions: dict[str, str]  # of SHOWN, by name
    result: str  # "120 passed"
    failed: bool


def main(pythons: Sequence[str]) -> None:
    """Try each Python, print each row as it comes in, and fail if any has failed."""
    here = pythons_here(pythons, "versions")
    sys.stdout.write(line(["Python", "versions", *SHOWN, "tests"]))
    failed = False
    for place, python in enumerate(here):
        for oldest in (True, False) if place == 0 else (False,):
            for row in tried(python, oldest):
                failed = failed or row.failed
                own = [row.versions.get(name, "–") for name in SHOWN]
                sys.stdout.write(line([row.python, row.what, *own, row.result]))
                sys.stdout.flush()
    sys.exit(failed)


def line(cells: Sequence[str]) -> str:
    """A table's row."""
    return " | ".join(cell.ljust(9) for cell in cells) + "\n"


def tried(python: str, oldest: bool) -> Iterator[Row]:
    """The rows of one environment: without the extras, and with them."""
    asked = [python, "-c", "import sys; print('{}.{}'.format(*sys.version_info))"]
    version = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    kind = "oldest" if oldest else "newest"
    home = FOLDER / f"{version}-{kind}"
    if not (home / "bin" / "python").exists():
        subprocess.run([python, "-m", "venv", str(home)], check=True)
    needed, extras = requirements((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for what, packages, tests in (
        (kind, [*needed, *map(pinned, TESTS_NEED)], ALONE),
        (f"{kind}, extras", extras, WITH_EXTRAS),
    ):
        problem = install(home, [lowest(each) for each in packages] if oldest else packages, oldest)
        result, failed = (problem, True) if problem else tested(home, tests)
        yield Row(version, what, installed(home), result, failed)


def requirements(pyproject: str) -> tuple[list[str], list[str]]:
    """What ffnviz needs, and what its extras need, as pyproject.toml says it."""
    project = tomllib.loads(pyproject)["project"]
    extras = project["optional-dependencies"]
    return project["dependencies"], [each for name in EXTRAS for each in extras[name]]


def lowest(requirement: str) -> str:
    """The oldest version that a requirement allows: "a>=1.2,<2; b" is "a==1.2; b"."""
    return re.sub(r">=\s*([^,;\s]+)[^;]*", r"==\1", requirement)


def install(home: Path, packages: Sequence[str], oldest: bool) -> str:
    """Install packages into an environment; what went wrong in a few words, or nothing."""
    newest = () if oldest else ("--upgrade", "--upgrade-strategy", "eager")
    pip = [str(home / "bin" / "python"), *PIP, "install", "--no-compile"]
    with (home / "install.log").open("a", encoding="utf-8") as log:
        for what in ([*newest, *packages], ["--no-deps", "--editable", str(ROOT)]):
            done = subprocess.run([*pip, *what], stdout=log, stderr=subprocess.STDOUT)
            if done.returncode:
                return f"pip cannot install: see {home / 'install.log'}"
    return ""


def tested(home: Path, tests: Sequence[str]) -> tuple[str, bool]:
    """What pytest's last line says of some tests, and whether any has failed."""
    environment = {
        k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "STREAMLIT_"))
    }
    # What old and new packages warn of each other is not a failure of ours; pytest counts it.
    options = ("-q", "-p", "no:cacheprovider", "--continue-on-collection-errors",
               "-o", "filterwarnings=default")  # fmt: skip
    command = [str(home / "bin" / "python"), "-m", "pytest", *options, *tests]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    with (home / "tests.log").open("a", encoding="utf-8") as log:
        log.write(done.stdout)
    last = done.stdout.strip().rpartition("\n")[2].strip("= ")
    where = f": see {home / 'tests.log'}" if done.returncode else ""
    return f"{last}{where}", done.returncode != 0


def installed(home: Path) -> dict[str, str]:
    """The versions of SHOWN in an environment."""
    asked = (
        "from importlib.metadata import distributions; "
        "print(*(f'{each.name}=={each.version}' for each in distributions()))"
    )
    command = [str(home / "bin" / "python"), "-c", asked]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    pairs = dict(each.lower().split("==", 1) for each in listed)
    return {name: pairs[name] for name in SHOWN if name in pairs}


if __name__ == "__main__":
    main(sys.argv[1:])
