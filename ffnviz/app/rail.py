"""The controls of a part as one cell."""

from collections.abc import Mapping, Sequence
from typing import Any

from ffnviz.app.session import Session, network_by_id, network_label
from ffnviz.app.visit import visit
from ffnviz.models.external.memory import weights
from ffnviz.models.token_slice import words_among
from ffnviz.parts import sheet
from ffnviz.pictures.cell import Cell, entry, place
from ffnviz.pictures.text import file_data
from ffnviz.pictures.wording import counted
from ffnviz.state.actions import Action, ChooseBlock, ChooseNetwork, ChoosePartner, Set, ShowSpecial
from ffnviz.state.run import Run
from ffnviz.state.run_factory import find_gpu
from ffnviz.state.settings import Setting, Values, nearest

FEW_OPTIONS = 6  # that stand side by side; more are in a menu
SHORT = 72  # characters of options that stand side by side, in all
MEASURE = "measure"


def rail_cell(
    controls: Sequence[sheet.Control],
    values: Values,
    measurements: Mapping[str, tuple[sheet.Measurement[Any], bool]],
    key: str = "rail",
    folded: str = "",
) -> Cell | None:
    """All controls of a sheet; None if there are none.

    The measurements, by name, have a button, which does nothing while one is under way; each comes
    with whether it is. With `folded`, the words of a button, a telephone shows all but the first
    only once that is pressed.
    """
    settings = {each.name: each for each in controls if isinstance(each, Setting) and each.label}
    labelled = {each.label: each for each in controls if not isinstance(each, Setting)}
    data = [shown for control in controls if (shown := _data(control, values)) is not None]
    for name, (each, busy) in measurements.items():
        button = {"name": name, "label": each.label, "help": "", "disabled": busy}
        data.append({"kind": MEASURE, **button})
    if not data:
        return None

    def move(sent: Any) -> tuple[Action, bool] | None:
        name, value = str(entry(sent, "name")), entry(sent, "value")
        control = labelled.get(name)
        if isinstance(control, sheet.Choice | sheet.NumberBox | sheet.Switch):
            action = _action(control, value)
            return None if action is None else (action, True)
        text = _text(settings[name], value) if name in settings else None
        return None if text is None else (Set({name: text}), entry(sent, "done") is not False)

    def press(sent: Any) -> Any:
        button = labelled.get(str(sent))
        action = button.action if isinstance(button, sheet.Button) else None
        return action() if callable(action) else action

    def upload_file(sent: Any) -> Any:
        upload = labelled.get(str(entry(sent, "control")))
        name, text = entry(sent, "name"), entry(sent, "text")
        if isinstance(upload, sheet.Upload) and isinstance(name, str) and isinstance(text, str):
            return upload.answer(name, text[: upload.longest + 1])
        return None

    def measure(sent: Any) -> tuple[str, str] | None:
        return (MEASURE, str(sent)) if str(sent) in measurements else None

    events = {"move": move, "press": press, "file": upload_file, MEASURE: measure}
    return Cell("rail", key, {"controls": data, "folded": folded}, events=events)


def _data(control: sheet.Control, values: Values) -> dict[str, Any] | None:
    """What the browser gets of a control; nothing of a setting that has none."""
    if isinstance(control, Setting):
        return _setting(control, values) if control.label else None
    help_ = control.help if isinstance(control, sheet.Switch | sheet.Upload) else ""
    data: dict[str, Any] = {"name": control.label, "label": control.label, "help": help_}
    match control:
        case sheet.Button():
            data |= {"kind": "button", "disabled": control.action is None}
        case sheet.Choice(style="slider"):
            stops = list(control.options)
            data |= {"kind": "slider", "stops": stops, "stop": control.chosen, "bare": control.bare}
        case sheet.Choice():
            data |= _options(control.options, control.chosen, control.style == "menu")
            data["bare"] = control.bare
        case sheet.Switch():
            data |= {"kind": "switch", "disabled": control.disabled, "on": control.on}
        case sheet.NumberBox():
            data |= {"kind": "number", "text": str(control.value), "example": "", "longest": None}
        case sheet.Download():
            file = file_data(control.content, control.name, control.kind)
            data |= {"kind": "download", "disabled": False, "file": file}
        case sheet.Upload():
            data |= {"kind": "upload", "disabled": False}
            data |= {"accepts": control.accepts, "longest": control.longest}
    return data


def _setting(setting: Setting[Any], values: Values) -> dict[str, Any]:
    value, options = values[setting], list(setting.options)
    data = {"name": setting.name, "label": setting.label, "help": setting.help}
    if setting.stops:
        stops = [setting.shown(stop) for stop in setting.stops]
        return {**data, "kind": "slider", "stops": stops, "stop": nearest(setting.stops, value)}
    if isinstance(setting.default, tuple):
        flags = "".join("01"[option in value] for option in options)
        return {**data, "kind": "several", "options": list(setting.options.values()), "stop": flags}
    if options:
        chosen = options.index(value) if value in options else 0
        return {**data, **_options(list(setting.options.values()), chosen)}
    kind = "number" if isinstance(setting.default, int | float) else "text"
    return {
        **data,
        "kind": kind,
        "text": setting.text(value),
        "longest": setting.longest,
        "example": setting.example,
    }


def _options(words: Sequence[str], chosen: int | None, menu: bool = False) -> dict[str, Any]:
    few = not menu and len(words) <= FEW_OPTIONS and sum(map(len, words)) <= SHORT
    kind = "choice" if few else "menu"
    return {"kind": kind, "options": list(words), "stop": -1 if chosen is None else chosen}


def _action(control: sheet.Choice | sheet.NumberBox | sheet.Switch, sent: Any) -> Any:
    """The action that a control asks for; None if what was sent can be none of ours."""
    if isinstance(control, sheet.Switch):
        return control.action(sent) if isinstance(sent, bool) and not control.disabled else None
    if isinstance(control, sheet.Choice):
        at = place(sent, len(control.options))
        return None if at is None else control.action(at)
    if not isinstance(sent, str) or not sent.isascii() or not sent.isdigit():
        return None
    return control.action(min(max(int(sent[:12]), control.low), control.high))


def _text(setting: Setting[Any], sent: Any) -> str | None:
    """What a control sent as the text in a URL; None if it can be none of ours."""
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


AT_THE_BOX = 2  # networks that fit beside the box
FEW_BLOCKS = 4  # of which each has a button; of more, a slider


def network_cell(session: Session, run: Run | None) -> Cell | None:
    """The controls of the networks; page.css puts them beside the box if they are few, and ours."""
    state, networks = session.state, session.catalog.networks
    names = list(networks)
    ours = all(network_by_id(name).card.ours for name in names)
    label = network_label if ours else described
    n_blocks = networks[state.network].n_blocks
    controls: list[sheet.Control] = [
        sheet.Choice(
            "Network",
            [label(name) for name in names],
            lambda at: ChooseNetwork(names[at]),
            names.index(state.network),
            bare=True,
        )
    ]
    if n_blocks > FEW_BLOCKS:
        blocks = [f"{block + 1} of {n_blocks}" for block in range(n_blocks)]
        controls.append(sheet.Choice("Block", blocks, ChooseBlock, state.block, style="slider"))
    elif ours or n_blocks > 1:
        blocks = [f"block {block + 1}" for block in range(n_blocks)]
        controls.append(sheet.Choice("Block", blocks, ChooseBlock, state.block, bare=True))
    others = [name for name in names if name != state.network]
    if len(others) > 1:
        place = others.index(state.partner) if state.partner in others else 0
        labels = [f"beside {network_label(name)}" for name in others]
        controls.append(
            sheet.Choice(
                "Beside it", labels, lambda at: ChoosePartner(others[at]), place, bare=True
            )
        )
    if run is not None and run.special:
        controls.append(special_tokens(run))
    controls.append(gpu_switch())
    beside_the_box = ours and len(names) <= AT_THE_BOX
    if beside_the_box:
        return rail_cell(controls, Values(), {}, "network")
    return rail_cell(controls, Values(), {}, "any-network", f"block {state.block + 1}")


def gpu_switch() -> sheet.Switch:
    """Whether the GPU computes; without one, why not."""
    gpu = find_gpu()

    def choose(on: bool) -> None:
        visit().gpu = on

    on = gpu.device is not None and visit().gpu
    return sheet.Switch("GPU", on, choose, disabled=gpu.device is None, help=gpu.why)


def special_tokens(run: Run) -> sheet.Switch:
    """Whether special tokens are shown and counted: everywhere, or nowhere."""
    places = words_among(run.whole.tokens)

    def chosen(shown: bool) -> ShowSpecial:
        token = run.place if shown else min(max(0, run.place - places.start), len(places) - 1)
        return ShowSpecial(shown, token)

    names = " and ".join(run.special)
    why = (
        f"The network reads {names} along with your words. Hidden, they are in no picture, table, "
        "share or average, but the network still reads them."
    )
    return sheet.Switch(f"Show and count {names}", run.state.special, chosen, help=why)


def described(name: str) -> str:
    """A network in a line: its label, size, φ and blocks."""
    network = network_by_id(name)
    card, sizes = network.card, network.sizes
    size, blocks = weights(sizes.n_parameters), counted(sizes.n_blocks, "block")
    return f"{card.label} · {size} · {card.phi.label} · {blocks}"
