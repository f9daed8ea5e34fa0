"""The pictures' scripts as one: all are understood, and what is not is refused."""

import re

import pytest

from ffnviz.export import bundle


def test_a_page_gets_all_pictures_and_a_picture_what_it_reads() -> None:
    names = tuple(bundle.pictures_listed())
    assert len(names) > 15
    made = bundle.script(names)
    assert not re.search(r"^(import|export)\b", made, re.MULTILINE)
    assert "import.meta" not in made
    known = re.compile(r'^modules\["([\w.]+)"\]', re.MULTILINE)
    first = bundle.first_module("_stcore/files", "more.js")
    exported = re.findall(r"^(?:import|export)\b.*$", first, re.MULTILINE)
    assert [line[:30] for line in exported] == [
        "export const { picture } = nee",
        "export function sheet(given) {",
    ]
    assert first.count("import.meta.url") == 2
    more = bundle.more_module("_stcore/files")
    assert re.findall(r"^(?:import|export)\b.*$", more, re.MULTILINE) == [
        "export function add(modules, give, need, later) {"
    ]
    here, there = (
        re.findall(r'^modules\["([\w.]+)"\]', code, re.MULTILINE) for code in (first, more)
    )
    assert not set(here) & set(there)
    # Pages of their own, speaker.html and review.html, read windows.js.
    everything = {path.name for path in bundle.PICTURES.glob("*.js")} - {"windows.js"}
    everything |= {bundle.HANGS}
    assert {*here, *there} == everything
    assert set(re.findall(r'need\("([\w.]+)"\)', first)) <= set(here)


def test_remarks_stay_at_home_and_what_is_not_understood_is_refused() -> None:
    source = """// All of it.
const at = "https://a"; // where it's kept
if (at) {

  go("// no remark", 1); // "quoted", so it stays
}
"""
    made = bundle._as_function("new.js", source).splitlines()
    assert made[2:-1] == [
        'const at = "https://a";', 'if (at) {go("// no remark", 1); // "quoted", so it stays', "}",
    ]  # fmt: skip

    for source, why in [
        ("export default 3;\n", "not understood here: export default 3;"),
        ('import * as all from "./x.js";\n', "not understood here: import"),
        ('const text = "</SCRIPT>";\n', "would end a script"),
        ("const text = `one\n  two`;\n", "a text of several lines"),
    ]:
        with pytest.raises(ValueError, match=re.escape(why)):
            bundle._as_function("new.js", source)
