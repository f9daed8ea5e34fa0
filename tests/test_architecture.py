"""docs/architecture.md's picture, held true: the contracts, and what contracts cannot say."""

import ast
import subprocess
import sys
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[1]

# A contract can forbid libraries by name, but not all others than these.
LIBRARIES = {
    "ffnviz.models.encoder": {"torch", "jaxtyping", "tokenizers", "safetensors"},
    "ffnviz.models.external": {"torch", "safetensors", "transformers", "huggingface_hub"},
    "ffnviz.analysis": {"torch", "jaxtyping", "numpy", "pandas"},
    "ffnviz.jobs.indexing": {"torch", "pyarrow", "ray"},
    "ffnviz.pictures": {"numpy", "plotly", "pygments"},
}


# What Streamlit documents; `streamlit_patches` alone imports anything else of it.
STREAMLIT = {"streamlit", "streamlit.starlette", "streamlit.testing.v1"}
PATCHES = ROOT / "ffnviz" / "server" / "streamlit_patches"


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    return grimp.build_graph("ffnviz", include_external_packages=True, cache_dir=None)


def test_every_import_points_in_the_drawn_direction() -> None:
    # In a process of its own: import-linter disables the loggers of the process that it runs in.
    command = "from importlinter.cli import lint_imports_command as lint; lint()"
    done = subprocess.run(
        [sys.executable, "-c", command, "--no-cache", "--no-logo"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("package", LIBRARIES)
def test_a_package_uses_only_its_libraries(package: str, imports: grimp.ImportGraph) -> None:
    modules = {package} | imports.find_descendants(package)
    imported = set[str]().union(*map(imports.find_modules_directly_imported_by, modules))
    libraries = {name for name in imported if name.split(".")[0] != "ffnviz"}
    assert libraries - sys.stdlib_module_names <= LIBRARIES[package]


def private_parts(source: str) -> set[str]:
    """What a module imports of Streamlit, or takes from it, that Streamlit does not document."""
    taken = set[str]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            taken |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "streamlit":
            taken |= {f"streamlit.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            taken.add(node.module or "")
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            inside = node.attr in ("runtime", "web", "proto") or node.attr.startswith("_")
            if node.value.id == "st" and inside:
                taken.add(f"streamlit.{node.attr}")
    return {name for name in taken - STREAMLIT if name.split(".")[0] == "streamlit"}


@pytest.mark.parametrize(
    "source",
    ["import streamlit.web.cli", "from streamlit import runtime", "st.runtime.exists()",
     "from streamlit.components.v2.manifest_scanner import ComponentConfig"],
)  # fmt: skip
def test_private_parts_are_seen(source: str) -> None:
    assert private_parts(source)


def test_one_folder_alone_reaches_into_streamlits_private_parts() -> None:
    package = set((ROOT / "ffnviz").rglob("*.py")) - set(PATCHES.rglob("*.py"))
    reaching = {path.name: private_parts(path.read_text(encoding="utf-8")) for path in package}
    assert {name: parts for name, parts in reaching.items() if parts} == {}
