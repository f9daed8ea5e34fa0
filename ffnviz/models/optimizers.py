"""PyTorch's Adam and AdamW, without the compiler that theirs import.

Methods of PyTorch's optimizers are wrapped so that torch.compile leaves them alone; to say so the
wrappers import all of it, which takes 1.6 s and 70 MB in every process that trains. Nothing is
compiled here: these are the same methods without their wrappers.
"""

import inspect

import torch
from torch.optim import Optimizer


class _NotCompiled(Optimizer):
    add_param_group = inspect.unwrap(Optimizer.add_param_group)
    state_dict = inspect.unwrap(Optimizer.state_dict)
    load_state_dict = inspect.unwrap(Optimizer.load_state_dict)
    zero_grad = inspect.unwrap(Optimizer.zero_grad)


class Adam(_NotCompiled, torch.optim.Adam):
    """torch.optim.Adam: Kingma & Ba 2015, algorithm 1."""

    step = torch.no_grad()(inspect.unwrap(torch.optim.Adam.step))


class AdamW(_NotCompiled, torch.optim.AdamW):
    """torch.optim.AdamW: Loshchilov & Hutter 2019, algorithm 2."""

    step = torch.no_grad()(inspect.unwrap(torch.optim.AdamW.step))
