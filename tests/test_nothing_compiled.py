"""No process imports torch.compile, which takes seconds and tens of megabytes."""

import subprocess
import sys

WORK = """
import sys
import torch
from ffnviz.analysis.timing.memory import peak_of
from ffnviz.analysis.gradients import vector_jacobian
from ffnviz.models.torch_shortcuts import Adam, AdamW

for kind in (Adam, AdamW):
    layer = torch.nn.Linear(2, 2)
    optimizer = kind(layer.parameters())
    layer(torch.ones(2)).sum().backward()
    torch.nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    optimizer.load_state_dict(optimizer.state_dict())
x = torch.ones(2, requires_grad=True)
vector_jacobian(torch.ones(2), layer(x), [x])
assert peak_of(lambda: layer(x), []) > 0
print(*{"sympy", "torch._dynamo"} & sys.modules.keys())
"""


def test_training_slopes_and_counting_memory_do_without_it() -> None:
    ran = subprocess.run([sys.executable, "-c", WORK], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []
