"""Changes: Streamlit's page begins with a script of ours, whose functions are patches, too.

And its text is set in a part of its font, the whole of which comes when a sentence needs it.
Why: what these change in the browser has to be there before Streamlit's own code runs, and
Streamlit has no place for a script in its page. Its font holds up the scripts of a first visit.
Gains: what each of them says, and a first page over a telephone's line 2 s earlier.
For: Streamlit 1.64 to 1.67.
"""

import hashlib
import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

import streamlit

from ffnviz.export.browsers import NO_SCRIPT, OLD_BROWSER_JS
from ffnviz.models.config import ASSETS
from ffnviz.server.static import packed_file
from ffnviz.server.streamlit_patches.patch import expect, is_off

GUARD = "guard.js"  # its address
_REMARK = re.compile(r"^ *//.*\n", re.MULTILINE)  # a line of its own
# What each of its functions needs Streamlit's own code to have.
SCRIPTS = {
    "backend_address": ("BACKEND_BASE_URL", "__streamlit"),
    "first_step": ("history.pushState",),
    "icons_when_shown": ("Material Symbols",),
    "long_text": ("st-key-",),
    "paper": ("stMain",),
    "drawer": (
        "stSidebarNavLink",
        "stSidebarCollapseButton",
        "stExpandSidebarButton",
        "stIconMaterial",
    ),
    "white_page": ("deltaPath",),
    "no_assembly": ("WebAssembly.Module",),
    "no_connection": ("stConnectionStatus", "Connection error"),
    "loaded_script": ("document.head.appendChild", "bidi-components"),
}
STATIC = Path(streamlit.__file__).parent / "static"
# Modules of Streamlit's that every page asks for, but only once it has heard from the server.
LATER = ("BidiComponent", "Html", "TextInput")
ADAPTER = "_stcore/bidi-components/ffnviz.sheet/adapter.js"  # ours, likewise
LARGE = 12  # of the scripts
PINGS = ("health", "host-config")  # what it asks the server before it opens a socket
FONTS = ASSETS / "fonts"
# Streamlit's font in its page, and in its style sheet.
_PRELOADED = re.compile(r'<link\s+rel="preload"\s+href="[^"]*SourceSans[^"]*"[^>]*>')
_FACE = re.compile(r"@font-face\{(font-family:Source Sans;[^}]*font-style:(normal|italic);[^}]*)\}")
PARTS = {"normal": "upright.woff2", "italic": "italic.woff2"}  # of FONTS


def check() -> None:
    """Whether Streamlit's page has a head, and its code the names that the scripts use."""
    for tag in ("<head>", "<noscript>"):
        expect(index_html().count(tag) == 1, f"static/index.html has one {tag}")
    missing = {name: set(needed) for name, needed in SCRIPTS.items()}
    for path in sorted(STATIC.rglob("*.js")):
        code = path.read_text(encoding="utf-8")
        for needed in missing.values():
            needed -= {name for name in needed if name in code}
    for script, names in missing.items():
        expect(not names, f"Streamlit's code has {', '.join(sorted(names))}, for {script}")


def index_html() -> str:
    """Streamlit's page as it is."""
    return (STATIC / "index.html").read_text(encoding="utf-8")


def guarded_html(html: str, needed: Mapping[str, int]) -> str:
    """Streamlit's page with our scripts as the first of all, naming the modules that it will need.

    The browser then fetches them with Streamlit's own, not when the first picture comes; `needed`
    are those of ours, and their bytes when compressed. A browser that is too old, or runs no
    script, shows a sentence.
    """
    before, head, after = html.partition("<head>")
    if not head or is_off("page_script"):
        return html
    its_own = re.findall(r'(?:src|href)="\./(static/js/[\w.-]+\.js)"', html)
    sizes = {file: packed_file(STATIC / file).size for file in (*_later(), *its_own)}
    asked = [*_taking_turns({**needed, **sizes}), ADAPTER]
    early = f'<script src="./{GUARD}"></script>' + "".join(
        f'<link rel="modulepreload" href="./{address}">' for address in asked
    )
    early += "".join(
        f'<link rel="preload" as="fetch" href="./_stcore/{name}" crossorigin>' for name in PINGS
    )
    if style_sheets():
        part = f'<link rel="preload" href="./{_font(PARTS["normal"])}" as="font" crossorigin>'
        after = _PRELOADED.sub(part, after, count=1)
    said = re.sub("(?s)(?<=<noscript>).*?(?=</noscript>)", f"<p>{NO_SCRIPT}</p>", after, count=1)
    return f"{before}{head}<script>{OLD_BROWSER_JS}</script>{early}{said}"


@cache
def style_sheets() -> dict[str, str]:
    """Streamlit's style sheets that name its font, by their addresses, with parts of it beside it.

    It then comes with the first letter that only the whole has, or where a part is not served, as
    by another server whose page has the same style sheet in the browser's memory.
    """
    if is_off("page_script"):
        return {}
    ranges = tomllib.loads((FONTS / "letters.toml").read_text(encoding="utf-8"))

    def with_part(rule: re.Match[str]) -> str:
        first = f'src:url(../../{_font(PARTS[rule[2]])})format("woff2"),'
        part = rule[1].replace("src:", first, 1)
        faces = ((rule[1], ranges["whole"]), (part, ranges["part"]))
        return "".join(f"@font-face{{{face};unicode-range:{letters}}}" for face, letters in faces)

    found = {}
    for path in sorted(STATIC.glob("static/css/*.css")):
        code, changes = _FACE.subn(with_part, path.read_text(encoding="utf-8"))
        if changes:
            found[path.relative_to(STATIC).as_posix()] = code
    return found


def _font(name: str) -> str:
    """The address of a font, which changes with what is in it."""
    return f"fonts/{name}?v={hashlib.sha256((FONTS / name).read_bytes()).hexdigest()[:16]}"


def _taking_turns(sizes: Mapping[str, int]) -> list[str]:
    """The order to ask for files, given their bytes: large ones, each with small ones behind it.

    A browser asks for six at once, and each waits for the line's delay before it uses the line.
    """
    by_size = sorted(sizes, key=sizes.__getitem__, reverse=True)
    large, small = by_size[:LARGE], by_size[LARGE:]
    order, sent, all_of_them = list[str](), 0, sum(sizes[file] for file in large)
    for turn, file in enumerate(large, 1):
        sent += sizes[file]
        order += [file, *small[len(order) - turn + 1 : len(small) * sent // all_of_them]]
    return order


@cache
def _later() -> list[str]:
    """The addresses of the modules of LATER and of what these import, read once a process."""
    scripts, html = STATIC / "static" / "js", index_html()
    waiting = [path.name for name in LATER for path in scripts.glob(f"{name}.*.js")]
    found = dict.fromkeys(waiting)
    while waiting:
        code = (scripts / waiting.pop()).read_text(encoding="utf-8")
        imported = re.findall(r'(?:from|import)"\./([\w.-]+\.js)"', code)
        waiting += [name for name in imported if name not in found and name not in html]
        found |= dict.fromkeys(waiting)
    return [f"static/js/{name}" for name in found]


def guard_js() -> str:
    """The script, which runs what is not switched off; its remarks stay here."""
    script = files(__package__).joinpath("page_script.js").read_text(encoding="utf-8")
    names = " ".join(name for name in SCRIPTS if not is_off(name))
    return f"{{\n{_REMARK.sub('', script).replace('{patches}', names)}}}\n"
