"""A small network as a model folder, which `ffnviz app --model` opens."""

import io
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np

from ffnviz.models.encoder.folder import CARD, write_folder
from ffnviz.training.learn.learner import Learner
from ffnviz.training.learn.text import text_read


def save(learner: Learner, folder: Path) -> None:
    """Write the network as a model folder.

    Raises:
        ModelFolderError: if the folder holds what is not part of a model.
        OSError: if it cannot be written.
        ValueError: if it is a variant that no model folder can hold.
    """
    if not learner.plan.variant.can_be_saved:
        raise ValueError(f"A network with “{learner.plan.variant.label}” cannot be saved.")
    tokenizer, sentences = text_read(learner.plan.own)
    counts = np.bincount(sentences.training_ids, minlength=tokenizer.vocab_size)
    card = _card(learner)
    write_folder(folder, learner.encoder, tokenizer, counts.tolist(), lambda _: {CARD: card})


def zipped(learners: Sequence[Learner]) -> bytes:
    """The model folders of those that can be saved, as one ZIP file; empty if none can."""
    savable = [learner for learner in learners if learner.plan.variant.can_be_saved]
    if not savable:
        return b""
    packed = io.BytesIO()
    with TemporaryDirectory() as temporary, ZipFile(packed, "w", ZIP_DEFLATED) as file:
        for learner in savable:
            plan = learner.plan
            name = f"learned-{plan.name}-seed-{plan.seed}-step-{learner.step}"
            save(learner, Path(temporary) / name)
            for path in sorted((Path(temporary) / name).iterdir()):
                file.write(path, f"{name}/{path.name}")
    return packed.getvalue()


EVERYDAY = "everyday sentences of Tatoeba (https://tatoeba.org), CC BY 2.0 FR"


def _card(learner: Learner) -> str:
    plan, recipe = learner.plan, learner.plan.recipe
    return f"""# A small network ({plan.variant.label})

Trained by ffnviz for {learner.step:,} of {plan.steps:,} steps, of {recipe.batch_tokens} tokens each, with
AdamW at {recipe.learning_rate:g} and {recipe.mask_share:.0%} of the words masked, from seed {plan.seed}.

Data: {"a text of its owner's" if plan.own else EVERYDAY}. It knows nothing else, and what
it fills in is not a statement of fact.
"""  # noqa: E501
