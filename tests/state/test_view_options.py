"""How a page is shown: any way survives the URL, and any URL gives one."""

from hypothesis import given
from hypothesis import strategies as st

from ffnviz.state.state import HIDEABLE, ViewOptions, class_code, view_options_from_url

hidden = st.lists(st.sampled_from(HIDEABLE), unique=True).map(
    lambda names: tuple(name for name in HIDEABLE if name in names)
)
inside = st.builds(
    lambda scene, short, talk, hide, code, lecture: ViewOptions(
        scene, short, talk[0], talk[1], hide, code, lecture
    ),
    st.integers(0, 9_000),
    st.booleans(),
    st.sampled_from([(False, False), (True, False), (True, True)]),
    hidden,
    st.sampled_from(["", "ABCD23"]),
    st.sampled_from(["", "course"]),
)
showings = inside | st.builds(ViewOptions, hide=hidden)
names = st.sampled_from(["scene", "path", "present", "hide", "class", "lecture", "text"])
values = st.text(max_size=20) | st.integers().map(str) | st.sampled_from(["1", "explore", "short"])


@given(showings)
def test_any_showing_survives_the_url(showing: ViewOptions) -> None:
    assert view_options_from_url(showing.to_url()) == showing


@given(st.dictionaries(names, values))
def test_any_url_gives_one_that_survives_the_url(url: dict[str, str]) -> None:
    showing = view_options_from_url(url)
    assert view_options_from_url(showing.to_url()) == showing


def test_outside_of_a_lecture_nothing_is_presented() -> None:
    assert view_options_from_url({"present": "1", "path": "short"}) == ViewOptions()


def test_a_code_is_read_however_it_is_typed() -> None:
    assert class_code(" k7m-q2x ") == "K7MQ2X"
    assert class_code("<b>") == class_code("") == class_code("x" * 40) == ""
