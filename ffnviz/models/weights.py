"""Whether a network is still as it was when a pass was made: it stays its owner's to change."""

import copy
from collections.abc import Callable
from typing import Any, TypeVar

from torch import nn

T = TypeVar("T")


class WeightsChangedError(RuntimeError):
    """A trace is asked for something new after its network changed.

    Examples:
        >>> trace = ffnviz.from_module(gpt2, tokenizer).trace("the cat sat")
        >>> with torch.no_grad():
        ...     _ = gpt2.transformer.wte.weight.mul_(1.5)  # a step of training
        >>> trace.logits
        Traceback (most recent call last):
            ...
        ffnviz.models.weights.WeightsChangedError: The network's weights changed ...
    """


class WeightsWatch:
    """Tells a network's state by a number: 60 µs for GPT-2, whose pass takes 250 ms.

    The state follows from the versions that PyTorch counts of each weight, where it lies, which
    modules there are, and whether one is in training mode. What is written past PyTorch's count,
    by `weight.data`, is not seen.
    """

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        modules = tuple(model.modules())
        self._flags = [vars(module) for module in modules]
        self._parameters = [module._parameters for module in modules if module._parameters]
        self._children = [module._modules for module in modules if module._modules]

    @property
    def in_training(self) -> bool:
        """Whether a module is in training mode."""
        return any([flags["training"] for flags in self._flags])  # noqa: C419, as it is quicker

    def state(self) -> int:
        """A number that is another one as soon as the network changes."""
        weights = tuple(
            [
                (id(weight), weight.is_inference() or weight._version, weight.data_ptr())
                for parameters in self._parameters
                for weight in parameters.values()
                if weight is not None
            ]
        )
        modules = tuple([id(child) for children in self._children for child in children.values()])
        return hash((weights, modules, self.in_training))

    def __deepcopy__(self, memo: dict[int, Any]) -> "WeightsWatch":
        return WeightsWatch(copy.deepcopy(self._model, memo))


def as_then(watch: WeightsWatch, state: int, compute: Callable[..., T]) -> Callable[..., T]:
    """The same function, which raises a WeightsChangedError once the weights have changed."""

    def checked(*arguments: Any) -> T:
        if watch.state() != state:
            raise WeightsChangedError(
                "The network's weights changed after this trace was made (or it was set to "
                "training mode), and this was not computed before. Trace the text again; "
                'with hold="all" a trace keeps everything from the start.'
            )
        return compute(*arguments)

    return checked
