"""Widgets ↔ URL ↔ Request → Run; the only place that caches.

All that a person chose is one table in st.session_state, and the same table is the URL, so a link
shows elsewhere what it showed here. Widgets write into the table by their keys.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st
import torch

from ffnviz.analysis.ordering import ORDERS
from ffnviz.analysis.record import training_record
from ffnviz.analysis.timing import timed_trace
from ffnviz.model.encoder import Encoder, EncoderTrace, initial_encoder
from ffnviz.model.model import TWINS, Model, load
from ffnviz.model.trace import Trace
from ffnviz.page import Choices, Page, Part, present_names, shortened
from ffnviz.run import Request, Run, TraceTiming

START = "She opened the [MASK] and looked out."
CHOSEN = ("text", "twin", "block", "token", "order", "neuron")
NEURONS = "neurons"  # the page a neuron is met on
LONGEST_SETTING = 2_000
LONGEST_TEXT = 2_000  # in a URL; the network's 128 tokens fit, but for endless blanks
THREADS = 1  # at these sizes a second thread gains little, and on a busy machine it waits


@dataclass(frozen=True)
class Gpu:
    """Whether there is one: its PyTorch name, or why there is none."""

    device: str | None
    why: str


def open_url() -> None:
    """Fill the table from the URL: once a session, and again when Back or Forward changed it.

    What the URL lacks or garbles takes its default. A URL that differs from the last one we wrote
    comes from the browser's history only if nothing else changed; otherwise it is merely late. A
    link to another page of ours has no parameters at all: there, everything stays as it is.
    """
    url = st.query_params.to_dict()
    table = st.session_state
    if "url" in table and (url in ({}, table["url"]) or _chosen() != table["shown"]):
        return
    if "url" not in table:
        table["gpu"] = find_gpu().device is not None
    table["text"] = table["token_text"] = url.get("text", START)
    table["twin"] = _one_of(url.get("twin"), TWINS)
    # The last block to begin with: its FFN is the sparser one, and decides most about the word.
    table["block"] = min(_number(url.get("block"), 1) or n_blocks(), n_blocks())
    token = _number(url.get("token"), 1)
    table["token"] = None if token is None else token - 1
    table["order"] = _one_of(url.get("order"), ORDERS)
    table["neuron"] = _neuron(url.get("neuron"))
    table["linked_part"] = url.get("part", "")
    # What these may be is for the page to say that reads them.
    table["settings"] = {
        name: text[:LONGEST_SETTING] for name, text in url.items() if name not in (*CHOSEN, "part")
    }


def current_part(page: Page) -> Part:
    """The part of a page that a link, or else the last visit, asks for."""
    parts = st.session_state.setdefault("parts", {})
    linked = st.session_state.pop("linked_part", None)
    if linked is not None:
        parts[page.name] = linked
        table = st.session_state
        table["settings"] = present_names(table["settings"], page.part(linked))
    return page.part(parts.get(page.name))


def choose_part(page: Page, name: str) -> None:
    """Turn to another part of a page."""
    st.session_state["parts"] = {**st.session_state["parts"], page.name: name}


def page_to_turn_to() -> str | None:
    """The page that a click asked for, by its name; asked for once."""
    name: str | None = st.session_state.pop("turn_to", None)
    return name


def current_run() -> Run | None:
    """What the table asks for, computed or from the cache; None if there is no text.

    Raises:
        ModelFolderError: if a twin cannot be read.
    """
    request = _request()
    st.session_state["outdated"] = False
    if not request.text:
        return None
    models = {twin: _model(twin, request.device) for twin in TWINS}
    computed = {twin: _trace(twin, request.text, request.device) for twin in TWINS}
    return Run(
        request,
        models,
        traces={twin: trace for twin, (trace, _) in computed.items()},
        timings={twin: timing for twin, (_, timing) in computed.items()},
        untrained=lambda twin: _untrained_trace(twin, request.text, request.device),
        devices={
            device: partial(_model, request.twin, device)
            for device in ("cpu", find_gpu().device)
            if device
        },
        about_gpu=find_gpu().why,
        once=partial(_once, request.twin, request.device),
    )


def write_url(run: Run | None, page: Page, part: Part) -> None:
    """Make the URL say what the page shows."""
    table = st.session_state
    wanted = {"text": "", "twin": table["twin"], "block": str(table["block"])}
    if run is not None:
        # Beyond the last token nothing is computed, and a browser's URL must stay short.
        trace = run.trace
        wanted["text"] = trace.text[: trace.tokens[-1].end]
        wanted["token"] = str(run.token + 1)
    if table["order"] != ORDERS[0]:
        wanted["order"] = table["order"]
    if table["neuron"] is not None:
        wanted["neuron"] = "{}-{}".format(*table["neuron"])
    if part is not page.parts[0]:
        wanted["part"] = part.name
    names = {setting.name for setting in part.settings}
    _show_url(wanted | {n: text for n, text in table["settings"].items() if n in names})


def unread() -> bool:
    """Whether the box holds more than a link has room for; the rest is not read."""
    return len(st.session_state["text"] or "") > len(_text())


def choose_text(text: str) -> None:
    """Put a sentence into the box."""
    st.session_state["text"] = text
    st.session_state["outdated"] = True


def choices() -> Choices:
    """What pages call when somebody clicks."""
    return Choices(
        token=_choose_token,
        neuron=_choose_neuron,
        order=_choose_order,
        text=choose_text,
        meet=_meet,
        turn=_turn,
        setting=lambda name: st.session_state["settings"].get(name),
        set=_set,
        outdated=lambda: bool(st.session_state["outdated"]),
    )


@st.cache_resource(show_spinner=False)
def find_gpu() -> Gpu:
    """The GPU that PyTorch can use, if any."""
    if torch.cuda.is_available():
        return Gpu("cuda", f"found {torch.cuda.get_device_name()}")
    if torch.backends.mps.is_available():
        return Gpu("mps", "found Apple's Metal GPU")
    built = f"CUDA {torch.version.cuda}" if torch.version.cuda else "the CPU only"
    return Gpu(
        None, f"No GPU was found: this PyTorch is built for {built}, and sees no Apple GPU either."
    )


def n_blocks() -> int:
    """Blocks of the twins."""
    return _model(TWINS[0], _device()).encoder.config.n_blocks


def _request() -> Request:
    table = st.session_state
    text = _text()
    if not text.startswith(table["token_text"]):
        table["token"] = None  # another sentence: its own [MASK] or last word drives the page
    table["token_text"] = text if table["token"] is None else table["token_text"]
    table["neuron"] = _known_neuron(table["neuron"])
    return Request(
        text=text,
        twin=table["twin"],
        block=table["block"] - 1,
        token=table["token"],
        neuron=table["neuron"],
        order=table["order"],
        device=_device(),
    )


def _text() -> str:
    return shortened(st.session_state["text"] or "", LONGEST_TEXT, LONGEST_TEXT)


def _device() -> str:
    gpu = find_gpu().device
    return gpu if gpu and st.session_state["gpu"] else "cpu"


def _chosen() -> list[object]:
    table = st.session_state
    return [*(table[key] for key in CHOSEN), table.get("parts"), dict(table["settings"])]


def _show_url(wanted: dict[str, str]) -> None:
    if st.query_params.to_dict() != wanted:
        st.query_params.from_dict(wanted)
    st.session_state["url"], st.session_state["shown"] = wanted, _chosen()


def _choose_token(token: int) -> None:
    table = st.session_state
    table["token"] = token
    table["outdated"] = True
    # The choice holds as long as the text up to and with this token stays as it is.
    trace, _ = _trace(table["twin"], _text(), _device())
    table["token_text"] = trace.text[: trace.tokens[min(token, len(trace.tokens) - 1)].end]


def _choose_neuron(twin: str, neuron: int) -> None:
    st.session_state["neuron"] = (twin, neuron)
    st.session_state["outdated"] = True


def _meet(twin: str, neuron: int, token: int | None, part: str, block: int | None = None) -> None:
    table = st.session_state
    if _known_neuron((twin, neuron)) is None:
        return
    table["twin"] = twin
    _choose_neuron(twin, neuron)
    if block is not None and 0 <= block < n_blocks():
        table["block"] = block + 1
    if token is not None:
        _choose_token(token)
    _turn(NEURONS, part)


def _turn(page: str, part: str) -> None:
    table = st.session_state
    table["parts"] = {**table["parts"], page: part}
    table["turn_to"] = page
    table["outdated"] = True


def _choose_order(order: str) -> None:
    st.session_state["order"] = order


def _set(name: str, text: str | None, done: bool) -> None:
    table = st.session_state
    settings = {n: old for n, old in table["settings"].items() if n != name}
    table["settings"] = settings if text is None else {**settings, name: text}
    if done:
        # A fragment runs without the page around it, which else would write the URL.
        others = {n: old for n, old in table["url"].items() if n != name}
        _show_url(others if text is None else {**others, name: text})


def _known_neuron(neuron: tuple[str, int] | None) -> tuple[str, int] | None:
    if neuron is None or neuron[0] not in TWINS:
        return None
    known = 0 <= neuron[1] < _model(neuron[0], _device()).encoder.config.d_ff
    return neuron if known else None


@st.cache_resource(show_spinner="Loading the twins …")
def _model(twin: str, device: str) -> Model:
    torch.set_num_threads(THREADS)
    return load(twin, device)


@st.cache_resource(max_entries=64, show_spinner=False)
def _trace(twin: str, text: str, device: str) -> tuple[Trace, TraceTiming]:
    trace, total_ms, ffn_ms = timed_trace(_model(twin, device), text)
    return trace, TraceTiming(total_ms, ffn_ms)


def _once(twin: str, device: str, name: str, compute: Callable[[], Any]) -> Any:
    kept = _constants()
    if (twin, device, name) not in kept:
        kept[twin, device, name] = compute()
    return kept[twin, device, name]


@st.cache_resource(show_spinner=False)
def _constants() -> dict[tuple[str, str, str], Any]:
    return {}


@st.cache_resource(show_spinner=False)
def _untrained(twin: str, device: str) -> Encoder:
    config = _model(twin, device).encoder.config
    return initial_encoder(config, training_record(twin).seed).to(device)


@st.cache_resource(max_entries=64, show_spinner=False)
@torch.inference_mode()
def _untrained_trace(twin: str, text: str, device: str) -> EncoderTrace:
    trained, _ = _trace(twin, text, device)
    trace: EncoderTrace = _untrained(twin, device)(trained.ids)
    return trace


def _one_of(value: str | None, allowed: tuple[str, ...]) -> str:
    return value if value in allowed else allowed[0]


def _number(value: str | None, least: int) -> int | None:
    if value is None or not value.isascii() or not value.isdecimal() or len(value) > 6:
        return None
    return max(least, int(value))


def _neuron(value: str | None) -> tuple[str, int] | None:
    twin, _, number = (value or "").partition("-")
    neuron = _number(number, 0)
    return (twin, neuron) if twin in TWINS and neuron is not None else None
