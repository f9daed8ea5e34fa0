"""The pictures' JavaScript as one script, and the files that it reads as texts.

A browser loads no module from a page that was opened as a file, and a page whose scripts are known
by their hashes may load none at all; a served page would ask for each by itself. So each module
becomes a function, and its exports and imports become members of objects.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PICTURES = Path(__file__).parents[1] / "pictures" / "static"
ADAPTER = PICTURES.parent / "adapter"
OWN = Path(__file__).parent
LIVE = OWN / "live"
FIRST = "player.js"
WIDGET = "view.js"
HANGS = "hang.js"  # pictures and sheets into Streamlit
READ_AT_ONCE = ("*.css", "palettes.json", "glossary.json", "welcome.html")
# The pictures of a first visit.
FIRST_PAGE = (
    "activation_map", "bars", "chips", "examples", "ffn_picture", "footer", "local_storage",
    "neuron_card", "page_bar", "rail", "text", "welcome",
)  # fmt: skip

_IMPORT = re.compile(r'^import \{([^}]*)\} from "(?:\.|\.\./ffnviz\.\w+)/([\w.]+)";$', re.MULTILINE)
_LAZY = re.compile(r'import\("\./([\w.]+)"\)')
_EXPORT = re.compile(r"^export (const|let|async function|function) (\w+)", re.MULTILINE)
_MODULE_SYNTAX = re.compile(r"^(?:import|export)\b.*$", re.MULTILINE)
_BLOCK = r"/\*\*(?:(?!\*/).)*\*/"
# Lines of their own, and types within an expression.
_COMMENT = re.compile(rf"^ *//[^\n]*\n|^ *{_BLOCK}\n|{_BLOCK} ", re.MULTILINE | re.DOTALL)
# Behind code, without a quote that could make it part of a text (an apostrophe within a word makes
# none); and what stands before code.
_REMARK = re.compile(r"(?<=[;,{}()\]:])[ \t]+// (?:[^'\"`\n]|(?<=\w)'(?=\w))*$", re.MULTILINE)
_INDENT = re.compile(r"^[ \t]+|^\n", re.MULTILINE)
# The end of a line that says nothing to a browser, where no remark can be.
_LINE_END = re.compile(r"^((?:(?!//).)*)(?:(?<=[;,(\[{])\n|\n(?=[)\]}]))", re.MULTILINE)
_ENDS_SCRIPT = re.compile(r"</script|<!--", re.IGNORECASE)
# In shell.js: a picture's name, its script and what mounts it there, and its style sheets.
_PICTURE = re.compile(
    r'^  (\w+): \[\s*async \(\) => \(await import\("\./([\w.]+)"\)\)\.(\w+)'
    r'((?:, "[\w.]+")*),?\s*\],$',
    re.MULTILINE,
)

_LOADER = """\
const modules = {}, made = {};
function give(exports, getters) {
  for (const name in getters) Object.defineProperty(exports, name, { get: getters[name] });
}
function need(name) {
  if (!Object.hasOwn(modules, name)) throw new Error(`${name} is not in this file.`);
  if (!Object.hasOwn(made, name)) modules[name](made[name] = {});
  return made[name];
}
"""
_ALL_HERE = "const later = async (name) => need(name);\n"
_REST_LATER = """\
let rest, tries = 0;
function getRest() {
  // A browser may remember for good that an address failed.
  rest ??= import(tries ? `${moreAddress}?try=${tries}` : moreAddress).then(
    ({ add }) => add(modules, give, need, later),
    (error) => {
      [rest, tries] = [undefined, tries + 1];
      throw error;
    });
  return rest;
}
async function later(name) {
  if (!Object.hasOwn(modules, name)) await getRest();
  return need(name);
}
"""
# What the first page shows has the line for itself; the rest is there before it is asked for.
_HANGING = """\
export const { picture } = need("hang.js");
let isFirst = true;
export function sheet(given) {
  // Where that fails, it is asked for again when it is needed.
  if (isFirst) setTimeout(() => getRest().catch(() => {}), 2_000);
  isFirst = false;
  return need("hang.js").sheet(given);
}
"""


@dataclass(frozen=True)
class Listed:
    """A picture of shell.js."""

    script: str
    mount: str  # what the script exports
    styles: Sequence[str]


@cache
def pictures_listed() -> Mapping[str, Listed]:
    """All pictures, by their names."""
    lines = _PICTURE.findall(_source("shell.js"))
    return {
        name: Listed(script, mount, re.findall(r'"([\w.]+)"', styles))
        for name, script, mount, styles in lines
    }


@cache
def script(pictures: tuple[str, ...], first: str = FIRST) -> str:
    """The script that plays a file: `first`, pictures as shell.js names them, and all imports.

    What is no picture's name is a script's. `first` may also be that of a worker, which has no
    pictures. Raises ValueError on a module that is written in a way not understood here, as all
    below do.
    """
    functions = _functions([first, *map(_script_of, pictures)])
    return f'"use strict";\n(() => {{\n{functions}need("{first}");\n}})();\n'


def first_module(folder: str, more: str) -> str:
    """One module for a served page: `picture`, `sheet`, and what its first page reads.

    The rest is in `more`, and all other files in `folder`: addresses relative to the module's.
    """
    addresses = {"beside": f"{folder}/", "moreAddress": more}
    told = "".join(
        f'const {name} = new URL("{address}", import.meta.url).href;\n'
        for name, address in addresses.items()
    )
    functions = _as_functions(_first(), "beside")
    return f"{told}{_LOADER}{_REST_LATER}{functions}{_kept(_first_texts())}{_HANGING}"


def more_module(folder: str) -> str:
    """The rest of it, which is added to its modules."""
    here, read = _first(), _first_texts()
    every = _needed(map(_script_of, pictures_listed()))
    functions = _as_functions([name for name in every if name not in here], "beside")
    left = {name: text for name, text in _read_at_once().items() if name not in read}
    return (
        f'const beside = new URL("{folder}/", import.meta.url).href;\n'
        f"export function add(modules, give, need, later) {{\n{functions}{_kept(left)}}}\n"
    )


def _script_of(name: str) -> str:
    listed = pictures_listed()
    return listed[name].script if name in listed else f"{name}.js"


def _first() -> list[str]:
    return _needed([HANGS, *map(_script_of, FIRST_PAGE)])


def _first_texts() -> dict[str, str]:
    return texts(FIRST_PAGE, ()) | {"welcome.html": _text(PICTURES / "welcome.html")}


@cache
def widget_module() -> str:
    """One module for a notebook's widget, as anywidget wants it."""
    functions = _functions([WIDGET, *map(_script_of, pictures_listed())])
    return f'{functions}{_kept(_read_at_once())}export default need("{WIDGET}").view;\n'


def _needed(wanted: Iterable[str]) -> list[str]:
    """The wanted modules and all that these import, sorted."""
    left, found = list(wanted), set[str]()
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += [other for _, other in _IMPORT.findall(_source(name))]
    return sorted(found)


def _as_functions(names: Iterable[str], base: str) -> str:
    """Modules as functions; `base` is where they find files."""
    code = "".join(_as_function(name, _source(name)) for name in names)
    return code.replace("import.meta.url", base)


def _functions(wanted: Iterable[str]) -> str:
    """A loader, the wanted modules, and all that these import."""
    return f"{_LOADER}{_ALL_HERE}{_as_functions(_needed(wanted), 'document.baseURI')}"


def _read_at_once() -> dict[str, str]:
    files = sorted(path for pattern in READ_AT_ONCE for path in PICTURES.glob(pattern))
    return {path.name: _text(path) for path in files}


def _kept(contents: Mapping[str, str]) -> str:
    return f'need("loading.js").keep({json.dumps(contents)});\n'


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def texts(pictures: Sequence[str], notes: Sequence[str]) -> dict[str, str]:
    """What the pictures read: style sheets, palettes, the glossary, and the notes of that name."""
    sheets = ["shell.css", "head.css", "terms.css", "forced_colors.css"]
    for name in pictures:
        sheets += pictures_listed()[name].styles
    sheets.append("finger.css")  # as in shell.js
    names = ["palettes.json", "glossary.json", *sheets, *(f"notes/{note}.html" for note in notes)]
    return {name: _text(PICTURES / name) for name in dict.fromkeys(names)}


def _source(name: str) -> str:
    places = (folder / name for folder in (OWN, LIVE, ADAPTER, PICTURES))
    return next(filter(Path.is_file, places), PICTURES / name).read_text(encoding="utf-8")


def _as_function(name: str, source: str) -> str:
    """The module as a function of its exports, which are there before its first line is run."""
    if _ENDS_SCRIPT.search(source):
        raise ValueError(f"{name} has what would end a script in a page.")
    if any(line.count("`") % 2 for line in source.splitlines()):
        raise ValueError(f"{name} has a text of several lines, whose indentation would be lost.")

    def needed(match: re.Match[str]) -> str:
        names = [part.strip().replace(" as ", ": ") for part in match[1].split(",")]
        return f'const {{ {", ".join(filter(None, names))} }} = need("{match[2]}");'

    exports = [name for _, name in _EXPORT.findall(source)]
    source = _EXPORT.sub(r"\1 \2", source)
    source = _IMPORT.sub(needed, source)
    source = _COMMENT.sub("", _LAZY.sub(r'later("\1")', source))
    source = _INDENT.sub("", _REMARK.sub("", source))
    if left := _MODULE_SYNTAX.search(source):
        raise ValueError(f"{name} has a line that is not understood here: {left[0]}")
    given = ", ".join(f"{export}: () => {export}" for export in exports)
    code = _LINE_END.sub(r"\1", source)
    return f'modules["{name}"] = (exports) => {{\ngive(exports, {{ {given} }});\n{code}}};\n'
