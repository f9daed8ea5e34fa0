"""What Streamlit is spared changes nothing of what it would have done."""

import pytest
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime import app_session
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.session_state import SessionState

from ffnviz.server.streamlit_patches.stored_values import STREAMLITS, apply, keep_as_stored
from ffnviz.server.streamlit_patches.theme_once import KeptTheme

BOX, PICTURE = "$$ID-1-box", "$$ID-2-picture"


class Seen(dict[str, object]):
    """What a script sees of a component."""


def after_a_run() -> SessionState:
    """A box, a picture that was clicked, one of the script's own, one that was removed."""
    state = SessionState()
    state["chosen"] = 3
    state._old_state["of an older run"] = 4
    for widget, kind, key in (
        (BOX, "string_value", "text"), (PICTURE, "json_value", "picture"),
        ("$$ID-3-None", "string_value", None),
    ):  # fmt: skip
        described: WidgetMetadata[object] = WidgetMetadata(
            id=widget,
            deserializer=lambda value: value,
            serializer=str,
            value_type=kind,  # type: ignore[arg-type]
            presenter=(lambda value, _: Seen(value)) if widget == PICTURE else None,
        )
        state._new_widget_state.widget_metadata[widget] = described
        said = WidgetState(id=widget)
        setattr(said, kind, '{"token": 2}' if widget == PICTURE else "the cat")
        state._new_widget_state.set_widget_from_proto(said)
        if key:
            state._key_id_mapper[key] = widget
    unknown = WidgetState(id="$$ID-4-None", string_value="from a page that is gone")
    state._new_widget_state.set_widget_from_proto(unknown)
    return state


def test_a_script_finds_what_it_would_have_found() -> None:
    theirs, ours = after_a_run(), after_a_run()
    STREAMLITS(theirs)
    keep_as_stored(ours)
    assert ours._old_state == theirs._old_state
    assert set(ours._old_state) == {"chosen", "of an older run", BOX, PICTURE, "$$ID-3-None"}
    assert len(ours._new_session_state) == 0
    assert len(ours._new_widget_state) == len(theirs._new_widget_state)
    for key in ("chosen", "of an older run", "text", "picture"):
        assert ours[key] == theirs[key]
    assert isinstance(ours["picture"], Seen)


def test_a_components_value_is_not_made_what_a_script_sees_before_one_looks() -> None:
    ours = after_a_run()
    keep_as_stored(ours)
    assert type(ours._old_state[PICTURE]) is dict


def test_streamlit_puts_away_what_is_old_by_that_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SessionState, "_compact_state", STREAMLITS)
    apply()
    state = after_a_run()
    state.on_script_will_rerun(WidgetStates())
    assert type(state._old_state[PICTURE]) is dict


def test_the_theme_that_is_kept_is_streamlits_own() -> None:
    known = getattr(app_session._populate_theme_msg, "read", app_session._populate_theme_msg)
    read: list[str] = []

    def counted(msg: CustomThemeConfig, section: str) -> None:
        read.append(section)
        known(msg, section)

    kept, sections = KeptTheme(counted), ["theme", "theme.light", "theme.dark", "theme.sidebar"]
    for _ in range(2):
        for section in sections:
            told, wanted = CustomThemeConfig(), CustomThemeConfig()
            kept(told, section)
            known(wanted, section)
            assert told == wanted
    assert read == sections
