"""Running a network over texts, and counting batch by batch when its neurons fire."""

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
LONGEST = 128  # default for the most tokens of a text; a longer one is cut
BATCH_VALUES = 2**24  # hidden values of a batch: 64 MiB as float32


class Gatherer:
    """Counts on texts when the neurons of a network fire.

    Attributes:
        threshold: a neuron fires where |hidden| is above it.
        blocks: the blocks that are counted, from 0.
        network: the network's fingerprint.
    """

    def __init__(
        self,
        model: Network,
        tags: Sequence[str],
        blocks: Sequence[int] | None = None,
        longest: int = LONGEST,
    ) -> None:
        """Count in these blocks, or in all, on texts of at most `longest` tokens."""
        self._model = model
        self._column_of = {tag: column for column, tag in enumerate(tags)}
        self._classes = torch.from_numpy(token_classes(model.tokenizer))
        self._max_tokens = min(longest, model.sizes.max_tokens)
        self.threshold = threshold_for(model.card.phi)
        self._signed = model.card.signed
        self.network = model.fingerprint
        self.blocks = tuple(range(model.sizes.n_blocks) if blocks is None else sorted(set(blocks)))

    def empty(self) -> IndexPart:
        """A part without any text."""
        return empty(
            len(self.blocks), self._model.sizes.d_ff, self._max_tokens, len(TokenClass),
            len(self._column_of), signed=self._signed,
        )  # fmt: skip

    @torch.no_grad()
    def gather(
        self,
        texts: Iterable[Probe],
        first: int,
        progress: Callable[[int], None] = lambda _tokens: None,
    ) -> IndexPart:
        """Count on texts, which are read once and in their order.

        The batches, and with them the last bit of every value, follow from these texts alone. So
        the same texts give the same part, wherever and beside whatever they are counted.

        Args:
            texts: longer ones are cut into pieces.
            first: the place of the first piece in the corpus; the others follow.
            progress: called after each batch with the number of tokens done.

        Raises:
            ValueError: if a text has a tag that was not announced.
        """
        tally = Tally(self.empty(), self._model.device, self.threshold)
        d_ff = self._model.sizes.d_ff
        batch_tokens = max(1, min(BATCH_TOKENS, BATCH_VALUES // d_ff))
        for batch in batches(texts, self._model.tokenizer, self._max_tokens, batch_tokens):
            add_block = tally.begin(self._batch(batch, first))
            self._model.show_hidden(batch.ids.to(self._model.device), self.blocks, add_block)
            progress(tally.n_tokens)
        return tally.end()

    def _batch(self, batch: TextBatch, first: int) -> Batch:
        tagged = torch.zeros(len(batch.probes), len(self._column_of))
        for row, probe in enumerate(batch.probes):
            unknown = [tag for tag in probe.tags if tag not in self._column_of]
            if unknown:
                raise ValueError(f"The tag “{unknown[0]}” is not among those announced.")
            tagged[row, [self._column_of[tag] for tag in probe.tags]] = 1
        return Batch(
            tuple(probe.text for probe in batch.probes),
            first + np.array(batch.numbers, dtype=np.int64), batch.ids, tagged,
            self._classes[batch.ids], len(TokenClass),
        )  # fmt: skip
