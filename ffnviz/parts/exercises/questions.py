"""Twelve questions whose wrong answers people give: each with an experiment and a reason."""

from dataclasses import dataclass

from ffnviz.analysis.exercises import evidence
from ffnviz.analysis.lab.experiment import FFN_NEEDS
from ffnviz.analysis.needs import Capability


@dataclass(frozen=True)
class Question:
    """One misconception.

    Attributes:
        name: in links, which keep it for ever.
        believed: the misconception.
        ask: the question; {token}, {d_ff} and {tokens} are those of the page.
        options: to choose from; which is right is what the experiment finds.
        see: the experiment.
        did: what is done in it.
        why: the reason, with its source.
        leads: page and part where it is looked at further.
        needs: what the experiment needs of a network.
    """

    name: str
    believed: str
    ask: str
    options: tuple[str, str, str]
    see: evidence.Experiment
    did: str
    why: str
    leads: tuple[str, str]
    needs: tuple[Capability, ...] = ()


QUESTIONS = (
    Question(
        "tokens", "The FFN relates tokens.",
        "One token's vector at the FFN's input is replaced by another. Which outputs of the FFN "
        "change?",
        ("Only that token's", "Those of all tokens", "Those of its neighbours"),
        evidence.tokens_related,
        "The vector of {token}, its entries in reverse order; changes are shares of an output's "
        "norm.",
        "The FFN is applied to each position separately; only attention lets a token hear others "
        "(Vaswani et al. 2017, section 3.3).",
        ("lab", "positions"), FFN_NEEDS,
    ),
    Question(
        "own", "Each token has its own FFN.",
        "The same vector is put in at every token's place. What comes out?",
        ("The same output everywhere", "Another output at each place",
         "The same in block 1, others in block 2"),
        evidence.own_ffn,
        "The vector of {token} at all {tokens} places, in float64.",
        "“Separately and identically”: one W₁ and one W₂ serve all positions of a block. Another "
        "block has others (Vaswani et al. 2017, section 3.3).",
        ("lab", "positions"), FFN_NEEDS,
    ),
    Question(
        "phi", "Without φ the FFN is the same, only weaker.",
        "φ is taken away: W₂ follows W₁ directly. What can the FFN, with "
        "d_ff = {d_ff}, still do?",
        ("No more than one matrix of d_model × d_model", "The same, only less exactly",
         "Half of it: what is below zero"),
        evidence.without_phi,
        "W₁W₂ as one matrix, on all vectors of the sentence; shares of the output's norm.",
        "(xW₁)W₂ = x(W₁W₂): without φ the two layers are one linear map, however wide. That is "
        "no weaker FFN but another kind of function.",
        ("lab", "bend"), FFN_NEEDS,
    ),
    Question(
        "words", "A neuron stores a word; wider stores more words.",
        "d_ff is {d_ff}. How many neurons are active on {token}?",
        ("One: the neuron of that word", "Several, and of these most on other words too",
         "All of them"),
        evidence.words_stored,
        "Active is above 0 with ReLU, beyond ±0.1 otherwise.",
        "A word is many active neurons, and a neuron takes part in many words. It is read as a "
        "memory of patterns, not of words (Geva et al. 2021).",
        ("neurons", "wakes"),
    ),
    Question(
        "attention", "Attention is linear; only the FFN is not.",
        "Everything that attention reads is doubled. Its output …",
        ("doubles", "becomes another, not just doubled", "stays as it is"),
        evidence.attention_linear,
        "‖f(2x) − 2f(x)‖ / ‖2f(x)‖ on this sentence, f without its biases.",
        "The weights that it mixes with are a softmax of its input. Only with weights that are "
        "held is attention linear.",
        ("lab", "linear"), (Capability.OURS,),
    ),
    Question(
        "gelu", "GELU is sparse, too.",
        "What share of the hidden values is exactly 0 if φ is GELU?",
        ("As many as with ReLU", "None, or next to none", "About half"),
        evidence.gelu_sparse,
        "The values before φ in this block, through both functions.",
        "GELU(z) = zΦ(z) is 0 at z = 0 alone. Values below zero come near to it, and “sparse” then "
        "depends on a threshold (Hendrycks & Gimpel 2016).",
        ("sparsity", "awake"),
    ),
    Question(
        "dead", "A neuron at zero is dead.",
        "Of the neurons that are not active on {token}, how many are so on every token of the "
        "sentence?",
        ("All: they are dead", "Some; the others are active elsewhere", "None"),
        evidence.silent_is_dead,
        "Counted over the {tokens} tokens.",
        "Each token wakes neurons of its own. Dead is only what is active on no input at all, and "
        "one sentence cannot show that.",
        ("sparsity", "awake"),
    ),
    Question(
        "residual", "The FFN's output takes the place of its input.",
        "What leaves the block after its FFN?",
        ("What the FFN wrote", "The sum of what came in and what the FFN wrote",
         "The larger of the two, entry by entry"),
        evidence.stream_replaced,
        "Distances at {token}, as shares of the norm of what leaves.",
        "x + FFN(LN(x)): the stream goes on, and the FFN adds to it (He et al. 2016; Vaswani et "
        "al. 2017, section 3.1).",
        ("block", "block"), (Capability.PRE_NORM,),
    ),
    Question(
        "norm", "A louder stream comes out of the norm louder.",
        "The residual stream at {token} is made ten times as long. The norm before the FFN puts "
        "out …",
        ("ten times as much", "the same", "a tenth"),
        evidence.norm_scales,
        "Lengths of four vectors.",
        "It divides by the vector's own spread, so the length is lost and the direction stays "
        "(Ba et al. 2016). That is also why it is not linear.",
        ("lab", "residual"), (Capability.PRE_NORM,),
    ),
    Question(
        "work", "Most of the work is attention's.",
        "This sentence has {tokens} tokens. Where are most multiplications?",
        ("In attention", "In the FFNs", "Half in each"),
        evidence.most_work,
        "Multiply-adds of all blocks, without the words' matrix.",
        "Attention's products grow with n², but from 2·n²·d_model: the FFN's 8·n·d_model² lead "
        "until n = 2·d_model, if d_ff is 4·d_model.",
        ("dimensions", "cost"), (Capability.OURS,),
    ),
    Question(
        "order", "Where a neuron stands among the others matters.",
        "The hidden neurons change places, in W₁ and in W₂ alike. The output …",
        ("stays as it is", "becomes another", "is right again only after more training"),
        evidence.neuron_order,
        "All neurons in a random order, in float64; shares of the output's norm.",
        "A sum has no order: each neuron takes its key and its value with it. So there are d_ff! "
        "equal networks, and “neuron 17” is only a name (Hecht-Nielsen 1990).",
        ("neurons", "writes"), FFN_NEEDS,
    ),
    Question(
        "logits", "A larger logit is a larger probability.",
        "10 is added to every logit at {token}. The likeliest word's probability …",
        ("grows", "stays as it is", "shrinks"),
        evidence.logits_shifted,
        "Softmax over the whole vocabulary, in float64.",
        "softmax(z + c) = softmax(z): only differences count. Doubling all logits doubles these, "
        "and makes the distribution sharper.",
        ("vocabulary", "softmax"), (Capability.WORD_HEAD,),
    ),
)  # fmt: skip
