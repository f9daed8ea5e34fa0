"""PyTorch's initial weights by a generator of our own, and its Adams without the compiler.

PyTorch's layers draw from a state that the whole process shares: to seed it for a moment changes
the numbers of every other thread. And its optimizers' methods are wrapped so that torch.compile
leaves them alone; to say so the wrappers import all of it, which takes 1.6 s and 70 MB.
"""

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer
from torch.overrides import TorchFunctionMode


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


INIT = "torch.nn.init"
DRAWS = {
    name
    for name, function in inspect.getmembers(nn.init, inspect.isfunction)
    if "generator" in inspect.signature(function).parameters
}

Function = Callable[..., Any]


class _Initial(TorchFunctionMode):
    """Replaces the functions of torch.nn.init, in this thread alone."""

    def __init__(self, instead: Callable[[Function, dict[str, Any]], Any]) -> None:
        super().__init__()
        self.instead = instead

    def __torch_function__(
        self,
        func: Function,
        types: object,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        if getattr(func, "__module__", None) != INIT:
            return func(*args, **(kwargs or {}))
        named = inspect.signature(func).bind(*args, **(kwargs or {}))
        return self.instead(func, named.arguments)


def draws_from(generator: torch.Generator) -> TorchFunctionMode:
    """A context: layers made in it draw as after torch.manual_seed, but from this generator."""

    def init_from_generator(init: Function, arguments: dict[str, Any]) -> Any:
        if init.__name__ in DRAWS:
            arguments["generator"] = generator
        return init(**arguments)

    return _Initial(init_from_generator)


def no_draws() -> TorchFunctionMode:
    """A context: layers made in it get no initial values, as they are given others at once.

    On the meta device this also saves the import of a compiler, which takes seconds.
    """
    return _Initial(lambda _, arguments: arguments["tensor"])
