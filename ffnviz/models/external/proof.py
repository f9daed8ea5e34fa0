"""The proof of a network: five equations for every block, each with its largest error.

E1  hidden W₂ + b₂ = what the FFN's last layer wrote
E2  φ(pre) [· value] = hidden
E3  the stream after the FFN = the stream before it + what it wrote, with the norms there are,
    and with what the block adds or multiplies behind it
E4  what a block writes is what the next one reads
E5  the rest of the network, from the last stream alone = the network's own result
"""

from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import pairwise
from types import MethodType
from typing import Any

import torch
from torch import Tensor, nn

from ffnviz.models.arguments import at_least
from ffnviz.models.encoder.config import LARGEST
from ffnviz.models.external.compare import TOLERANCE, error, rows
from ffnviz.models.external.phi import same
from ffnviz.models.external.refusal import NotProvedError, Refused, in_short
from ffnviz.models.external.roles import (
    AttentionRoles,
    FfnRoles,
    StreamRoles,
    find_attention,
    find_ffn,
    find_stream,
)
from ffnviz.models.external.tokenizer import ExternalTokenizer
from ffnviz.models.external.watch import (
    BlockPass,
    PassEnded,
    find_blocks,
    n_experts,
    stream_out,
    text_config,
    watch,
    with_stream,
)
from ffnviz.models.network import UnreadableTextError

# While it is set, blocks hand on this stream instead of computing one.
GIVEN: ContextVar[Tensor | None] = ContextVar("given stream", default=None)
AT_ONCE = 2**27  # logits that are computed at once


def result_of(returned: Any) -> Tensor:
    """The logits if the network computes any, else the first tensor it returns."""
    logits = getattr(returned, "logits", None)
    if isinstance(logits, Tensor):
        return logits
    first = returned.to_tuple() if hasattr(returned, "to_tuple") else returned
    result: Tensor = stream_out(first)
    return result


def make_skippable(block: nn.Module, raw: Any) -> None:
    """Have a block hand on the stream that is given, if one is, as it returned its own (`raw`)."""
    if getattr(block, "_ffnviz_skips", False):
        return
    inner: Any = block.forward
    method = getattr(inner, "__func__", None)

    def forward(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        given = GIVEN.get()
        if given is not None:
            return with_stream(raw, given)
        return method(self, *args, **kwargs) if method else inner(*args, **kwargs)

    # Bound, so that a copy of the network that somebody makes runs its own weights.
    block.forward = MethodType(forward, block)
    block._ffnviz_skips = True  # type: ignore[assignment]


@torch.no_grad()
def tail(model: nn.Module, stream: Tensor) -> Tensor:
    """What a network makes of rows of its last stream, (n, d_model) -> (n, vocab_size).

    Each row is a text of one token, so nothing but the stream can decide the result.
    """
    token = GIVEN.set(stream[:, None])
    try:
        ids = torch.zeros((len(stream), 1), dtype=torch.long, device=stream.device)
        return result_of(model(input_ids=ids))[:, 0]
    finally:
        GIVEN.reset(token)


LONGEST = 128  # tokens that pages show; as many as the twins read
UNSAID = 4_096  # tokens, where a network names no limit
TRIED = 2_048  # tokens; networks that read more have no table of positions that ends early
PROBE = "She opened the door and looked out at the rain."
PROBED = 24  # tokens of it at most


@torch.no_grad()
def find_probe(
    model: Any, tokenizer: ExternalTokenizer, device: torch.device
) -> tuple[Tensor, int]:
    """The longest of `probe_ids` that the network runs on."""
    failures: list[Exception] = []
    most = min(PROBED, positions(model) or PROBED)
    # Shorter ones, too: the last entries of an offset table of positions are missing.
    for length in [most, *(n for n in (most - 2, most // 2, most // 4) if n > 1)]:
        try:
            ids, changed = probe_ids(tokenizer, device, length)
        except UnreadableTextError as error:  # about a token that is put before every text
            raise Refused(f"no text can be read. {error}") from error
        if not changed:
            break
        try:
            returned = model(input_ids=ids)
        except Exception as error:  # each network's code raises what it likes
            failures.append(error)
            continue
        result: Any = result_of(returned)  # a network may return anything
        if not isinstance(result, Tensor) or result.shape[:-1] != ids.shape:
            raise Refused(
                "it does not return one vector or one row of scores for each token, so it "
                "cannot be followed token by token"
            )
        return ids, changed
    if not failures:
        raise Refused(
            "it reads too few tokens at once for a text of two words. Look at "
            "max_position_embeddings in its config.json"
        )
    raise Refused(
        "transformers builds it, but its code fails on a sentence "
        f"({in_short(failures[0])}). Only networks that read text and nothing else are shown; if "
        "this is one, its config.json does not fit it"
    ) from failures[0]


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
    """The most tokens it reads, at most `longest`: tried as far as the end of the first block."""
    limit = positions(model)
    most = min(LARGEST if longest is None else at_least("longest", longest), limit or UNSAID)
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


EQUATIONS = {
    "E1": "hidden W₂ + b₂ is what the FFN writes",
    "E2": "φ(pre) [· value] is hidden",
    "E3": "the stream moves by what the FFN writes",
    "E4": "what a block writes is what the next one reads",
    "E5": "the network's own results follow from the last stream alone",
}

MIXTURE = (
    "it is a mixture of {n} experts. Its router sends each token to a few of them, so no "
    "single FFN works on every token"
)


@dataclass(frozen=True, eq=False)
class ProvedBlock:
    """One pass through one block, with the roles that were proved for it."""

    block: nn.Module
    ffn: FfnRoles  # which of its modules makes which stage of the FFN
    stream: StreamRoles  # how what the FFN writes is added
    attention: AttentionRoles | None  # None if no one module writes what the attention adds

    @property
    def edits_middle_norm(self) -> bool:
        """Whether a norm of x + r a makes the stream between attention and FFN."""
        return self.stream.norm_before is None and self.stream.middle_norm is not None

    @property
    def ffn_multiplier(self) -> float:
        """What the FFN's last layer wrote is multiplied by this; 1 if a norm reads it instead."""
        return 1.0 if self.stream.written_norm else self.stream.multiplier


@dataclass(frozen=True, eq=False)
class Proof:
    """A network whose equations hold.

    Examples:
        >>> model = ffnviz.from_module(gpt2, tokenizer)
        >>> sorted(model.proof.errors), model.proof.causal
        (['E1', 'E2', 'E3', 'E4', 'E5'], True)
    """

    blocks: tuple[ProvedBlock, ...]  # one for each pass through a block, in their order
    errors: dict[str, float]  # the largest of each equation, as a share of the largest value
    tolerance: float  # the largest error that was allowed
    embedding: Tensor  # the first stream on the probe, (B, T, d_model)
    last: Tensor  # the last stream on it, (B, T, d_model)
    result: Tensor  # its own logits on it, (B, T, vocab_size); without a head, what it returns
    causal: bool  # whether no token depends on later ones

    @property
    def in_words(self) -> list[str]:
        """A line for each equation: what it says, and its largest error."""
        n = len(self.blocks)
        one = f"all {n} blocks" if n > 1 else "its one block"
        streams = [proved.stream for proved in self.blocks]
        names = dict.fromkeys(stream.other.name for stream in streams if stream.other)
        scales = [stream.scale for stream in streams]
        behind_ffn = f", and then by what {' and '.join(names)} writes" if names else ""
        if set(scales) != {1}:
            behind_ffn += f"; all is then multiplied by {spread(scales)}"
        lines = []
        for name, says in EQUATIONS.items():
            largest = self.errors[name]
            off = f"largest error {largest:.0e}" if largest else "bit for bit equal"
            lines.append(f"{name} ({one}): {says}{behind_ffn if name == 'E3' else ''}; {off}")
        return lines


def spread(values: Iterable[float]) -> str:
    """The least and the largest of some values, for people."""
    return " to ".join(dict.fromkeys(f"{end(values):.3g}" for end in (min, max)))


@torch.no_grad()
def prove(model: nn.Module, ids: Tensor, changed: int) -> Proof:
    """See that all five equations hold on a probe, for every block.

    `ids`, (2, T), are two texts that differ at `changed` alone: in a causal network, no earlier
    token depends on it. A NotProvedError names the equation that does not hold.
    """
    returned, passes = watch(model, find_blocks(model), ids)
    if not passes:
        raise NotProvedError(
            "E4",
            "what seem to be its blocks are never called as modules with a stream of "
            "vectors, so what they do cannot be watched: some networks nest their blocks, or call "
            "forward() past PyTorch's hooks",
        )
    proved = tuple(_proved(passes, ids))
    for number, each in enumerate(proved):
        if not same(proved[0].ffn.phi, each.ffn.phi):
            raise NotProvedError("E2", "its φ differs from the first block's", number)
        if each.ffn.d_ff != proved[0].ffn.d_ff:
            raise NotProvedError(
                "E2",
                f"its FFN has {each.ffn.d_ff:,} neurons and the first block's "
                f"{proved[0].ffn.d_ff:,}. Here all blocks must be equally wide",
                number,
            )
    chained = max((error(b.input, a.output) for a, b in pairwise(passes)), default=0.0)
    tolerance, last = TOLERANCE[passes[0].input.dtype], passes[-1].output
    if chained > tolerance:
        raise NotProvedError(
            "E4",
            f"a block reads something other than what the one before it wrote ({chained:.0e} off)",
        )
    result = result_of(returned)
    for seen in passes:
        make_skippable(seen.block, seen.raw)
    try:
        again = tail(model, rows(last))
    except Exception as failure:  # the network's own code, which ran before, raises what it likes
        raise NotProvedError(
            "E5", f"it cannot go on from the last stream alone ({in_short(failure)})"
        ) from failure
    apart = error(again, result)
    if apart > tolerance:
        raise NotProvedError(
            "E5",
            "its result does not follow from the last stream alone, or the stream ends "
            f"elsewhere ({apart:.0e} off)",
        )
    causal = changed > 0 and error(last[0, :changed], last[1, :changed]) <= tolerance
    errors = {
        "E1": max(each.ffn.product_error for each in proved),
        "E2": max(each.ffn.phi_error for each in proved),
        "E3": max(each.stream.error for each in proved),
        "E4": chained,
        "E5": apart,
    }
    return Proof(proved, errors, tolerance, passes[0].input, last, result, causal)


def _proved(passes: list[BlockPass], ids: Tensor) -> Iterator[ProvedBlock]:
    for number, seen in enumerate(passes):
        if seen.input.shape[:-1] != ids.shape:
            raise NotProvedError(
                "E3",
                f"its stream has the shape {tuple(seen.input.shape)}, where one vector a "
                "token is expected",
                number,
            )
        n_mixed = n_experts(seen.block, seen.input.shape[-1])
        try:
            ffn = find_ffn(seen)
            stream = find_stream(seen, ffn)
        except NotProvedError as failure:
            why = MIXTURE.format(n=n_mixed) if n_mixed else failure.why
            raise NotProvedError(failure.equation, why, number) from failure
        if n_mixed and stream.other:  # an expert that all tokens pass, beside those of a router
            raise NotProvedError("E3", MIXTURE.format(n=n_mixed), number)
        yield ProvedBlock(seen.block, ffn, stream, find_attention(seen, ffn, stream))
