"""What a person hands to a pass or an edit, checked before anything is computed."""

import functools
import inspect
import math
import warnings
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from numbers import Real
from os import PathLike
from pathlib import Path
from reprlib import repr as shorten
from typing import Any, SupportsIndex, TypeVar

import torch
from torch import Tensor

C = TypeVar("C", bound=Callable[..., Any])


def at_most(n: int) -> Callable[[C], C]:
    """A function, or a class, whose parameters behind the first n are given by their names.

    Who still gives them by their place is warned, and answered.
    """

    def decorate(decorated: C) -> C:
        if isinstance(decorated, type):
            made: Any = decorated
            made.__init__ = _named(made.__init__, n + 1, made.__name__)
            return decorated
        named: Any = _named(decorated, n, decorated.__name__)
        return named  # type: ignore[no-any-return]

    return decorate


def _named(function: Callable[..., Any], n: int, name: str) -> Callable[..., Any]:
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    later = [p for p in parameters[n:] if p.kind is p.POSITIONAL_OR_KEYWORD]

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if len(args) <= n or len(args) > n + len(later):
            return function(*args, **kwargs)
        given = {p.name: value for p, value in zip(later, args[n:], strict=False)}
        warnings.warn(
            f"{name} takes these only by name from the next version on: "
            f"{', '.join(f'{key}=…' for key in given)}.",
            DeprecationWarning,
            stacklevel=2,
        )
        return function(*args[:n], **given, **kwargs)

    changed = [
        p.replace(kind=p.KEYWORD_ONLY) if p.kind is p.POSITIONAL_OR_KEYWORD and i >= n else p
        for i, p in enumerate(parameters)
    ]
    called.__signature__ = signature.replace(parameters=changed)  # type: ignore[attr-defined]
    return called


# Which tokens, neurons or heads: their numbers from 0, or a mask; None for all.
Which = Iterable[SupportsIndex] | None
# What a pass keeps: "ffn", "attention", "all", or the blocks whose FFN's stages are kept.
Hold = str | int | Iterable[int] | None
_UNSIGNED = (torch.uint8, torch.uint16, torch.uint32, torch.uint64)
WHOLE = (torch.int64, torch.int32, torch.int16, torch.int8, *_UNSIGNED)


def check_text(text: object) -> str:
    """The text, once it is seen to be a str."""
    if not isinstance(text, str):
        raise TypeError(
            f"A text is a str, and this is of type {type(text).__name__}. "
            "For several texts, use `traces`."
        )
    return str(text)


def most_tokens(text: object, given: Any) -> int | None:
    """How many tokens of a text are read at most; None for all."""
    check_text(text)
    return None if given is None else at_least("max_tokens", given, 0)


def checked_ids(ids: object, vocab_size: int) -> Tensor:
    """Ids as int64, all of them entries of a vocabulary."""
    if not isinstance(ids, Tensor) or not ids.ndim or ids.dtype not in WHOLE:
        raise TypeError("ids must be a tensor of whole numbers, (*batch, T): torch.tensor([…]).")
    check_has_values("ids", ids)
    if 0 in ids.shape[:-1]:
        raise ValueError(f"ids has the shape {tuple(ids.shape)}: there is no text in it.")
    ids = ids.long()
    if ids.numel() and not 0 <= ids.min() <= ids.max() < vocab_size:
        check_entry(int(ids[(ids < 0) | (ids >= vocab_size)][0]), vocab_size)
    return ids


def check_entry(entry: int, vocab_size: int) -> None:
    """Check that a vocabulary has an entry."""
    if not 0 <= entry < vocab_size:
        raise ValueError(
            f"There is no entry {entry} in the vocabulary: entries are numbered from 0 to "
            f"{vocab_size - 1:,}."
        )


def texts_of(name: str, given: object) -> Iterator[str]:
    """Texts one by one, each checked when it is asked for; given as a list or by a generator."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise TypeError(
            f"{name} = {shorten(given)}: give texts in a list, even a single one: ['…']. "
            "For one text, use `trace`."
        )
    return map(check_text, given)


def check_has_values(name: str, given: Any) -> None:
    """Check that a tensor is not on the device "meta", where it has a shape alone."""
    if getattr(given, "is_meta", False):
        raise ValueError(f"{name} is on the device meta, where a tensor has no values.")


def rows_of_width(rows: object, width: int, name: str = "rows") -> Tensor:
    """Rows that something of this width reads, (…, width)."""
    if not isinstance(rows, Tensor) or not rows.is_floating_point():
        raise TypeError(f"{name} must be a tensor of floating-point numbers, (…, {width}).")
    if not rows.ndim or rows.shape[-1] != width:
        shape = tuple(rows.shape)
        raise ValueError(f"{name} has the shape {shape}: its last size must be {width}.")
    check_has_values(name, rows)
    return rows


def rows_like(rows: object, like: Tensor, name: str = "rows") -> Tensor:
    """The same as wide as weights, (…, width), in their precision and on their device."""
    return rows_of_width(rows, like.shape[-1], name).to(like)


def place_of(what: str, given: Any, count: int, *, from_end: bool = True) -> int:
    """The place from 0 of a block, a token, a neuron …; the one rule for all that has a number.

    As in Python, a negative one counts from the end, −1 being the last: of blocks and tokens, which
    have an order. Neurons, heads, features and words have none, so theirs are refused.
    """
    number = given if type(given) is int else plain(given)
    if type(number) is not int:
        raise ValueError(f"{what} = {given!r}: give one whole number, from 0.")
    if not (-count if from_end else 0) <= number < count:
        many = "entries" if what == "entry" else f"{what}s"
        why = f"{many} are numbered from 0 to {count - 1:,}"
        raise ValueError(f"There is no {what} {number}: {why}.")
    return range(count)[number]


def places_of(what: str, given: Any, count: int, *, from_end: bool = True) -> list[int]:
    """The places from 0 of several, or of a mask where it is True; see place_of."""
    values = whole_numbers(f"{what}s", given)
    if values and type(values[0]) is bool:
        if len(values) != count:
            raise ValueError(
                f"The mask of {what}s has {len(values):,} entries, but there are {count:,} {what}s."
            )
        return [place for place, value in enumerate(values) if value]
    return [place_of(what, value, count, from_end=from_end) for value in values]


def at_least(name: str, given: Any, least: int = 1) -> int:
    """How many are wanted, such as the `k` strongest."""
    number = plain(given)
    if type(number) is not int or number < least:
        raise ValueError(f"{name} = {given!r}: give a whole number, {least} or more.")
    return number


def blocks_of(given: Any, n_blocks: int) -> list[int]:
    """The places from 0 of blocks, of one as of several."""
    several = given if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    return places_of("block", list(several), n_blocks)


TO_HOLD = "give 'ffn', 'attention', 'all', or blocks"


def what_to_hold(given: Any, n_blocks: int) -> tuple[frozenset[int], bool]:
    """The blocks whose FFN's stages a pass keeps, and whether it keeps the attention's."""
    if given is None:
        return frozenset(), False
    if isinstance(given, str):
        if given not in ("ffn", "attention", "all"):
            raise ValueError(f"hold = {given!r}: {TO_HOLD}.")
        return frozenset(range(n_blocks) if given != "attention" else ()), given != "ffn"
    if not isinstance(given, Iterable) and type(plain(given)) is not int:
        raise ValueError(f"hold = {shorten(given)}: {TO_HOLD}.")
    return frozenset(blocks_of(given, n_blocks)), False


def plain(value: Any) -> Any:
    """One number of PyTorch or NumPy as Python's own; anything else as it is."""
    if getattr(value, "ndim", None) != 0 or getattr(value, "is_meta", False):
        return value
    return value.item()


def whole_numbers(name: str, given: Any) -> tuple[Any, ...]:
    """A copy of whole numbers, or of a mask."""
    check_has_values(name, given)
    if hasattr(given, "ndim"):
        if given.ndim != 1:
            raise ValueError(
                f"{name} has the shape {tuple(given.shape)}: give numbers or a mask in one row, "
                "such as (hidden > 1).any(0)."
            )
        given = given.tolist()
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise ValueError(f"{name} = {given!r}: give whole numbers in a list, or a mask.")
    values = tuple(map(plain, given))
    kinds = {type(value) for value in values}
    if kinds == {bool, int}:
        raise ValueError(f"{name} mixes True and False with numbers: give a mask, or numbers.")
    wrong = [value for value in values if type(value) not in (int, bool)]
    if wrong:
        raise ValueError(f"{name} has {wrong[0]!r} in it: give whole numbers, or a mask.")
    return tuple(sorted(values)) if isinstance(given, AbstractSet) else values


def kept_numbers(name: str, given: Any) -> tuple[Any, ...] | None:
    """The same for what is iterated more than once, such as a generator is not; None stays."""
    return None if given is None else whole_numbers(name, given)


def finite_number(name: str, given: Any) -> float:
    """One finite number."""
    value = plain(given)
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise ValueError(f"{name} = {shorten(given)}: give one finite number.")
    return float(value)


def rows_for(output: object, ids: Tensor, width: int) -> Tensor:
    """Rows of the stream for each token of a pass, (*batch, T, width)."""
    rows = rows_of_width(output, width, "output")
    if rows.shape[:-1] != ids.shape:
        raise ValueError(
            f"output has the shape {tuple(rows.shape)} instead of {(*ids.shape, width)}: a row "
            "per token."
        )
    return rows


def path_of(given: Any) -> Path:
    """A file's or a folder's path."""
    if not isinstance(given, str | PathLike) or given == "":
        raise TypeError(f"path = {shorten(given)}: give the name of a file.")
    return Path(given)


def yes_or_no(name: str, given: Any) -> bool:
    """True or False, and nothing that Python takes for one of them, such as "no"."""
    value = plain(given)
    if not isinstance(value, bool):
        raise ValueError(f"{name} = {shorten(given)}: give True or False.")
    return value


def number_or_tensor(name: str, given: Any) -> float | Tensor:
    """One finite number, or a copy of a tensor of such."""
    check_has_values(name, given)
    if isinstance(given, list | tuple):
        raise ValueError(f"{name} = {shorten(given)}: give one number, or torch.tensor([…]).")
    if not getattr(given, "ndim", 0):
        return finite_number(name, given)
    tensor = torch.as_tensor(given)
    if not tensor.is_floating_point() or not bool(tensor.isfinite().all()):
        raise ValueError(f"{name} must hold finite floating-point numbers.")
    return tensor.clone()


def check_within(name: str, given: float | Tensor, dtype: torch.dtype) -> None:
    """Check that finite numbers stay finite in a network's precision: float16 ends at 65,504."""
    if isinstance(given, Tensor):
        if given.dtype == dtype:
            return
        largest = float(given.detach().abs().max()) if given.numel() else 0.0
    else:
        largest = abs(given)
    if largest > (most := torch.finfo(dtype).max):
        raise ValueError(
            f"{name} has the value {largest:.4g}, and the network's precision "
            f"({str(dtype).removeprefix('torch.')}) ends at {most:.4g}."
        )


def held_block(look_at: int | None, hold: Hold) -> Hold:
    """What is to be held, under either name."""
    if look_at is None:
        return hold
    warnings.warn("look_at is now called hold.", DeprecationWarning, stacklevel=4)
    return look_at
