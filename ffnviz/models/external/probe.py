"""The probe: a sentence that a network is proved on, as long as its own code runs on it."""

from typing import Any

import torch
from torch import Tensor

from ffnviz.models.encoder.config import LARGEST
from ffnviz.models.external.blocks import find_blocks, text_config
from ffnviz.models.external.refusal import CannotOpenError, in_short
from ffnviz.models.external.tail import result_of
from ffnviz.models.external.tokenizer import ExternalTokenizer
from ffnviz.models.external.watch import PassEnded
from ffnviz.models.network import UnreadableTextError

LONGEST = 128  # tokens that pages show; as many as the twins read
UNSAID = 4_096  # tokens, where a network names no limit
TRIED = 2_048  # tokens; networks that read more have no table of positions that ends early
PROBE = "She opened the door and looked out at the rain."
PROBED = 24  # tokens of it at most


@torch.no_grad()
def find_probe(
    model: Any, tokenizer: ExternalTokenizer, name: str, device: torch.device
) -> tuple[Tensor, int]:
    """The longest of `probe_ids` that the network runs on.

    Raises:
        CannotOpenError: if it runs on none; with its own code's error.
    """
    failures: list[Exception] = []
    most = min(PROBED, positions(model) or PROBED)
    # Shorter ones, too: the last entries of an offset table of positions are missing.
    for length in [most, *(n for n in (most - 2, most // 2, most // 4) if n > 1)]:
        try:
            ids, changed = probe_ids(tokenizer, device, length)
        except UnreadableTextError as error:  # about a token that is put before every text
            raise CannotOpenError(name, f"no text can be read. {error}") from error
        if not changed:
            break
        try:
            returned = model(input_ids=ids)
        except Exception as error:  # each network's code raises what it likes
            failures.append(error)
            continue
        result: Any = result_of(returned)  # a network may return anything
        if not isinstance(result, Tensor) or result.shape[:-1] != ids.shape:
            raise CannotOpenError(
                name, "it does not return one vector or one row of scores for each token, so it "
                "cannot be followed token by token",
            )  # fmt: skip
        return ids, changed
    if not failures:
        raise CannotOpenError(
            name, "it reads too few tokens at once for a text of two words. Look at "
            "max_position_embeddings in its config.json",
        )  # fmt: skip
    raise CannotOpenError(
        name, "transformers builds it, but its code fails on a sentence "
        f"({in_short(failures[0])}). Only networks that read text and nothing else are shown; if "
        "this is one, its config.json does not fit it",
    ) from failures[0]  # fmt: skip


def probe_ids(
    tokenizer: ExternalTokenizer, device: torch.device, length: int = PROBED
) -> tuple[Tensor, int]:
    """(2, T): a sentence and the same with another last word; and that word's place.

    The place is 0 where no word follows another token.
    """
    tokens = tokenizer.encode(PROBE, length).tokens
    ids = [token.id for token in tokens]
    changed = max((place for place, token in enumerate(tokens) if not token.special), default=0)
    other = list(ids)
    if changed:
        other[changed] = next((i for i in reversed(ids[:changed]) if i != ids[changed]), -1)
        if other[changed] < 0:  # all are one token, such as that of unknown words
            other[changed] = int(ids[changed] == 0)
    return torch.tensor([ids, other], device=device), changed


def positions(model: Any) -> int | None:
    """How many tokens it reads at once, by its configuration; None if that does not say."""
    length = getattr(text_config(model), "max_position_embeddings", None)
    return length if isinstance(length, int) and length > 0 else None


@torch.no_grad()
def longest_text(model: Any, probe: Tensor, longest: int | None = None) -> int:
    """The most tokens it reads, at most `longest`: tried as far as the end of the first block.

    The last entries of an offset table of positions are missing, whatever the configuration says.
    """
    limit = positions(model)
    most = min(longest or LARGEST, limit or UNSAID)
    if most > TRIED or (limit or LARGEST) >= 2 * most:
        return most
    padding = getattr(text_config(model), "pad_token_id", None)  # it may take no place of its own
    others = probe[0][probe[0] != padding] if padding is not None else probe[0]
    token = (others if len(others) else probe[0])[:1, None]
    enough, too_many = int(probe.shape[1]), most + 1
    if enough < most and _reads(model, token.expand(1, most)):
        return most
    while too_many - enough > 1:
        length = (enough + too_many) // 2
        if _reads(model, token.expand(1, length)):
            enough = length
        else:
            too_many = length
    return enough


def _reads(model: Any, ids: Tensor) -> bool:
    def stop(*_: object) -> None:
        raise PassEnded

    hook = find_blocks(model)[0].register_forward_hook(stop)
    try:
        model(input_ids=ids)
    except PassEnded:
        pass
    except Exception:  # each network's code raises what it likes
        return False
    finally:
        hook.remove()
    return True
