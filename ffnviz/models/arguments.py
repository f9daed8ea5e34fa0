"""What a person hands to a pass, checked before anything is computed."""

from torch import Tensor


def check_text(text: object) -> None:
    """See that a text is one.

    Raises:
        TypeError: if it is something else.
    """
    if not isinstance(text, str):
        raise TypeError(
            f"A text is a str, and this is of type {type(text).__name__}. "
            "Of several texts, `traces` makes the traces."
        )


def check_ids(ids: object, vocab_size: int) -> None:
    """See that ids are entries of a vocabulary.

    Raises:
        TypeError: if they are no tensor of whole numbers.
        ValueError: naming one that the vocabulary has not.
    """
    if not isinstance(ids, Tensor) or not ids.ndim or ids.is_floating_point() or ids.is_complex():
        raise TypeError("ids must be a tensor of whole numbers, (*batch, T): torch.tensor([…]).")
    if ids.numel() and not 0 <= ids.min() <= ids.max() < vocab_size:
        wrong = ids[(ids < 0) | (ids >= vocab_size)][0]
        raise ValueError(
            f"There is no entry {int(wrong)} in the vocabulary: they count from 0 to "
            f"{vocab_size - 1:,}."
        )
