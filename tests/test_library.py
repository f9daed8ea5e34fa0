"""What a notebook is answered that asks for what cannot be: a sentence, and at once.

In a process of its own: here a hook checks the types of all that is handed to the model.
"""

import json
import subprocess
import sys
from typing import Any

import pytest

PROGRAM = """
import json, sys
import torch
import ffnviz

model = ffnviz.load("relu")
trace = model.trace("The cat sat on the [MASK].")
answers = {}
for asked in json.loads(sys.argv[1]):
    try:
        eval(asked)
        answers[asked] = ["nothing", ""]
    except Exception as error:
        answers[asked] = [type(error).__name__, str(error)]
print(json.dumps(answers))
"""
WRONG = {
    "model.trace(None)": ("TypeError", "A text is a str, and this is of type NoneType."),
    "model.trace(['a', 'b'])": ("TypeError", "this is of type list. Of several texts, `traces`"),
    "model.trace(b'x')": ("TypeError", "this is of type bytes"),
    "model.trace('')": ("ValueError", "The text is empty"),
    "model.run([99999])": ("TypeError", "ids must be a tensor of whole numbers"),
    "model.run(torch.tensor([0.5]))": ("TypeError", "ids must be a tensor of whole numbers"),
    "model.run(torch.tensor([1, 99999]))": ("ValueError", "no entry 99999 in the vocabulary"),
    "model.run(torch.tensor([-1]))": ("ValueError", "no entry -1 in the vocabulary"),
    "trace.logits_at(99)": ("IndexError", "There is no token 99: they count from 0 to "),
    "ffnviz.load('')": ("ValueError", "The name is empty: give relu, gelu, a folder"),
    "ffnviz.load('relu', dtype='bfloat16')": ("ValueError", "is one of ours: it has float32"),
    "ffnviz.load('relu', dtype=torch.bfloat16)": ("ValueError", "is one of ours: it has float32"),
    "ffnviz.load('relu', revision='main')": ("ValueError", "Leave out revision."),
    "ffnviz.load('relu', dtype=torch.float16)": (
        "ValueError", "dtype = torch.float16 is not allowed: it must be float32 or bfloat16"),
    "ffnviz.load('relu', dtype=torch.float32)": ("nothing", ""),
    "ffnviz.load('relu', device='nowhere')": ("RuntimeError", "'nowhere' cannot be used here"),
    "ffnviz.load('relu', device='cuda:77')": ("RuntimeError", "'cuda:77' cannot be used here"),
}  # fmt: skip


@pytest.fixture(scope="module")
def answers() -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(list(WRONG))],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.mark.parametrize("asked", WRONG)
def test_a_wrong_call_is_answered_in_a_sentence(answers: dict[str, Any], asked: str) -> None:
    kind, said = WRONG[asked]
    assert answers[asked][0] == kind, answers[asked]
    assert said in answers[asked][1]
