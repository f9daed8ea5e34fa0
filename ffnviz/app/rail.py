"""The controls of a part, as one cell: what is declared, drawn in one place with one look."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ffnviz.parts.sheet import (
    Button,
    Choice,
    Control,
    Download,
    Measurement,
    NumberBox,
    Switch,
    Upload,
)
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.saving import file_data
from ffnviz.pictures.sent import entry, place
from ffnviz.state.actions import Action, Set
from ffnviz.state.settings import Setting, Values, nearest

FEW_OPTIONS = 6  # which stand side by side; more are in a menu
SHORT = 72  # characters that they have in all
MEASURE, CANCEL = "measure", "cancel"


def rail_cell(
    controls: Sequence[Control],
    values: Values,
    measurements: Mapping[str, tuple[Measurement[Any], bool]],
    key: str = "rail",
) -> Cell | None:
    """All controls of a sheet; None if there are none.

    Args:
        controls: what a part declares.
        values: what is set.
        measurements: that have a button or are under way, by name; with which of the two.
        key: of the cell.
    """
    settings = {each.name: each for each in controls if isinstance(each, Setting) and each.label}
    buttons = {each.label: each for each in controls if isinstance(each, Button)}
    asking = {
        each.label: each for each in controls if isinstance(each, Choice | NumberBox | Switch)
    }
    uploads = {each.label: each for each in controls if isinstance(each, Upload)}
    drawn: list[dict[str, Any]] = []
    for control in controls:
        match control:
            case Setting() if control.label:
                drawn.append(_setting(control, values))
            case Button():
                disabled = control.action is None
                drawn.append(_button("button", control.label, control.help, disabled=disabled))
            case Choice():
                drawn.append(_choice(control))
            case Switch():
                switch = _button("switch", control.label, control.help, disabled=control.disabled)
                drawn.append({**switch, "on": control.on})
            case NumberBox():
                drawn.append({"kind": "number", "name": control.label, "label": control.label,
                              "help": "", "text": str(control.value), "example": "",
                              "longest": None})  # fmt: skip
            case Download():
                file = file_data(control.content, control.name, control.kind)
                drawn.append({**_button("download", control.label), "file": file})
            case Upload():
                drawn.append({**_button("upload", control.label, control.help),
                              "accepts": control.accepts, "longest": control.longest})  # fmt: skip
    for name, (each, busy) in measurements.items():
        drawn.append({**_button("measure", each.label), "name": name, "busy": busy,
                      "doing": each.doing})  # fmt: skip
    if not drawn:
        return None

    def moved(sent: Any) -> tuple[Action, bool] | None:
        name = str(entry(sent, "name"))
        if name in asking:
            return _asked(asking[name], entry(sent, "value"))
        setting = settings.get(name)
        text = None if setting is None else _text(setting, entry(sent, "value"))
        done = entry(sent, "done") is not False
        return None if setting is None or text is None else (Set({setting.name: text}), done)

    def pressed(sent: Any) -> Any:
        button = buttons.get(str(sent))
        action = None if button is None else button.action
        return action() if callable(action) else action

    def brought(sent: Any) -> Any:
        upload = uploads.get(str(entry(sent, "control")))
        name, text = entry(sent, "name"), entry(sent, "text")
        if upload is None or not isinstance(name, str) or not isinstance(text, str):
            return None
        return upload.answer(name, text[: upload.longest + 1])

    def measuring(what: str) -> Callable[[Any], Any]:
        return lambda sent: (what, str(sent)) if str(sent) in measurements else None

    events = {"move": moved, "press": pressed, "file": brought,
              MEASURE: measuring(MEASURE), CANCEL: measuring(CANCEL)}  # fmt: skip
    return Cell("rail", key, {"controls": drawn}, events=events)


def _button(kind: str, label: str, help: str = "", *, disabled: bool = False) -> dict[str, Any]:  # noqa: A002
    return {"kind": kind, "name": label, "label": label, "help": help, "disabled": disabled}


def _setting(setting: Setting[Any], values: Values) -> dict[str, Any]:
    value = values[setting]
    drawn = {"name": setting.name, "label": setting.label, "help": setting.help}
    if setting.stops:
        stops = [setting.shown(stop) for stop in setting.stops]
        return {**drawn, "kind": "slider", "stops": stops, "stop": nearest(setting.stops, value)}
    if isinstance(setting.default, tuple):
        flags = "".join("01"[option in value] for option in setting.options)
        options = list(setting.options.values())
        return {**drawn, "kind": "several", "options": options, "stop": flags}
    if setting.options:
        options = list(setting.options)
        chosen = options.index(value) if value in options else 0
        return {**drawn, **_options(list(setting.options.values()), chosen)}
    kind = "number" if isinstance(setting.default, int | float) else "text"
    return {**drawn, "kind": kind, "text": setting.text(value), "longest": setting.longest,
            "example": setting.example}  # fmt: skip


def _options(words: Sequence[str], chosen: int | None) -> dict[str, Any]:
    few = len(words) <= FEW_OPTIONS and sum(map(len, words)) <= SHORT
    kind = "choice" if few else "menu"
    return {"kind": kind, "options": list(words), "stop": -1 if chosen is None else chosen}


def _choice(control: Choice) -> dict[str, Any]:
    drawn = {"name": control.label, "label": control.label, "help": "", "bare": control.bare}
    if control.style == "slider":
        return {**drawn, "kind": "slider", "stops": list(control.options), "stop": control.chosen}
    return drawn | _options(control.options, control.chosen)


def _asked(control: Choice | NumberBox | Switch, sent: Any) -> tuple[Any, bool] | None:
    """The action that such a control asks for; None if it is none of ours."""
    if isinstance(control, Switch):
        possible = isinstance(sent, bool) and not control.disabled
        return (control.action(sent), True) if possible else None
    if isinstance(control, Choice):
        at = place(sent, len(control.options))
        return None if at is None else (control.action(at), True)
    if not isinstance(sent, str) or not sent.isascii() or not sent.isdigit():
        return None
    number = min(max(int(sent[:12]), control.low), control.high)
    return control.action(number), True


def _text(setting: Setting[Any], sent: Any) -> str | None:
    """What a control sent, as the text that stands in a URL; None if it can be none of ours."""
    if isinstance(setting.default, tuple):
        flags = sent if isinstance(sent, str) and set(sent) <= {"0", "1"} else ""
        if len(flags) != len(setting.options):
            return None
        chosen = zip(setting.options, flags, strict=True)
        return setting.text(tuple(option for option, flag in chosen if flag == "1"))
    if setting.stops or setting.options:
        choices = setting.stops or list(setting.options)
        at = place(sent, len(choices))
        return None if at is None else setting.text(choices[at])
    return setting.text(setting.parse(sent)) if isinstance(sent, str) else None
