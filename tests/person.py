"""Somebody with a page open, as a browser is to the server: a socket that types and presses."""

import asyncio
import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import websockets
from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.unpacked import unpacked

WORDS = ("the", "old", "man", "opened", "a", "door", "and", "saw", "his", "little", "dog", "run",
         "over", "green", "hills", "while", "rain", "fell", "on", "quiet", "houses")  # fmt: skip
LETTERS_A_KEY = 4  # so many letters appear at once: fewer keys, the same pace
QUIET_S = 1.0  # no other run for so long: settled
PATIENCE_S = 180
SHEET = "ffnviz.sheet"
EVENTS = {"button": "press", "measure": "measure"}  # of a control, by its kind


@dataclass
class Person:
    """One."""

    url: str  # of the server's sessions
    rng: random.Random  # what they type
    page: str = ""  # they open, by its name; the first if empty
    query: str = ""  # of the address
    runs: int = 0  # pages they got
    broken: int = 0  # stack traces they got
    # For each sentence, seconds from its last key, and from when it was sent.
    settled: list[tuple[float, float]] = field(default_factory=list)
    pause_s: float = 0.25  # for which the box waits for another key
    shown: str = ""  # what the server last put into the box
    _box: str = ""
    _page_hash: str = ""
    _sheet: str = ""
    _pressed: int = 0
    _buttons: dict[str, dict[str, str]] = field(default_factory=dict)
    _looks: dict[str, "asyncio.Task[None]"] = field(default_factory=dict)
    _finished: float = 0.0
    _done: asyncio.Event = field(default_factory=asyncio.Event)

    async def open(self) -> None:
        """Open the page, and wait until it is there."""
        await self._connect()
        await self.go(self.page, self.query)

    async def _connect(self) -> None:
        self._socket = await websockets.connect(
            self.url,
            subprotocols=[websockets.Subprotocol("streamlit")],
            max_size=None,
            compression=None,
            open_timeout=120,
        )
        self._reading = asyncio.create_task(self._read())

    async def close(self) -> None:
        """Close the tab."""
        for task in (self._reading, *self._looks.values()):
            task.cancel()
        await self._socket.close()

    async def is_gone(self, within_s: float) -> bool:
        """Whether the server has gone, or goes within so many seconds."""
        await asyncio.wait({self._reading}, timeout=within_s)
        return self._reading.done()

    async def go(self, page: str, query: str) -> None:
        """Turn to a page, and wait until it is there."""
        self.page, self.query, self._page_hash = page, query, ""
        await self._ask()
        await self.page_there()

    async def type(self, text: str) -> None:
        """Have another text in the box; does not wait."""
        message = BackMsg()
        widget = message.rerun_script.widget_states.widgets.add()
        widget.id, widget.string_value = self._box, text
        await self._ask(message)

    async def press(self, label: str) -> bool:
        """Press a button, and wait for the page; tells whether there is such a button."""
        if label not in self._buttons:
            return False
        await self.tell({"cell": "rail", **self._buttons[label]})
        return True

    async def tell(self, event: dict[str, str]) -> None:
        """Say what was done to a cell of the sheet, and wait for the page."""
        while not self._sheet:  # a first run may have given way to another
            await asyncio.sleep(0.05)
        self._pressed += 1
        numbered = {"number": self._pressed, **event}
        sent = {"event": "event", "value": {"sheet": str(id(self)), "events": [numbered]}}
        message = BackMsg()
        widget = message.rerun_script.widget_states.widgets.add()
        widget.id, widget.json_trigger_value = self._sheet, json.dumps([sent])
        await self._ask(message)
        await self.page_there()

    async def page_there(self) -> None:
        """Wait for the page; what went wrong with reading it is raised here."""
        done = asyncio.create_task(self._done.wait())
        await asyncio.wait(
            {done, self._reading}, timeout=PATIENCE_S, return_when=asyncio.FIRST_COMPLETED
        )
        if not done.done():
            done.cancel()
            if self._reading.done():
                await self._reading
            raise TimeoutError("The page does not come.")

    async def come_back(self, text: str) -> None:
        """To a server that does not know the page, with the next thing typed."""
        box, shown = self._box, self._page_hash
        await self.close()
        await self._connect()
        self._box, self._page_hash = box, shown
        await self.type(text)
        await self.page_there()

    async def type_sentences(self, until: float, key_s: float) -> None:
        """One sentence after the other, with a pause to look at each."""
        await asyncio.sleep(self.rng.random() * 2)
        while time.perf_counter() < until:
            words = [self.rng.choice(WORDS) for _ in range(self.rng.randint(5, 14))]
            await self.type_keys(" ".join(words), key_s)
            await asyncio.sleep(self.rng.random() * 4)

    async def type_keys(self, sentence: str, key_s: float) -> None:
        """Key by key; a text leaves when no key has come for as long as the box waits."""
        if key_s:
            for n in range(LETTERS_A_KEY, len(sentence), LETTERS_A_KEY):
                pause = self.pause_s
                if key_s >= pause:
                    await asyncio.sleep(pause)
                    await self.type(sentence[:n])
                await asyncio.sleep(max(0.0, key_s - pause) if key_s >= pause else key_s)
        last_key = time.perf_counter()
        await asyncio.sleep(self.pause_s if key_s else 0.0)
        sent = time.perf_counter()
        await self.type(sentence)
        while True:
            await self.page_there()
            finished = self._finished
            await asyncio.sleep(QUIET_S)
            if self._finished == finished:
                self.settled.append((finished - last_key, finished - sent))
                return

    async def _ask(self, message: BackMsg | None = None) -> None:
        message = message or BackMsg()
        self._say_where(message)
        self._done.clear()
        await self._socket.send(message.SerializeToString())

    def _say_where(self, message: BackMsg) -> None:
        message.rerun_script.query_string = self.query
        if self._page_hash:
            message.rerun_script.page_script_hash = self._page_hash
        else:
            message.rerun_script.page_name = self.page

    async def _look_again(self, fragment: str, every_s: float) -> None:
        # What Streamlit's page does for a part that runs by itself.
        while True:
            await asyncio.sleep(every_s)
            message = BackMsg()
            self._say_where(message)
            message.rerun_script.fragment_id = fragment
            message.rerun_script.is_auto_rerun = True
            await self._socket.send(message.SerializeToString())

    async def _read(self) -> None:
        async for raw in self._socket:
            message = ForwardMsg()
            message.ParseFromString(raw if isinstance(raw, bytes) else raw.encode())
            self._take(message)

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "new_session" and not _fragments(message):
            self._stop_looking(list(self._looks))
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            element = message.delta.new_element
            match element.WhichOneof("type"):
                case "text_input":
                    self._box = element.text_input.id
                    self.shown = element.text_input.value or element.text_input.default
                    self.pause_s = element.text_input.live_debounce_ms / 1_000
                case "bidi_component" if element.bidi_component.component_name == SHEET:
                    self._sheet = _make_trigger_id(element.bidi_component.id, "events")
                    self._see_buttons(element.bidi_component.bytes)
                case "exception":
                    self.broken += 1
        elif kind == "navigation":
            self._page_hash = message.navigation.page_script_hash
        elif kind == "auto_rerun":
            fragment = message.auto_rerun.fragment_id
            self._stop_looking([fragment])
            look = self._look_again(fragment, message.auto_rerun.interval)
            self._looks[fragment] = asyncio.create_task(look)
        elif kind == "stop_auto_rerun":
            self._stop_looking(list(message.stop_auto_rerun.fragment_ids))
        elif kind == "script_finished":
            self.runs += 1
            self._finished = time.perf_counter()
            self._done.set()

    def _see_buttons(self, packed: bytes) -> None:
        header, _ = unpacked(packed)
        digest, *_ = header["cells"].get("rail", [""])
        if "rail" not in header["cells"]:
            self._buttons.clear()
        elif digest in header["new"]:  # else they are as they were
            controls = header["new"][digest]["controls"]
            self._buttons = {
                each["label"]: {"name": EVENTS[each["kind"]], "value": each["name"]}
                for each in controls
                if each["kind"] in EVENTS and not (each["disabled"] or each.get("busy"))
            }

    def _stop_looking(self, fragments: list[str]) -> None:
        for fragment in fragments:
            if fragment in self._looks:
                self._looks.pop(fragment).cancel()


def _fragments(message: ForwardMsg) -> Sequence[str]:
    """The fragments that a run is of; Streamlit 1.64 says it elsewhere."""
    has_run = hasattr(message.metadata, "run")
    told: Sequence[str] = (
        message.metadata.run.fragment_ids if has_run else message.new_session.fragment_ids_this_run
    )
    return told
