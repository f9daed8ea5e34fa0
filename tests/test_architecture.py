"""docs/architecture.md's picture, held true: the contracts, and what contracts cannot say."""

import ast
import subprocess
import sys
from collections.abc import Iterator
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


def test_one_folder_alone_reaches_into_streamlits_private_parts() -> None:
    package = set((ROOT / "ffnviz").rglob("*.py")) - set(PATCHES.rglob("*.py"))
    reaching = {path.name: private_parts(path.read_text(encoding="utf-8")) for path in package}
    assert {name: parts for name, parts in reaching.items() if parts} == {}
    for source in [
        "import streamlit.web.cli",
        "from streamlit import runtime",
        "st.runtime.exists()",
        "from streamlit.components.v2.manifest_scanner import ComponentConfig",
    ]:
        assert private_parts(source)


PACKAGE = ROOT / "ffnviz"
STATE = {"fork_rng", "get_rng_state", "initial_seed", "manual_seed", "manual_seed_all", "seed",
         "set_rng_state"}  # fmt: skip
DRAWS = {
    *("bernoulli", "multinomial", "normal", "poisson", "rand", "rand_like", "randint"),
    *("randint_like", "randn", "randn_like", "randperm"),
    *("bernoulli_", "cauchy_", "exponential_", "geometric_", "log_normal_", "normal_", "random_"),
    *("uniform_", "kaiming_normal_", "kaiming_uniform_", "orthogonal_", "sparse_"),
    *("trunc_normal_", "xavier_normal_", "xavier_uniform_"),
}
OWN = {"Generator", "SeedSequence", "default_rng"}  # NumPy's ways to have a generator


def dotted(node: ast.expr) -> str:
    """A name with its dots; what is called on a value begins with a dot."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def shared_chance(source: str) -> Iterator[str]:
    """What a source file does with the random state of the process, a line and a name each."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules = [getattr(node, "module", None) or "", *(name.name for name in node.names)]
            if "random" in modules or "numpy.random" in modules or "torch.random" in modules:
                yield f"{node.lineno}: import of random"
            yield from (f"{node.lineno}: {name}" for name in modules if name in STATE | DRAWS)
        if not isinstance(node, ast.Call):
            continue
        name = dotted(node.func)
        *owner, last = name.split(".")
        given = any(keyword.arg == "generator" for keyword in node.keywords)
        ours = owner[-1:] == [""] or "generator" in owner  # torch.Generator().manual_seed(…)
        numpys = owner in (["np", "random"], ["numpy", "random"])
        seeded = bool(node.args) and last in OWN
        if (
            (last in STATE and not ours)
            or (last in DRAWS and not given)
            or (numpys and not seeded)
        ):  # fmt: skip
            yield f"{node.lineno}: {name}"


def test_nothing_but_training_touches_the_chance_of_the_process() -> None:
    others = [path for path in PACKAGE.rglob("*.py") if PACKAGE / "training" not in path.parents]
    assert len(others) > 250
    touched = {path: list(shared_chance(path.read_text(encoding="utf-8"))) for path in others}
    assert {path: lines for path, lines in touched.items() if lines} == {}

    for source in [
        "torch.cuda.manual_seed_all(1)",
        "with torch.random.fork_rng(devices=[]): pass",
        "from torch import randn",
        "torch.randn(3, 4)",
        "torch.empty(3).uniform_()",
        "nn.init.xavier_normal_(module.weight)",
        "np.random.rand(3)",
        "np.random.default_rng()",
        "from random import choice",
    ]:
        assert len(list(shared_chance(source))) == 1

    for source in [
        "generator = torch.Generator().manual_seed(1)",
        "torch.randn(3, 4, generator=generator)",
        "nn.init.normal_(weight, std=0.02, generator=generator)",
        "np.random.default_rng([1, 2]).random()",
    ]:
        assert list(shared_chance(source)) == []
