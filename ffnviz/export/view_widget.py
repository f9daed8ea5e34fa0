"""A notebook's widget: a run, its sheet, and a state that Python and the browser share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import anywidget
import traitlets

from ffnviz.export.bundle import OWN, PICTURES, widget_module
from ffnviz.export.document import PLOTLY
from ffnviz.parts.sheet import Sheet, cells_of, resolved
from ffnviz.pictures.cell import Cell, entry
from ffnviz.pictures.payload import pack
from ffnviz.pictures.sheet_message import Browser, laid_out, message, new_events
from ffnviz.state.actions import reduce
from ffnviz.state.run import Run
from ffnviz.state.state import Catalog, Neuron, State

NOTES = {f"notes/{path.name}": path for path in (PICTURES / "notes").glob("*.html")}
FILES = {**NOTES, PLOTLY.name: PLOTLY}


class ViewWidget(anywidget.AnyWidget):
    """Pictures of a trace in a notebook.

    Attributes:
        token, block: which is shown, from 0.
        neuron: which of the block's is shown, from 0; None takes the strongest on the token.
    """

    _esm = widget_module()
    _css = OWN / "view.css"
    _sheet = traitlets.Bytes().tag(sync=True)
    token = traitlets.Int().tag(sync=True)
    block = traitlets.Int().tag(sync=True)
    neuron = traitlets.Int(None, allow_none=True).tag(sync=True)

    def __init__(
        self,
        run: Run,
        catalog: Catalog,
        sheet: Callable[[Run], Sheet],
        above: Sequence[Callable[[Run], Cell]] = (),
    ) -> None:
        self._run, self._catalog, self._sheet_of, self._above = run, catalog, sheet, above
        self._browser, self._cells = Browser(), dict[str, Cell]()
        super().__init__(token=run.token, block=run.state.block)
        self._draw()
        self.observe(self._on_change, ["token", "block", "neuron"])
        self.on_msg(self._on_message)

    def __repr__(self) -> str:
        return (
            "These pictures live while the kernel runs; those of ffnviz.show(trace) stay in the "
            "notebook."
        )

    @traitlets.validate("token", "block", "neuron")
    def _within(self, proposal: Mapping[str, Any]) -> int | None:
        name, value = proposal["trait"].name, proposal["value"]
        sizes = self._run.model.sizes
        counts = {"token": len(self._run.trace.tokens), "block": sizes.n_blocks}
        n = counts.get(name, sizes.d_ff)
        if value is not None and not 0 <= value < n:
            why = f"{name}s are numbered from 0 to {n - 1}"
            raise traitlets.TraitError(f"There is no {name} {value}: {why}.")
        return None if value is None else int(value)

    def _on_change(self, _: object) -> None:
        """Python or the browser has chosen another token, block or neuron."""
        block, neuron = self.block, self.neuron
        chosen = None if neuron is None else Neuron(self._run.card.id, block, neuron)
        state = replace(self._run.state, token=self.token, block=block, neuron=chosen)
        if state != self._run.state:
            self._look_at(state)

    def _on_message(self, _: object, content: Any, __: object) -> None:
        """The browser asks for a file, or reports what a person did."""
        name = entry(content, "file")
        if isinstance(name, str) and name in FILES:
            self.send({"file": name}, [FILES[name].read_bytes()])
        event = entry(content, "event")
        if event is None:
            return
        state = self._run.state
        for key, what, value in new_events(self._browser, event):
            cell = self._cells.get(key)
            answer = cell.events[what](value) if cell and what in cell.events else None
            action = answer[0] if isinstance(answer, tuple) else answer
            if action is not None:
                after = reduce(state, action, self._catalog)
                state = replace(after, page=state.page, part=state.part)
        self._look_at(state)

    def _look_at(self, state: State) -> None:
        self._run = replace(self._run, state=state)
        neuron = state.neuron.index if state.neuron else None
        with self.hold_trait_notifications():
            self.token, self.block, self.neuron = self._run.token, state.block, neuron
        self._draw()

    def _draw(self) -> None:
        rows = resolved(self._sheet_of(self._run), lambda _: None).rows
        above = [make(self._run) for make in self._above]
        # Without links: a notebook has no other page, and no sentence box.
        self._cells = {
            cell.key: replace(cell, data={**cell.data, "stays": True})
            for cell in (*above, *cells_of(rows))
        }
        header, arrays = message(self._browser, list(self._cells.values()), self._run.stamp)
        columns = [[(column.width, column.cells) for column in each.columns] for each in rows]
        self._sheet = pack(header | laid_out(columns, above), arrays)
