"""Whatever draws, draws from a generator of its own: chance that all share makes wrong numbers.

Only training may seed the process: it is alone in it.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "ffnviz"
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
    assert len(others) > 300
    touched = {path: list(shared_chance(path.read_text(encoding="utf-8"))) for path in others}
    assert {path: lines for path, lines in touched.items() if lines} == {}


@pytest.mark.parametrize(
    "source",
    [
        "torch.manual_seed(1)",
        "torch.cuda.manual_seed_all(1)",
        "with torch.random.fork_rng(devices=[]): pass",
        "from torch import randn",
        "torch.randn(3, 4)",
        "torch.randperm(n)",
        "weight.normal_(std=0.02)",
        "torch.empty(3).uniform_()",
        "nn.init.xavier_normal_(module.weight)",
        "np.random.seed(1)",
        "np.random.rand(3)",
        "np.random.default_rng()",
        "import random",
        "from random import choice",
    ],
)
def test_what_touches_it_is_found(source: str) -> None:
    assert len(list(shared_chance(source))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "generator = torch.Generator().manual_seed(1)",
        "torch.randn(3, 4, generator=generator)",
        "nn.init.normal_(weight, std=0.02, generator=generator)",
        "np.random.default_rng([1, 2]).random()",
    ],
)
def test_a_generator_of_its_own_is_fine(source: str) -> None:
    assert list(shared_chance(source)) == []
