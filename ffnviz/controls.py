"""What all pages share above their own parts: sentence, twin, block, device, examples, tokens."""

import tomllib
from dataclasses import dataclass
from functools import cache
from itertools import groupby

import streamlit as st

from ffnviz.actions import ChooseBlock, ChooseNetwork, ChoosePartner, ChooseToken, HideWord, Turn
from ffnviz.analysis.journey.hiding import words_of
from ffnviz.analysis.sparsity.awake import awake, threshold_for
from ffnviz.assets import ASSETS
from ffnviz.components.chips import chips
from ffnviz.components.examples import examples
from ffnviz.components.head import Head
from ffnviz.components.page_bar import page_bar
from ffnviz.components.slider import slider
from ffnviz.figures.journey import sentences
from ffnviz.figures.wording import weights
from ffnviz.page import Page
from ffnviz.run import Run
from ffnviz.session import Session, find_gpu, label_of, network_of
from ffnviz.state import with_masks
from ffnviz.turns import TURNS

FEW_BLOCKS = 4  # of which each has a button; of more, a slider
EXAMPLES = ASSETS / "examples.toml"


@dataclass(frozen=True)
class Example:
    """A sentence to start from.

    Attributes:
        title: what it shows; examples of the same title stand together.
        sentence: with whatever it hides.
        why: in a line, why it is there.
        token: the one that is chosen with it, from 1; None takes the usual one.
        says, without: the word that wins at the mask, and the one that wins without the last FFN.
        not_among: a word that is not among the ten likeliest.
    """

    title: str
    sentence: str
    why: str
    token: int | None = None
    says: str = ""
    without: str = ""
    not_among: str = ""


@cache
def read_examples() -> tuple[Example, ...]:
    """The sentences of assets/examples.toml."""
    table = tomllib.loads(EXAMPLES.read_text(encoding="utf-8"))
    return tuple(Example(**entry) for entry in table["example"])


def choose_example(session: Session, sentence: str) -> None:
    """Type an example, and choose the token that it is about."""
    example = next(each for each in read_examples() if each.sentence == sentence)
    session.type(sentence)
    if example.token is not None:
        session.do(ChooseToken(example.token - 1))


def sentence_box(session: Session) -> None:
    """The sentence, and the examples in a menu beside it."""
    if not session.box_shows_the_sentence:
        st.session_state["text"] = session.state.sentence
    with st.container(horizontal=True, vertical_alignment="center", key="controls"):
        st.text_input(
            "Sentence",
            key="text",
            live=f"{TURNS.pause_ms}ms",
            placeholder="Type a sentence; [MASK] or ___ stands for a hidden word",
            autocomplete="off",
            label_visibility="collapsed",
            on_change=lambda: session.type(st.session_state["text"] or ""),
        )
        known = read_examples()
        examples(
            [(title, [e.sentence for e in es]) for title, es in groupby(known, lambda e: e.title)],
            key="examples",
            on_choose=lambda sentence: choose_example(session, sentence),
            why={example.sentence: example.why for example in known},
        )


def device(page: Page) -> None:
    """The GPU's switch, where the page speaks of time."""
    gpu = find_gpu()
    with st.container(key=f"device-{page.name}"):
        st.toggle(
            "GPU", key="gpu", persist_state="session", disabled=gpu.device is None, help=gpu.why
        )


def tie(key: str, value: object) -> None:
    """Have the widget of that key show a value."""
    if st.session_state.get(key) != value:
        st.session_state[key] = value


def network_and_block(session: Session) -> None:
    """Which network reads it, and which of its FFNs is shown; page.css puts it beside the box."""
    state, networks = session.state, session.house.networks
    if any(not network_of(name).card.ours for name in networks):
        any_network_and_block(session)
        return
    tie("twin", state.network)
    tie("block", state.block)
    with st.container(horizontal=True, key="twin-and-block"):
        st.segmented_control(
            "Twin",
            list(networks),
            key="twin",
            format_func=lambda network: label_of(network),
            required=True,
            label_visibility="collapsed",
            on_change=lambda: session.do(ChooseNetwork(st.session_state["twin"])),
        )
        st.segmented_control(
            "Block",
            range(networks[state.network].n_blocks),
            key="block",
            format_func=lambda block: f"block {block + 1}",
            required=True,
            label_visibility="collapsed",
            on_change=lambda: session.do(ChooseBlock(st.session_state["block"])),
        )
        partner(session)


def any_network_and_block(session: Session) -> None:
    """The same where there are networks of other people: a row that says what each is."""
    state, networks = session.state, session.house.networks
    n_blocks = networks[state.network].n_blocks
    tie("twin", state.network)
    with st.container(horizontal=True, vertical_alignment="bottom", key="network-row"):
        st.selectbox(
            "Network",
            list(networks),
            key="twin",
            format_func=described,
            label_visibility="collapsed",
            on_change=lambda: session.do(ChooseNetwork(st.session_state["twin"])),
        )
        if n_blocks > FEW_BLOCKS:
            with st.container(key="block-slider", width=320):
                slider(
                    "Block",
                    [f"{block + 1} of {n_blocks}" for block in range(n_blocks)],
                    state.block,
                    key="any-block",
                    on_choose=lambda block, _: session.do(ChooseBlock(block)),
                )
        elif n_blocks > 1:
            tie("block", state.block)
            st.segmented_control(
                "Block",
                range(n_blocks),
                key="block",
                format_func=lambda block: f"block {block + 1}",
                required=True,
                label_visibility="collapsed",
                width="content",
                on_change=lambda: session.do(ChooseBlock(st.session_state["block"])),
            )
        partner(session)


def described(name: str) -> str:
    """A network in a line: its label, size, φ and blocks."""
    network = network_of(name)
    card, sizes = network.card, network.sizes
    blocks = "1 block" if sizes.n_blocks == 1 else f"{sizes.n_blocks} blocks"
    return f"{card.label} · {weights(sizes.n_parameters)} · {card.phi.label} · {blocks}"


def partner(session: Session) -> None:
    """Which network stands beside it, where there is a choice."""
    state = session.state
    others = [network for network in session.house.networks if network != state.network]
    if len(others) < 2:
        return
    tie("partner", state.partner or others[0])
    st.selectbox(
        "Beside it",
        others,
        key="partner",
        format_func=lambda network: f"beside {label_of(network)}",
        label_visibility="collapsed",
        on_change=lambda: session.do(ChoosePartner(st.session_state["partner"])),
    )


def left_out_notice(run: Run) -> None:
    """What the network cannot read of a long text."""
    trace = run.trace
    if len(with_masks(st.session_state.get("text") or "")) > len(run.state.sentence):
        st.warning(
            f"Your text is too long: a link has room for its first {len(run.state.sentence):,} "
            f"characters, and the network reads at most {run.model.sizes.max_tokens} "
            "tokens. The rest is left out below; shorten it to see it."
        )
    elif trace.n_left_out:
        st.warning(
            f"The network reads at most {len(trace.tokens)} tokens. The last {trace.n_left_out:,} "
            "of your text are left out below; shorten it to see them."
        )


def bar(session: Session, page: Page, run: Run | None) -> None:
    """The page's name, its link, and what a screen reader is told when a click changed the page."""
    state = session.state
    part = page.part(state.part).title if len(page.parts) > 1 else ""
    network = [label_of(state.network), f"block {state.block + 1}"]
    token = run.labels[run.token] if run else ""
    page_bar(page.title, part, state.sentence, network, token, key="bar")


def token_chips(run: Run, session: Session, page: Page) -> None:
    """The tokens, each with the share of neurons it wakes; the chosen one drives the page.

    What the shares say stands on the first page only.
    """
    block, shown = run.state.block, tokens_shown(run)
    counted = awake(run.trace, block, threshold_for(run.card.phi))
    tokens = run.trace.tokens
    words = words_of(run.state.sentence, tokens) if _guesses(run) else [None] * len(tokens)
    why = next((e.why for e in read_examples() if e.sentence == run.state.sentence), "")
    can_hide = words[run.token] is not None
    question = sentences.of_the_question(run.state.sentence, hidden_words(run), can_hide)
    sentence = [
        *([f"{why} "] if why else []),
        *question,
        *sentences.of_tokens(run.labels, counted.shares, block),
    ]

    def hide(chip: int) -> None:
        word = words[shown[chip]]
        if word is not None:
            session.do(HideWord(word.start, word.end, word.token))

    chips(
        Head(sentence, "tokens", run.card.colour) if len(page.parts) == 1 else None,
        run.card.colour,
        [run.labels[token] for token in shown],
        [float(counted.shares[token]) for token in shown],
        shown.index(run.token) if run.token in shown else -1,
        f"of {counted.d_ff:,} neurons {sentences.awake_means(counted.threshold)}",
        run.stamp,
        key="chips",
        on_choose=lambda chip: session.do(ChooseToken(shown[chip])),
        hides=[word.text if (word := words[token]) else "" for token in shown],
        on_hide=hide,
        asks=bool(question),
    )


def _guesses(run: Run) -> bool:
    """Whether the network guesses hidden words."""
    return run.card.has_mask and run.card.has_word_head


def tokens_shown(run: Run) -> list[int]:
    """The places of the tokens that have a chip: special ones can be hidden."""
    tokens = run.trace.tokens
    special = [place for place, token in enumerate(tokens) if token.special]
    if special:
        names = ", ".join(dict.fromkeys(tokens[place].special for place in special))
        st.toggle(f"Show {names}", value=True, key="specials", persist_state="session")
    hidden = special if special and not st.session_state["specials"] else []
    return [place for place in range(len(tokens)) if place not in hidden] or [0]


def hidden_words(run: Run) -> int | None:
    """How many words of the sentence are hidden; None if the network has no sign for that."""
    if not _guesses(run):
        return None
    return sum(token.id == run.model.tokenizer.mask_id for token in run.trace.tokens)


def part_buttons(session: Session, page: Page, run: Run | None) -> None:
    """The parts of a page, one shown at a time; those that this network cannot show are named."""
    key = f"part-{page.name}"
    away = {part.name: part.missing(run) for part in page.parts} if run else {}
    titles = {
        part.name: part.title
        for part in page.parts
        if not away.get(part.name) or part.name == session.state.part
    }
    tie(key, session.state.part)
    st.segmented_control(
        f"Parts of {page.title}",
        list(titles),
        key=key,
        format_func=lambda name: titles[name],
        required=True,
        label_visibility="collapsed",
        on_change=lambda: session.do(Turn(page.name, st.session_state[key])),
    )
    for need in dict.fromkeys(needs[0] for needs in away.values() if needs):
        parts = [p.title for p in page.parts if away[p.name] and away[p.name][0] is need]
        st.caption(f"Not for this network: {', '.join(parts)}. {need.value}")
