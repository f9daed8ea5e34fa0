"""The runs of the study, one after the other, each a line of its log."""

import io
import math
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path

import torch

from ffnviz.analysis import trainings
from ffnviz.models.device import processor
from ffnviz.models.encoder.atomic import replace_file
from ffnviz.models.encoder.tokenizer import MASK
from ffnviz.training.learn.learner import Learner, Plan
from ffnviz.training.learn.text import all_everyday, thinned, training_sentences
from ffnviz.training.masking import Batch, Recipe, sentence_batches
from ffnviz.training.validation import validate

TEXT = f"What {MASK} is it?"  # which a learner wants; nobody watches
TRAINING = "training"  # sentences that are measured besides those of the two phases
LOOKED_AT_SEEN = 2_000  # of these
CHECKPOINT_STEPS = 1_000


def study(
    path: Path,  # of the log, CSV
    design: trainings.Design,
    version: str,  # of ffnviz
    report: Callable[[int, trainings.Row], None],  # called after each run with how many are done
    *,
    afresh: bool = False,
) -> list[trainings.Row]:
    """Do the runs that are not yet in the log, and write it anew after each.

    Runs that the package's own log has are taken from it, unless `afresh`. Interrupted at any time,
    the study goes on where it was; of a run, at most a thousand steps are lost. One thread
    computes: the order of sums, and so a loss, is then the same at each repetition.
    """
    torch.set_num_threads(1)
    running = path.with_suffix(".running")
    version = f"{version}, PyTorch {torch.__version__}"
    rows = trainings.read_table(path) if path.exists() else []
    if not afresh:
        rows = trainings.unique(
            [*rows, *(row for row in trainings.trainings() if row.steps == design.steps)]
        )
    while (run := trainings.next_run(rows, design)) is not None:
        learner = _trained(run, design.steps, running)
        rows.append(_measured(learner, run, version))
        replace_file(path, trainings.written(rows))
        running.unlink(missing_ok=True)
        report(len(rows), rows[-1])
    return rows


def _trained(run: trainings.Run, steps: int, running: Path) -> Learner:
    """A network at the end of a run, which goes on from its checkpoint if there is one."""
    learner = Learner(Plan(run.variant, TEXT, steps, run.seed, learning_rate=run.learning_rate))
    name = {**asdict(run), "steps": steps}
    if running.exists():
        saved = torch.load(io.BytesIO(running.read_bytes()), weights_only=True)
        if saved["run"] == name:
            learner.encoder.load_state_dict(saved["encoder"])
            learner.optimiser.load_state_dict(saved["optimiser"])
            learner.step, learner.tokens = saved["step"], saved["tokens"]
    while learner.step < steps:
        learner.take_step()
        if learner.step % CHECKPOINT_STEPS == 0:
            state = {
                "run": name,
                "step": learner.step,
                "tokens": learner.tokens,
                "encoder": learner.encoder.state_dict(),
                "optimiser": learner.optimiser.state_dict(),
            }
            content = io.BytesIO()
            torch.save(state, content)
            replace_file(running, content.getbuffer())
    return learner


def _measured(learner: Learner, run: trainings.Run, version: str) -> trainings.Row:
    encoder = learner.encoder
    unseen = validate(encoder, _batches(run.phase))
    seen = validate(encoder, _batches(TRAINING, learner.plan.variant.sentences))
    trained = [weights.numel() for weights in encoder.parameters() if weights.requires_grad]
    return trainings.Row(
        run.variant,
        run.phase,
        run.learning_rate,
        run.seed,
        learner.step,
        learner.tokens,
        sum(trained),
        _rounded(seen.loss),
        _rounded(unseen.loss),
        _rounded(unseen.top5),
        version,
        processor(),
    )


def _rounded(value: float) -> float:
    return round(value, 6) if math.isfinite(value) else math.nan


@cache
def _batches(part: str, n: int | None = None) -> list[Batch]:
    """Sentences to measure on: half of the held-out ones for each phase, or some trained on.

    The same word of each is hidden after every run.
    """
    tokenizer, sentences = all_everyday()
    if part == TRAINING:
        rows = thinned(training_sentences(n).training, LOOKED_AT_SEEN)
    else:
        first = (trainings.RATE, trainings.FINAL).index(part)
        rows = {
            length: half
            for length, all_ in sentences.held_out.items()
            if len(half := all_[first::2])
        }
    return sentence_batches(replace(sentences, held_out=rows), Recipe(), tokenizer.mask_id)
