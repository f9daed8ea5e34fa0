"""A visitor's session: the state they look at, tied to widgets and URL, and its run.

Widgets and clicks ask for actions; the URL is written from the state and read when a link, Back or
Forward brings another.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import streamlit as st

from ffnviz.app.visit import TEXT, visit
from ffnviz.models.card import NetworkSize
from ffnviz.models.encoder.tokenizer import MASK
from ffnviz.models.learned import learned_folder
from ffnviz.models.network import Network, UnreadableTextError
from ffnviz.models.registry import available_networks
from ffnviz.models.token_slice import words_among
from ffnviz.server.streamlit_patches.open_sessions import tab_is_open
from ffnviz.server.streamlit_patches.reconnected_text import text_brought_along
from ffnviz.state import actions
from ffnviz.state import state as states
from ffnviz.state.run import Run
from ffnviz.state.run_factory import find_gpu, loaded_network, make_run


def network_sizes(learned: Sequence[str] = ()) -> dict[str, NetworkSize]:
    """The networks one can choose from, by their ids; `learned` are those trained here."""
    sizes = {name: network_by_id(name).sizes for name in [*available_networks(), *learned]}
    return {name: NetworkSize(size.n_blocks, size.d_ff) for name, size in sizes.items()}


def learned_networks() -> list[str]:
    """The networks trained here, in this session or in the one that a link comes from."""
    linked = [st.query_params.get(name, "") for name in ("twin", "partner")]
    state = visit().state
    if state is not None:
        linked += [state.network, state.partner or ""]
    return [name for name in dict.fromkeys([*visit().learned, *linked]) if learned_folder(name)]


@dataclass(frozen=True)
class Session:
    """What one visitor looks at."""

    catalog: states.Catalog  # of all that there is to look at

    @property
    def state(self) -> states.State:
        """What is looked at now."""
        state = visit().state
        assert state is not None  # noqa: S101  # a page was opened
        return state

    def open(self, page: str) -> None:
        """Open a page by its id: from a link, by Back or Forward, or because it ran again.

        What a URL lacks or garbles takes its default. A URL that differs from the last one written
        comes from the browser's history only if nothing else changed; otherwise it is merely late.
        A link to another page of ours has no parameters at all: there, everything stays as it is.
        """
        url, kept = st.query_params.to_dict(), visit()
        if kept.state is None:
            kept.tab_is_open, kept.url, kept.came_with = tab_is_open(), url, frozenset(url)
            self._follow(page, url)
            typed = text_brought_along(TEXT)
            if typed is not None and typed != st.session_state[TEXT]:
                self.type(typed)
                st.session_state[TEXT] = typed
        elif url not in ({}, kept.url) and kept.state == kept.shown:
            self._follow(page, url)
        elif page != kept.state.page and kept.turn_to is None:
            self.do(actions.OpenPage(page))

    @property
    def box_shows_the_sentence(self) -> bool:
        """Whether the sentence box has what is looked at; gaps in it stand for masks."""
        return states.readable(st.session_state.get(TEXT) or "") == self.state.sentence

    def do(self, action: actions.Action, settled: bool = True) -> None:
        """Do what was asked for; the URL follows with the page, once that is settled."""
        kept, before = visit(), self.state
        kept.moving, kept.not_here = not settled, []
        if isinstance(action, actions.OpenPage | actions.OpenNeuron):
            part = action.part or kept.last_parts.get(action.page, "")
            action = replace(action, part=part, settings=kept.left)
        if isinstance(action, actions.HideWord | actions.ShowWord):
            start = action.start if isinstance(action, actions.HideWord) else action.end - len(MASK)
            by = MASK if isinstance(action, actions.HideWord) else action.word
            kept.hidden_words = states.remembered(
                kept.hidden_words, before.sentence, start, action.end, by
            )
        self._look_at(actions.reduce(before, action, self.catalog))
        if self.state.page != before.page:
            kept.turn_to = self.state.page

    def type(self, sentence: str) -> None:
        """Change the sentence; the chosen token stays if all up to it stayed as it was."""
        up_to = self._text_up_to_token(self.state)
        stays = up_to is not None and states.readable(sentence).startswith(up_to)
        self.do(actions.Type(sentence, stays))

    def show_next(self, network: str) -> None:
        """Have a newly trained network join those to choose from, and show it on the Journey."""
        visit().learned = list(dict.fromkeys([*visit().learned, network]))
        visit().show_next = network

    def show_new_network(self) -> None:
        """Show the network that has joined, if one has."""
        network, visit().show_next = visit().show_next, None
        if network is not None:
            self.do(actions.ChooseNetwork(network))
            self.do(actions.OpenPage("journey"))

    def run(self, state: states.State | None = None) -> Run | None:
        """The run of a state, which is the visitor's if left out.

        None if there is no sentence, or none that the networks can read.
        """
        state = state or self.state
        run = make_run(state, _device(), self.catalog.networks) if state.sentence else None
        return None if run is None or _why_unread(run) else run

    @property
    def why_empty(self) -> str:
        """Why there is no run, in a sentence."""
        if not self.state.sentence:
            return "The box is empty. Type a sentence, or click one of the examples."
        return _why_unread(make_run(self.state, _device(), self.catalog.networks))

    def write_url(self, run: Run | None) -> None:
        """Make the URL say what the page shows."""
        if visit().moving:
            return
        state = self.state
        if run is not None:
            # Beyond the last token nothing is computed, and a browser's URL must stay short.
            trace = run.trace
            text = trace.text[: trace.tokens[-1].end]
            state = replace(state, sentence=text, token=run.token)
        url = {**states.to_url(state, self.catalog), **visit().view_options.to_url()}
        if st.query_params.to_dict() != url:
            st.query_params.from_dict(url)
        visit().url, visit().shown = url, self.state

    def _follow(self, page: str, url: Mapping[str, str]) -> None:
        # A link may also hold settings of other parts of the page, for when one turns to them.
        state, kept = states.from_url(page, url, self.catalog), visit()
        named = (url.get(name, "") for name in ("twin", "partner"))
        kept.not_here = [n for n in named if n and n not in self.catalog.networks]
        for part in self.catalog.parts[state.page]:
            kept.left |= dict(self.catalog.legal(state.page, part, url))
        self._look_at(state)
        if state.page != page:  # what the link shows has moved
            kept.turn_to = state.page
        kept.view_options = states.view_options_from_url(url)
        # The box keeps all of a text, even what no link of ours would hold.
        st.session_state[TEXT] = url.get("text", self.catalog.start)

    def _look_at(self, state: states.State) -> None:
        kept = visit()
        kept.state = state
        # What was set on a part is there again when one comes back to it.
        names = {setting.name for setting in self.catalog.parts[state.page][state.part]}
        left = {name: text for name, text in kept.left.items() if name not in names}
        kept.left = left | dict(state.settings)
        kept.last_parts = {**kept.last_parts, state.page: state.part}

    def _text_up_to_token(self, state: states.State) -> str | None:
        if state.token is None or not state.sentence:
            return None
        model = network_by_id(state.network)
        try:
            tokens = model.tokenizer.encode(state.sentence, model.sizes.max_tokens).tokens
        except UnreadableTextError:
            return None
        if not state.special:
            tokens = tuple(tokens[place] for place in words_among(tokens))
        return state.sentence[: tokens[min(state.token, len(tokens) - 1)].end] if tokens else None


def _why_unread(run: Run) -> str:
    for traced in run.both:
        try:
            traced.network.tokenizer.encode(traced.text)
        except UnreadableTextError as error:
            return f"{traced.card.label} cannot read this sentence. {error}"
    return ""


def _device() -> str:
    gpu = find_gpu().device
    return gpu if gpu and visit().gpu else "cpu"


def network_by_id(name: str) -> Network:
    """A network by its id."""
    return loaded_network(name, _device())


def network_label(name: str) -> str:
    """What a page calls a network."""
    return network_by_id(name).card.label
