"""How much memory is free, in a container too, and how its amount is said."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from ffnviz.models.external import memory

GIB = 2**30
STAT = "anon {anon}\n{p}inactive_file {inactive}\n{p}active_file {active}\n"


def _group(folder: Path, names: tuple[str, str], most: object, used: int, stat: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    limit, current = names
    (folder / limit).write_text(f"{most}\n")
    (folder / current).write_text(f"{used}\n")
    (folder / "memory.stat").write_text(stat)


V2 = ("memory.max", "memory.current")
V1 = ("memory.limit_in_bytes", "memory.usage_in_bytes")


def _stat(inactive: int, active: int, prefix: str = "") -> str:
    return STAT.format(anon=GIB, p=prefix, inactive=inactive, active=active)


def test_what_groups_leave_is_the_least_of_their_limits_without_the_cache(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    _group(whole, V2, 8 * GIB, 7 * GIB, _stat(5 * GIB, GIB))
    assert list(memory.left_by_groups(whole, "0::/\n")) == [7 * GIB]
    assert list(memory.left_by_groups(whole, "0::/of/the/host\n")) == [7 * GIB]  # not seen here
    # A group's own limit and those above it count.
    nested = tmp_path / "nested"
    _group(nested / "slice", V2, 4 * GIB, 3 * GIB, _stat(GIB, 0))
    _group(nested / "slice" / "job", V2, "max", 3 * GIB, _stat(GIB, 0))
    assert list(memory.left_by_groups(nested, "0::/slice/job\n")) == [2 * GIB]
    # Version 1 has other names; its plain counts are of the group alone, without those below it.
    group = tmp_path / "memory" / "docker"
    _group(group, V1, 8 * GIB, 6 * GIB, _stat(0, 0) + _stat(3 * GIB, GIB, "total_"))
    listed = "5:cpu,cpuacct:/docker\n4:hugetlb,memory:/docker\n0::/\n"
    assert list(memory.left_by_groups(tmp_path, listed)) == [6 * GIB]


@pytest.mark.parametrize("listed", ["", "0::/\n", "0::/gone\n", "4:memory:/\n0::/\n"])
def test_without_a_group_nothing_is_limited(tmp_path: Path, listed: str) -> None:
    assert list(memory.left_by_groups(tmp_path, listed)) == []


def test_no_more_is_free_than_the_machine_has() -> None:
    lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    total = next(int(line.split()[1]) for line in lines if line.startswith("MemTotal"))
    assert 0 < memory.free_bytes(torch.device("cpu")) <= total * 1024


@pytest.mark.parametrize(
    ("n", "said"),
    [(0, "0 kB"), (14_200, "14 kB"), (999_400, "999 kB"), (3_240_000, "3.2 MB"),
     (124e6, "0.1 GB"), (16.06e9, "16.1 GB")],
)  # fmt: skip
def test_an_amount_is_said_in_a_unit_that_fits(n: float, said: str) -> None:
    assert memory.gigabytes(n) == said


FAULTS = """
import os, resource, torch, transformers
from ffnviz import from_module
from tests.models.external.families import build
from tests.models.external.tokenizers import byte_level

torch.set_num_threads(1)
config = transformers.GPT2Config(n_layer=2, n_embd=512, n_head=8, vocab_size=97, use_cache=False)
model = build(lambda: transformers.AutoModelForCausalLM.from_config(config))

def pages_asked_for():
    network = from_module(model, byte_level(), "GPT-2")
    for trace in range(4):
        if trace == 2:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        held = network.trace("the cat sat on the mat " * 8, hold="all")
        made = [block.ffn.hidden for block in held.blocks], held.logits
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

as_the_environment_says = pages_asked_for()
del os.environ["MALLOC_TRIM_THRESHOLD_"]
print(as_the_environment_says, pages_asked_for())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's settings")
def test_a_second_trace_asks_the_system_for_little_memory() -> None:
    pytest.importorskip("transformers")
    unsaid = {name: value for name, value in os.environ.items() if name not in memory.SAID}
    ran = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True,
                         env=unsaid | {"MALLOC_TRIM_THRESHOLD_": "131072"})  # fmt: skip
    said, unsaid_by_anybody = map(int, ran.stdout.splitlines()[-1].split())
    assert 3 * unsaid_by_anybody < said
