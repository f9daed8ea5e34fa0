"""The types that a script declares in its comments, and whether a value that Python sends has one.

Of TypeScript's types what our scripts use: object types, lists, tuples, unions, intersections,
Record, literals, and names that are declared beside them or imported.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

SCRIPTS = Path(__file__).parents[2] / "ffnviz" / "pictures" / "static"
# loading.js makes these of NumPy's.
ARRAYS = {
    "Float32Array": {"float16", "float32"},
    "Uint16Array": {"uint16"},
    "Int32Array": {"int32"},
    "Uint8Array": {"uint8"},
}
PLAIN: Mapping[str, Callable[[Any], bool]] = {
    "any": lambda _: True,
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "null": lambda value: value is None,
}

_COMMENT = re.compile(r"/\*\*(.*?)\*/", re.DOTALL)
_IMPORT = re.compile(r"@import \{ ([\w, ]+) \} from \"\./(\w+)\.js\"")
_TYPEDEF = re.compile(r"@typedef \{(?=(.*))", re.DOTALL)
_PROPERTY = re.compile(r"@property \{(.+)\} (\[?)(\w+)\]?")
_TOKEN = re.compile(r'\s*("[^"]*"|\w+|\[\]|[\[\]{}()<>|&,:?])')


@dataclass(frozen=True)
class Fields:
    """An object type: the type of each field, and which may be missing."""

    types: Mapping[str, "Type"]
    optional: frozenset[str]


@dataclass(frozen=True)
class Made:
    """A type made of others: "list", "tuple", "|", "&" or "Record"."""

    way: str
    of: tuple["Type", ...]


Type = str | Fields | Made  # a name or a literal, an object, or a type made of others


class _Reader:
    """Reads one type from the beginning of a text."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def peek(self) -> str:
        found = _TOKEN.match(self.text, self.at)
        return found[1] if found else ""

    def take(self, *wanted: str) -> str:
        found = _TOKEN.match(self.text, self.at)
        if not found or (wanted and found[1] not in wanted):
            raise ValueError(f"not understood: {self.text[self.at : self.at + 40]!r}")
        self.at = found.end()
        return found[1]

    def union(self) -> Type:
        return self.joined("|", lambda: self.joined("&", self.listed))

    def joined(self, sign: str, read: Callable[[], Type]) -> Type:
        parts = [read()]
        while self.peek() == sign:
            self.take()
            parts.append(read())
        return parts[0] if len(parts) == 1 else Made(sign, tuple(parts))

    def listed(self) -> Type:
        part = self.single()
        while self.peek() == "[]":
            self.take()
            part = Made("list", (part,))
        return part

    def single(self) -> Type:
        match self.take():
            case "{":
                return self.fields()
            case "(":
                inner = self.union()
                self.take(")")
                return inner
            case "[":
                return Made("tuple", tuple(self.until("]")))
            case name:
                if self.peek() != "<":
                    return name
                self.take()
                inside = tuple(self.until(">"))
                return Made(name, inside) if name == "Record" else name

    def until(self, end: str) -> Iterator[Type]:
        while self.peek() != end:
            yield self.union()
            if self.peek() == ",":
                self.take()
        self.take(end)

    def fields(self) -> Fields:
        types, optional = dict[str, Type](), set[str]()
        while self.peek() != "}":
            name = self.take()
            if self.peek() == "?":
                self.take()
                optional.add(name)
            self.take(":")
            types[name] = self.union()
            if self.peek() == ",":
                self.take()
        self.take("}")
        return Fields(types, frozenset(optional))


def type_of(text: str) -> tuple[Type, str]:
    """The type at the beginning of a text, and what follows it."""
    reader = _Reader(text)
    return reader.union(), text[reader.at :]


@cache
def types_in(script: str) -> Mapping[str, tuple[Type, str]]:
    """The types that a script can name, each with the script that declares it."""
    found = dict[str, tuple[Type, str]]()
    for comment in _COMMENT.findall((SCRIPTS / f"{script}.js").read_text("utf-8")):
        text = re.sub(r"\n\s*\*", "\n", comment)
        for names, other in _IMPORT.findall(text):
            found |= {name: types_in(other)[name] for name in names.split(", ")}
        for rest in _TYPEDEF.findall(text):
            declared, after = type_of(rest)
            name = re.match(r"\} (\w+)", after)
            assert name, after[:40]
            if declared == "object":
                properties = _PROPERTY.findall(text)
                types = {field: type_of(of)[0] for of, _, field in properties}
                declared = Fields(types, frozenset(f for _, missing, f in properties if missing))
            found[name[1]] = (declared, script)
    return found


def faults(value: Any, type_: Type, script: str, where: str = "data") -> list[str]:
    """Where a value is not of a type that a script declares; fields are the same, both ways."""
    match type_:
        case Fields(types, optional):
            if not isinstance(value, Mapping):
                return [f"{where} is not an object"]
            missing = [f"{where}.{name} is not sent" for name in types.keys() - value - optional]
            unknown = [f"{where}.{name} is not declared" for name in value.keys() - types]
            return missing + unknown + [
                fault
                for name in types.keys() & value
                for fault in faults(value[name], types[name], script, f"{where}.{name}")
            ]  # fmt: skip
        case Made("|", parts):
            found = [faults(value, part, script, where) for part in parts]
            return [] if [] in found else min(found, key=len)
        case Made("&", parts):
            return faults(value, _merged(parts, script), script, where)
        case Made("Record", (_, of)):
            if not isinstance(value, Mapping):
                return [f"{where} is not an object"]
            return [
                f for name in value for f in faults(value[name], of, script, f"{where}[{name}]")
            ]
        case Made(way, of):
            if not isinstance(value, list | tuple):
                return [f"{where} is not a list"]
            if way == "tuple" and len(value) != len(of):
                return [f"{where} has {len(value)} entries, not {len(of)}"]
            each = of if way == "tuple" else of * len(value)
            pairs = enumerate(zip(value, each, strict=True))
            return [f for at, (v, t) in pairs for f in faults(v, t, script, f"{where}[{at}]")]
        case str(name):
            return _fault_of_name(value, name, script, where)
    raise TypeError(type_)


def _merged(parts: tuple[Type, ...], script: str) -> Fields:
    types, optional = dict[str, Type](), frozenset[str]()
    for part in parts:
        fields = types_in(script)[part][0] if isinstance(part, str) else part
        assert isinstance(fields, Fields)
        types |= fields.types
        optional |= fields.optional
    return Fields(types, optional)


def _fault_of_name(value: Any, name: str, script: str, where: str) -> list[str]:
    if name.startswith('"'):
        return [] if value == name[1:-1] else [f"{where} is not {name}"]
    if name in PLAIN:
        return [] if PLAIN[name](value) else [f"{where} is no {name}"]
    if name in ARRAYS:
        right = isinstance(value, np.ndarray) and value.dtype.name in ARRAYS[name]
        return [] if right else [f"{where} is no {name}"]
    declared, own = types_in(script)[name]
    return faults(value, declared, own, where)
