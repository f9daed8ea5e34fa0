"""The pictures' scripts as one: all are understood, and what is not is refused."""

import re

import pytest

from ffnviz.export import bundle


def test_the_two_files_of_a_page_have_every_module_once_and_the_first_needs_no_other() -> None:
    known = re.compile(r'^modules\["([\w.]+)"\]', re.MULTILINE)
    first = bundle.first_module("_stcore/files", "more.js")
    here, there = (known.findall(code) for code in (first, bundle.more_module("_stcore/files")))
    # Pages of their own, speaker.html and review.html, read windows.js.
    every = {path.name for path in bundle.PICTURES.glob("*.js")} - {"windows.js"} | {bundle.HANGS}
    assert sorted([*here, *there]) == sorted(every)
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
