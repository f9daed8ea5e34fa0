"""A GPU in software: tensors that say they are on it, with values in the CPU's memory.

It computes what the CPU computes, up to rounding, and refuses what CUDA refuses: operands on two
devices, NumPy's hands on its memory, and a generator of the CPU's. So a forgotten `.to(device)`
is an error here as it would be there.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import torch
from torch import Tensor
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map

NAME = "lazy"
GPU = torch.device(NAME, 0)
COPIES = ("aten::_to_copy", "aten::copy_")  # what may read one device and write another
# Of these the indices alone may be on the CPU: CUDA fetches them.
INDEXED = ("aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_")


class GpuTensor(Tensor):
    """A tensor on the simulated GPU; `held` has its values, and takes part in no gradient."""

    held: Tensor
    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @staticmethod
    def __new__(cls, held: Tensor, requires_grad: bool = False) -> "GpuTensor":
        made: GpuTensor = Tensor._make_wrapper_subclass(
            cls,
            held.shape,
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device=GPU,
            requires_grad=requires_grad,
        )
        made.held = held
        return made

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, operator: Any, _: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        return computed(operator, args, kwargs or {})

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        return f"GpuTensor({self.held})"

    def __deepcopy__(self, memo: dict[int, Any]) -> "GpuTensor":
        copy = GpuTensor(self.held.clone(), self.requires_grad)
        if isinstance(self, torch.nn.Parameter):
            copy._is_param = True
        memo[id(self)] = copy
        return copy

    def __reduce_ex__(self, protocol: Any) -> Any:
        # A file has the values alone.
        return self.held.__reduce_ex__(protocol)  # type: ignore[no-untyped-call]

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("NumPy cannot read the simulated GPU's memory: .cpu() copies it.")

    numpy = __array__

    def tolist(self) -> Any:
        return self.held.tolist()

    def untyped_storage(self) -> torch.UntypedStorage:
        return self.held.untyped_storage()

    def data_ptr(self) -> int:
        return self.held.data_ptr()


class _OnGpu(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Sees each operator, those too that make a tensor out of nothing."""

    def __torch_dispatch__(
        self, operator: Any, _: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        everything = tree_leaves((args, kwargs))
        if not any(isinstance(each, GpuTensor) or _is_gpu(each) for each in everything):
            return operator(*args, **kwargs)
        # Without gradients these come whole, and would hide the operators that they are made of.
        if torch._C._dispatch_has_kernel_for_dispatch_key(
            operator.name(), "CompositeImplicitAutograd"
        ):
            with self:
                result = operator.decompose(*args, **kwargs)
            if result is not NotImplemented:
                return result
        return computed(operator, args, kwargs)


def computed(operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """An operator's result, on the GPU if its operands are there or it is asked for there.

    Raises:
        RuntimeError: if they are on two devices.
    """
    name = operator._schema.name
    operands, _ = tree_flatten((args, kwargs))
    ours = [each for each in operands if isinstance(each, GpuTensor)]
    if name == "aten::copy_":
        is_here = isinstance(args[0], GpuTensor)
    elif kwargs.get("device") is not None:
        is_here = _is_gpu(kwargs["device"])
    else:
        is_here = bool(ours)
    if name not in COPIES:
        _refuse_two_devices(name, args, kwargs, is_here)
    held_args, held_kwargs = tree_map(_held, (args, kwargs))
    if "pin_memory" in held_kwargs:
        held_kwargs["pin_memory"] = False
    result = operator(*held_args, **held_kwargs)
    if torch.Tag.inplace_view in operator.tags:
        _reshape_too(operator, args, kwargs)
    of_held = {id(each.held): each for each in ours}

    def placed(each: Any) -> Any:
        if not isinstance(each, Tensor):
            return each
        if id(each) in of_held:  # changed in place
            return of_held[id(each)]
        if not is_here:
            return each
        with torch.inference_mode(each.is_inference()):
            return GpuTensor(each)

    return tree_map(placed, result)


def _refuse_two_devices(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any], is_here: bool
) -> None:
    checked = (args[0], *args[2:]) if name in INDEXED and isinstance(args[0], GpuTensor) else args
    for each in tree_leaves((checked, kwargs)):
        # A number may be on the CPU: a kernel gets it as an argument.
        if is_here and isinstance(each, Tensor) and not isinstance(each, GpuTensor) and each.dim():
            raise RuntimeError(
                f"Expected all tensors to be on the same device, but found {each.device} beside "
                f"the simulated GPU, in {name}."
            )
        if is_here and isinstance(each, torch.Generator):
            raise RuntimeError(f"A generator of the CPU's cannot fill the GPU's memory: {name}.")


def _reshape_too(operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Have the tensor itself take the shape that its `held` has taken; values are not touched."""
    before = torch._C._meta_in_tls_dispatch_include()
    with no_dispatch():
        torch._C._set_meta_in_tls_dispatch_include(True)
        try:
            operator(*args, **kwargs)
        finally:
            torch._C._set_meta_in_tls_dispatch_include(before)


def _held(each: Any) -> Any:
    if isinstance(each, GpuTensor):
        return each.held
    return torch.device("cpu") if _is_gpu(each) else each


def _is_gpu(each: Any) -> bool:
    return isinstance(each, torch.device) and each.type == NAME


@contextmanager
def simulated_gpu() -> Iterator[torch.device]:
    """Within, PyTorch has one more device."""
    # torch.tensor makes its values on the CPU and copies them: as it does for CUDA.
    torch._C._set_only_lift_cpu_tensors(True)
    try:
        with _OnGpu():  # type: ignore[no-untyped-call]
            yield GPU
    finally:
        torch._C._set_only_lift_cpu_tensors(False)
