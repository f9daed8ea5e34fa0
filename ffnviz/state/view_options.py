"""How a page is shown, apart from what it shows: as a scene, as a talk, without its controls.

Like the State it is one frozen value, and parameters of the URL.
"""

from collections.abc import Mapping
from dataclasses import dataclass

LARGEST = 10_000
LONGEST_NAME = 20  # characters of a lecture's name
PRESENT = {"1": True, "explore": False}  # in the URL → whether the scene alone is on the screen
HIDEABLE = ("pages", "sentence", "network", "parts", "tokens", "foot")
NAMES = ("scene", "path", "present", "hide", "class", "lecture")


@dataclass(frozen=True)
class ViewOptions:
    """How a page is shown."""

    scene: int | None = None  # of the lecture, from 0; None outside of it
    short: bool = False  # whether the shorter path through the lecture is taken
    presenting: bool = False  # whether this is a talk before an audience
    # whether the speaker has left the scene for a while; the whole page is shown then
    exploring: bool = False
    hide: tuple[str, ...] = ()  # which of HIDEABLE are not on the page, in that order
    follows: str = ""  # the code of the class that is followed; empty if none is
    lecture: str = ""  # the built-in lecture, by its name; empty for the visitor's or the server's

    def to_url(self) -> dict[str, str]:
        """The URL's parameters for what differs from the default."""
        params: dict[str, str] = {}
        if self.scene is not None:
            params["scene"] = str(self.scene + 1)
            if self.lecture:
                params["lecture"] = self.lecture
            if self.short:
                params["path"] = "short"
            if self.presenting:
                params["present"] = "explore" if self.exploring else "1"
        if self.hide:
            params["hide"] = ",".join(self.hide)
        if self.follows:
            params["class"] = self.follows
        return params


def view_options_from_url(params: Mapping[str, str]) -> ViewOptions:
    """The options that a URL asks for; what it lacks or garbles takes its default."""
    number = params.get("scene", "")
    known = number.isascii() and number.isdecimal() and len(number) <= 5 and int(number) > 0
    scene = min(int(number), LARGEST) - 1 if known else None
    present = params.get("present", "") if scene is not None else ""
    hidden = params.get("hide", "").split(",")
    lecture = params.get("lecture", "") if scene is not None else ""
    return ViewOptions(
        scene,
        scene is not None and params.get("path") == "short",
        present in PRESENT,
        not PRESENT.get(present, True),
        tuple(name for name in HIDEABLE if name in hidden),
        class_code(params.get("class", "")),
        lecture if lecture.isidentifier() and len(lecture) <= LONGEST_NAME else "",
    )


def class_code(text: str) -> str:
    """A class's code as people type it, or empty if it cannot be one."""
    code = "".join(text.split()).replace("-", "").upper()
    return code if 4 <= len(code) <= 12 and code.isascii() and code.isalnum() else ""
