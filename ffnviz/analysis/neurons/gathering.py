"""A network goes over texts: batch by batch, what its neurons do is counted."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import torch

from ffnviz.analysis.needs import Capability
from ffnviz.analysis.neurons.index_part import Batch, IndexPart, empty
from ffnviz.analysis.neurons.probes import Probe
from ffnviz.analysis.neurons.tally import Tally
from ffnviz.analysis.neurons.texts import BATCH_TOKENS, TextBatch, batches
from ffnviz.analysis.neurons.token_class import TokenClass, token_classes
from ffnviz.analysis.sparsity.awake import threshold_for
from ffnviz.models.network import Network

NEEDS: tuple[Capability, ...] = ()
LONGEST = 128  # tokens of a text, if nobody says more; a longer one is cut
BATCH_VALUES = 2**24  # hidden values of a batch: 64 MiB as float32


class Gatherer:
    """A network, and what is counted of it.

    Attributes:
        threshold: a neuron fires where hidden is further than this from zero.
        blocks: which of its blocks are looked at, from 0.
        network: its fingerprint.
    """

    def __init__(
        self,
        model: Network,
        tags: Sequence[str],
        blocks: Sequence[int] | None = None,
        longest: int = LONGEST,
    ) -> None:
        """Look at these blocks, at all if none are named, on texts of at most so many tokens."""
        self._model = model
        self._row_of = {tag: row for row, tag in enumerate(tags)}
        self._classes = torch.from_numpy(token_classes(model.tokenizer))
        self._max_tokens = min(longest, model.sizes.max_tokens)
        self.threshold = threshold_for(model.card.phi)
        self._signed = model.card.signed
        self.network = model.fingerprint
        self.blocks = tuple(range(model.sizes.n_blocks) if blocks is None else sorted(set(blocks)))

    def empty(self) -> IndexPart:
        """Nothing counted yet."""
        return empty(
            len(self.blocks), self._model.sizes.d_ff, self._max_tokens, len(TokenClass),
            len(self._row_of), signed=self._signed,
        )  # fmt: skip

    @torch.inference_mode()
    def gather(
        self,
        texts: Iterable[Probe],
        first: int,
        progress: Callable[[int], None] = lambda _tokens: None,
    ) -> IndexPart:
        """What is counted on texts, read once and in their order.

        Which texts make a batch follows from these texts alone, and with it the last bit of every
        value. So the same texts give the same part, wherever and beside whatever they are counted.

        Args:
            texts: longer ones are cut into pieces.
            first: where the first piece stands in the corpus; the others follow.
            progress: told after each batch how many tokens are done.

        Raises:
            ValueError: if a text has a tag that was not announced.
        """
        tally = Tally(self.empty(), self._model.device, self.threshold)
        d_ff = self._model.sizes.d_ff
        batch_tokens = max(1, min(BATCH_TOKENS, BATCH_VALUES // d_ff))
        for batch in batches(texts, self._model.tokenizer, self._max_tokens, batch_tokens):
            see = tally.opened(self._about(batch, first))
            self._model.show_hidden(batch.ids.to(self._model.device), self.blocks, see)
            progress(tally.n_tokens)
        return tally.part()

    def _about(self, batch: TextBatch, first: int) -> Batch:
        tagged = torch.zeros(len(batch.probes), len(self._row_of))
        for row, probe in enumerate(batch.probes):
            unknown = [tag for tag in probe.tags if tag not in self._row_of]
            if unknown:
                raise ValueError(f"The tag “{unknown[0]}” is not among those announced.")
            tagged[row, [self._row_of[tag] for tag in probe.tags]] = 1
        return Batch(
            tuple(probe.text for probe in batch.probes),
            first + np.array(batch.numbers, dtype=np.int64), batch.ids, tagged,
            self._classes[batch.ids], len(TokenClass),
        )  # fmt: skip
