"""What an analysis needs of a network, and the sentence for a network that lacks it."""

from collections.abc import Iterable
from enum import Enum

from ffnviz.models.card import Card, Provenance
from ffnviz.models.config import config
from ffnviz.models.encoder.attention import AttentionRecord
from ffnviz.models.encoder.encoder import Encoder
from ffnviz.models.encoder.model import Model
from ffnviz.models.network import Network, NotForThisNetwork, check_network
from ffnviz.models.trace import BlockStages
from ffnviz.models.views import WordHead, WordVectors


class Capability(Enum):
    """Something that not every network has; the value is the sentence for one that lacks it."""

    PARTNER = "There is no second network to compare it with."
    RECORD = "There is no record of its training."
    SEED = "The training seed is unknown."
    INDEX = (
        "There is no index of what activates this network's neurons. `ffnviz index --model …` "
        "makes one, and `ffnviz app --index …` shows it."
    )
    SAE = "There is no feature dictionary for this network. `ffnviz app --sae FOLDER` shows one."
    MASK = "It has no token that stands for a word to fill in."
    WRITES = "It neither fills in words nor reads from left to right, so it cannot generate text."
    WORD_HEAD = "It has no word head: it does not say what word stands at a token."
    WORD_VECTORS = (
        "Each of its logits is more than a product with the word's vector, so it cannot be split "
        "into what each part adds."
    )
    PLAIN_FFN = "Its FFN is gated, and this is about the plain one: two matrices with φ in between."
    PRE_NORM = (
        "Its stream, or what is written into it, is normalised along the way (post-LN, or norms "
        "before and after) or changed after the FFN (by further inputs), so what was written does "
        "not simply add up."
    )
    ATTENTION = (
        "Its attention combines shares and values in a way that ffnviz does not recognise, so "
        "the work of its heads cannot be shown."
    )
    IN_ORDER = (
        "Its block is not just attention and FFN that add their outputs one after the other, "
        "unchanged, so it cannot be drawn as a row of steps."
    )
    OURS = "It is not made of ffnviz's own modules, the only ones taken apart here."


def missing(
    card: Card, needs: Iterable[Capability], partner: bool = False
) -> tuple[Capability, ...]:
    """The needs that a network with this card does not meet."""
    met = capabilities(card, partner)
    return tuple(need for need in needs if need not in met)


def capabilities(card: Card, partner: bool = False) -> frozenset[Capability]:
    """What a network has, by its card, and whether there is a second one."""
    known = card.provenance or Provenance()
    met = {
        Capability.PARTNER: partner,
        Capability.RECORD: known.record is not None,
        Capability.SEED: known.seed is not None,
        Capability.INDEX: known.index is not None,
        Capability.SAE: any(network == card.id for network, _ in config().saes),
        Capability.MASK: card.has_mask,
        Capability.WRITES: card.has_mask or card.causal,
        Capability.WORD_HEAD: card.has_word_head,
        Capability.WORD_VECTORS: card.has_word_vectors,
        Capability.PLAIN_FFN: not card.gated,
        Capability.PRE_NORM: card.pre_norm,
        Capability.ATTENTION: card.attention_seen,
        Capability.IN_ORDER: card.in_order,
        Capability.OURS: card.ours,
    }
    return frozenset([capability for capability, has_it in met.items() if has_it])


def require(network: Network, needs: Iterable[Capability]) -> None:
    """Check that a network meets all needs that one network alone can meet."""
    check_network(network)
    lacking = missing(network.card, needs, partner=True)
    if lacking:
        raise NotForThisNetwork(f"Not for {network.card.label}: {lacking[0].value}")


def word_head(network: Network) -> tuple[WordHead, WordVectors]:
    """The word head and the words' output vectors."""
    require(network, (Capability.WORD_HEAD, Capability.WORD_VECTORS))
    head = network.head
    if head is None or head.words is None:
        raise NotForThisNetwork(f"Not for {network.card.label}: {Capability.WORD_VECTORS.value}")
    return head, head.words


def masked_id(network: Network) -> int:
    """The id of the token that stands for a word to fill in."""
    mask_id = network.tokenizer.mask_id
    if not network.card.has_mask or mask_id is None:
        raise NotForThisNetwork(f"Not for {network.card.label}: {Capability.MASK.value}")
    return mask_id


def ours(network: Network) -> Model:
    """The network as a `Model`."""
    if not isinstance(network, Model):
        raise NotForThisNetwork(f"Not for {network.card.label}: {Capability.OURS.value}")
    return network


def own_attention(block: BlockStages) -> AttentionRecord:
    """The attention's stages in a block of ours."""
    record = block.attention
    if not isinstance(record, AttentionRecord):
        raise NotForThisNetwork(Capability.OURS.value)
    return record


def encoder_of(network: Network) -> Encoder:
    """The network's encoder."""
    return ours(network).encoder
