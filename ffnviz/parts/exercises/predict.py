"""Twelve questions: predict, see the experiment on the typed sentence, and vote again."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F

from ffnviz.analysis.cost import multiply_adds, shape_of
from ffnviz.analysis.lab.experiment import FFN_NEEDS, Subject
from ffnviz.analysis.lab.tolerances import ffn_bound
from ffnviz.analysis.needs import Capability, missing
from ffnviz.analysis.number_format import short
from ffnviz.analysis.sparsity import active, threshold_for
from ffnviz.models.encoder.attention import SelfAttention
from ffnviz.models.encoder.feed_forward import FeedForward
from ffnviz.models.network import NotForThisNetwork
from ffnviz.parts.experiments import cached_result
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.cell import Head
from ffnviz.pictures.votes import OPTIONS, STEPS, Experiment, VoteQuestion, vote_cell
from ffnviz.pictures.wording import Sentence, counted, number, quoted
from ffnviz.state.actions import OpenPage, Set
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, Values, choice_setting

SEED = 11
ROUNDING = 1e-9  # of results in float64, as a share of their norm
NEAR = 0.1
LOUDER = 10.0  # the factor for the stream, and what is added to the logits


@dataclass(frozen=True)
class Evidence:
    """The result of an experiment."""

    answer: int  # the option that the numbers support, from 0
    # name, number as text, and a share from 0 to 1 to be drawn as a bar; None draws none
    rows: tuple[tuple[str, str, float | None], ...]


Experimenter = Callable[[Subject], Evidence]


def _shares(*rows: tuple[str, float]) -> tuple[tuple[str, str, float | None], ...]:
    """Rows of numbers that are compared with each other: the largest fills its row."""
    most = max(value for _, value in rows) or 1.0
    return tuple((name, short(value), max(0.0, value) / most) for name, value in rows)


def _error(value: Tensor, target: Tensor) -> float:
    """‖value − target‖ / ‖target‖."""
    return float((value - target).norm() / target.norm())


@torch.no_grad()
def tokens_related(subject: Subject) -> Evidence:
    """The token's FFN input is replaced: which outputs change?"""
    at = min(subject.token, len(subject.ffn_input) - 1)
    own, others = _when_replaced(subject.ffn, subject.ffn_input, at)
    rows = [("FFN: the token's own output", own), ("FFN: another token's, at most", others)]
    if subject.model.card.ours:
        mixed = _when_replaced(subject.plain.attention, subject.attention_input, at)[1]
        rows.append(("attention: another token's, at most", mixed))
    return Evidence(0 if others == 0 else 1, _shares(*rows))


def _when_replaced(
    layer: FeedForward | SelfAttention, x: Tensor, token: int
) -> tuple[float, float]:
    """The relative change of the token's own output, and the largest of another token's."""
    changed = x.clone()
    changed[token] = x[token].flip(-1)  # as long as it was
    before = layer(x).output
    moved = (layer(changed).output - before).norm(dim=-1) / before.norm(dim=-1)
    others = torch.cat([moved[:token], moved[token + 1 :]])
    return float(moved[token]), float(others.max()) if len(others) else 0.0


@torch.no_grad()
def own_ffn(subject: Subject) -> Evidence:
    """The same vector at every token: are the outputs the same?"""
    ffn, x = subject.ffn, subject.ffn_input
    copies = x[min(subject.token, len(x) - 1)].expand(max(2, len(x)), -1)
    outputs = ffn(copies).output
    apart = float((outputs - outputs[0]).norm(dim=-1).max() / outputs[0].norm())
    allowed = float((ffn_bound(ffn, copies).norm(dim=-1) / outputs.norm(dim=-1)).max())
    weights = f"{sum(parameter.numel() for parameter in ffn.parameters()):,}"
    over = f"largest difference over {len(copies)} places, as a share of the output's length"
    rows = (
        (over, short(apart), apart),
        ("weights of this FFN for one token", weights, None),
        (f"for the sentence's {counted(len(x), 'token')}", weights, None),
    )
    return Evidence(0 if apart <= allowed else 1, rows)


@torch.no_grad()
def without_phi(subject: Subject) -> Evidence:
    """The FFN without φ against one d_model × d_model matrix."""
    ffn, x = subject.ffn, subject.ffn_input
    w1, w2 = ffn.expand.weight.mT, ffn.compress.weight.mT
    bias = ffn.compress(ffn.expand(torch.zeros_like(x[:1])))
    one = x @ (w1 @ w2) + bias
    off, bent = (_error(one, output) for output in (ffn.compress(ffn.expand(x)), ffn(x).output))
    rows = (
        ("without φ, against one matrix: off by", short(off), min(1.0, off)),
        ("with φ, against the same matrix: off by", short(bent), min(1.0, bent)),
        ("numbers in that matrix", f"{len(w1) ** 2:,}", None),
        ("numbers in W₁ and W₂", f"{w1.numel() + w2.numel():,}", None),
    )
    return Evidence(0 if off < ROUNDING else 1, rows)


def words_stored(subject: Subject) -> Evidence:
    """How many neurons are active on the token, and how many of these on another token too?"""
    fires = _fires(subject)
    here, d_ff = fires[subject.token], fires.shape[-1]
    n, shared = int(here.sum()), int((here & (fires.sum(dim=0) > 1)).sum())
    rows = (
        ("neurons active on this token", f"{n:,} of {d_ff:,}", n / d_ff),
        ("of these, active on another token too", f"{shared:,}", shared / d_ff),
        ("entries of the vocabulary", f"{subject.model.sizes.vocab_size:,}", None),
    )
    return Evidence(0 if n <= 1 else 2 if n == d_ff else 1, rows)


@torch.no_grad()
def attention_linear(subject: Subject) -> Evidence:
    """Attention's input is doubled: does its output double, apart from biases?"""
    attention, x = subject.double.attention, subject.attention_input
    once, twice, zero = (attention(scaled) for scaled in (x, 2 * x, torch.zeros_like(x)))
    # The weights before doubling, and the values after it; both without biases.
    held = once.weights @ (twice.values - zero.values)
    mixed = F.linear(held.transpose(-3, -2).flatten(-2), attention.project_out.weight)
    doubled = 2 * (once.output - zero.output)
    off, frozen = (_error(output, doubled) for output in (twice.output - zero.output, mixed))
    rows = _shares(("attention: off by", off), ("attention, its weights held: off by", frozen))
    return Evidence(0 if off < ROUNDING else 1, rows)


def gelu_sparse(subject: Subject) -> Evidence:
    """The same pre-activations through ReLU and through GELU: how many become exactly 0?"""
    z = subject.trace.blocks[subject.block].ffn.pre_activation.cpu()
    # Φ(z) by its logarithm does not become 0 where an error function rounds it to 0.
    exact = z.double() * torch.special.log_ndtr(z.double()).exp()
    relu, gelu, rounded = (
        float((hidden == 0).double().mean()) for hidden in (F.relu(z), exact, F.gelu(z))
    )
    near = float((exact.abs() < NEAR).double().mean())
    rows = (
        ("exactly 0 after ReLU", f"{relu:.1%}", relu),
        ("exactly 0 after GELU", f"{gelu:.1%}", gelu),
        ("after GELU exactly 0 in float32, which rounds 1 + erf", f"{rounded:.1%}", rounded),
        (f"nearer to 0 than {NEAR} after GELU", f"{near:.1%}", near),
    )
    return Evidence(1 if gelu < 0.01 else 0, rows)


def silent_is_dead(subject: Subject) -> Evidence:
    """Of the neurons that are not active on the token, how many are active on no other either?"""
    fires = _fires(subject)
    n_tokens, d_ff = fires.shape
    n, never = int((~fires[subject.token]).sum()), int((~fires.any(dim=0)).sum())
    rows = (
        ("not active on this token", f"{n:,} of {d_ff:,}", n / d_ff),
        (f"of these, active on no token of the {n_tokens}", f"{never:,}", never / d_ff),
    )
    return Evidence(0 if never == n else 2 if never == 0 else 1, rows)


def stream_replaced(subject: Subject) -> Evidence:
    """The block's output against the FFN's output, the sum, and the larger of the two."""
    block = subject.trace.blocks[subject.block]
    streams = (block.middle, block.ffn.output, block.output)
    middle, written, output = (stream[subject.token].double() for stream in streams)
    larger = torch.where(middle.abs() > written.abs(), middle, written)
    errors = [_error(candidate, output) for candidate in (written, middle + written, larger)]
    names = ("what the FFN wrote", "the sum", "the larger of the two, entry by entry")
    rows = zip((f"distance to {name}" for name in names), errors, strict=True)
    return Evidence(min(range(3), key=errors.__getitem__), _shares(*rows))


def norm_scales(subject: Subject) -> Evidence:
    """The stream is made ten times as long: what becomes of the output of the norm?"""
    norm = subject.model.ffn(subject.block).norm
    if norm is None:
        raise NotForThisNetwork(f"Not for {subject.model.card.label}: no norm before its FFN.")
    x = subject.trace.blocks[subject.block].middle[subject.token]
    lengths = [float(vector.norm()) for vector in (x, LOUDER * x, norm(x), norm(LOUDER * x))]
    ratio = lengths[3] / lengths[2]
    answer = min(range(3), key=lambda option: abs((LOUDER, 1.0, 1 / LOUDER)[option] - ratio))
    names = (
        "stream",
        "stream, ten times as long",
        "stream after LayerNorm",
        "longer one after LayerNorm",
    )
    return Evidence(answer, _shares(*zip(names, lengths, strict=True)))


def most_work(subject: Subject) -> Evidence:
    """The multiply-adds for this sentence in attention and in the FFNs."""
    shape = shape_of(subject.ours.encoder.config, len(subject.trace.tokens))
    n_longer = 2 * subject.model.sizes.max_tokens
    work, longer = multiply_adds(shape), multiply_adds(replace(shape, n_tokens=n_longer))
    attention, ffn = float(work["attention"]), float(work["FFN"])
    both = attention + ffn
    share = longer["FFN"] / (longer["FFN"] + longer["attention"])
    rows = (
        ("attention", f"{attention / both:.0%}", attention / both),
        ("FFNs", f"{ffn / both:.0%}", ffn / both),
        (f"FFNs, if there were {n_longer:,} tokens", f"{share:.0%}", share),
    )
    return Evidence(1 if ffn > attention else 0 if attention > ffn else 2, rows)


@torch.no_grad()
def neuron_order(subject: Subject) -> Evidence:
    """The hidden neurons are permuted: in both matrices, and in W₁ alone."""
    ffn, x = subject.ffn, subject.ffn_input
    hidden, output = ffn.hidden(x), ffn(x).output
    order = torch.randperm(hidden.shape[-1], generator=torch.Generator().manual_seed(SEED))
    weight, bias = ffn.compress.weight, ffn.compress.bias
    both, first = (
        _error(F.linear(hidden[..., order], w2, bias), output) for w2 in (weight[:, order], weight)
    )
    rows = _shares(
        ("shuffled in W₁ and W₂ alike: off by", both), ("shuffled in W₁ alone: off by", first)
    )
    return Evidence(0 if both < ROUNDING else 1, rows)


def logits_shifted(subject: Subject) -> Evidence:
    """10 is added to every logit: what becomes of the likeliest word's probability?"""
    logits = subject.trace.logits_at(subject.token).double()
    variants = {
        "as it is": logits,
        "10 added to every logit": logits + LOUDER,
        "every logit doubled": 2 * logits,
    }
    likeliest = {name: float(each.softmax(dim=-1).max()) for name, each in variants.items()}
    before, shifted, _ = likeliest.values()
    rows = tuple((name, f"{p:.1%}", p) for name, p in likeliest.items())
    answer = 1 if abs(shifted - before) < 1e-9 else 0 if shifted > before else 2
    return Evidence(answer, rows)


def _fires(subject: Subject) -> Tensor:
    """Whether each neuron is active on each token, (T, d_ff)."""
    hidden = subject.trace.blocks[subject.block].ffn.hidden
    return active(hidden, threshold_for(subject.model.card.phi))


TEXTS = Path(__file__).with_name("questions.json")  # of each question, by its name


TITLES = {"sparsity": "Activation"}  # of pages whose title is not their name


@dataclass(frozen=True)
class Question:
    """One misconception."""

    name: str  # in links, which keep it for ever
    believed: str  # the misconception
    ask: str  # the question; {token}, {d_ff} and {tokens} (“8 tokens”) are those of the page
    options: Sequence[str]  # to choose from; the experiment finds which is right
    see: Experimenter
    did: str  # what is done in the experiment
    why: str  # the reason, with its source
    leads: Sequence[str]  # page and part where it is looked at further
    needs: tuple[Capability, ...]  # of a network, for the experiment


EXPERIMENTS: dict[str, tuple[Experimenter, tuple[Capability, ...]]] = {
    "tokens": (tokens_related, FFN_NEEDS),
    "own": (own_ffn, FFN_NEEDS),
    "phi": (without_phi, FFN_NEEDS),
    "words": (words_stored, ()),
    "attention": (attention_linear, (Capability.OURS,)),
    "gelu": (gelu_sparse, ()),
    "dead": (silent_is_dead, ()),
    "residual": (stream_replaced, (Capability.PRE_NORM,)),
    "norm": (norm_scales, (Capability.PRE_NORM,)),
    "work": (most_work, (Capability.OURS,)),
    "order": (neuron_order, FFN_NEEDS),
    "logits": (logits_shifted, (Capability.WORD_HEAD,)),
}

QUESTIONS = tuple(
    Question(name=name, see=EXPERIMENTS[name][0], needs=EXPERIMENTS[name][1], **said)
    for name, said in json.loads(TEXTS.read_text(encoding="utf-8")).items()
)


WHICH = choice_setting("misconception", {each.name: each.believed for each in QUESTIONS})
STEP = choice_setting("vote_step", {"ask": "vote", "see": "the experiment", "why": "the reason"})
NONE = "-"  # of a vote that nobody has cast
NO_VOTES = NONE * 2 * len(QUESTIONS)


LEGAL = re.compile(f"[0-{OPTIONS - 1}{NONE}]{{{len(NO_VOTES)}}}")  # two signs a question
VOTES: Setting[str] = Setting(
    "votes", NO_VOTES, lambda text: text if LEGAL.fullmatch(text) else NO_VOTES, str
)
SETTINGS = (WHICH, STEP, VOTES)


def sheet(run: Run, values: Values) -> Sheet:
    """The chosen question, as far as it has been answered."""
    names = [each.name for each in QUESTIONS]
    at, step, votes = names.index(values[WHICH]), values[STEP], values[VOTES]
    question = QUESTIONS[at]
    evidence = None if step == "ask" else tried(run, question)
    seen = evidence if isinstance(evidence, Evidence) else None
    cast = [None if sign == NONE else int(sign) for sign in votes]
    pairs = list(zip(cast[::2], cast[1::2], strict=True))
    options = [question.options[(n + at) % OPTIONS] for n in range(OPTIONS)]  # rotated by its place
    right: list[int | None] = [None] * len(QUESTIONS)
    for place, (each, pair) in enumerate(zip(QUESTIONS, pairs, strict=True)):
        if step == "why" and (place == at or None not in pair):
            found = tried(run, each)
            right[place] = (found.answer - place) % OPTIONS if isinstance(found, Evidence) else None
    asked = VoteQuestion(
        at,
        filled(question.ask, run),
        options,
        right,
        step,
        Experiment(filled(question.did, run), seen.rows) if seen else None,
        evidence if isinstance(evidence, str) else "",
        question.why if step == "why" else "",
        TITLES.get(question.leads[0], question.leads[0].capitalize()),
    )

    def vote(round_: int, option: int) -> Set:
        place = 2 * at + round_
        changed = votes[:place] + str(option) + votes[place + 1 :]
        return Set({VOTES.name: changed, STEP.name: STEPS[min(STEPS.index(step) + 1, 2)]})

    sentence = f"Question {number(str(at + 1))} of {len(QUESTIONS)}: predict, see, vote again."
    head = Head(sentence, "vote", run.card.colour)
    return Sheet([row(vote_cell(
        "vote", head, asked, [each.believed for each in QUESTIONS], pairs,
        lambda place, to: Set({WHICH.name: names[place], STEP.name: to}), vote,
        lambda: OpenPage(question.leads[0], question.leads[1]),
    ))], [])  # fmt: skip


def tried(run: Run, question: Question) -> Evidence | str:
    """What the experiment finds on this block and token, or why it cannot be made."""
    lacking = missing(run.card, question.needs, partner=run.partner is not None)
    if lacking:
        return f"Not for {run.card.label}: {lacking[0].value}"
    try:
        return cached_result(run, f"misconception {question.name}", question.see)
    except NotForThisNetwork as error:
        return str(error)


def filled(text: str, run: Run) -> Sentence:
    """A sentence with d_ff, “8 tokens” and the chosen token of the page."""
    text = text.replace("{d_ff}", f"{run.model.sizes.d_ff:,}")
    text = text.replace("{tokens}", counted(len(run.labels), "token"))
    before, token, after = text.partition("{token}")
    return f"{before}{quoted(run.labels[run.token])}{after}" if token else before
