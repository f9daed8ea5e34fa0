"""Networks that visitors have trained on this server: in one folder, for as long as it runs."""

import hashlib
import io
import re
import shutil
import tempfile
from pathlib import Path
from zipfile import ZipFile

from ffnviz.models.config import config

MOST = 24  # on one server: none is ever unloaded, since a link may show it
_NAME = re.compile(r"learned-[a-z0-9-]+")


class NoRoomError(ValueError):
    """This server keeps no more networks; the message says so."""


def learned_folder(name: str) -> Path | None:
    """The folder of one by its id; None if there is none."""
    place = config().learned
    if place is None or not _NAME.fullmatch(name):
        return None
    folder = place / name
    return folder if folder.is_dir() else None


def is_learned(folder: Path) -> bool:
    """Whether a network's folder is one of these."""
    return config().learned is not None and folder.parent == config().learned


def keep_learned(zipped: bytes) -> list[str]:
    """Keep the model folders of a ZIP file that this server has made; gives their ids.

    Raises:
        NoRoomError: if there are too many already.
        RuntimeError: if this server keeps none.
    """
    place = config().learned
    if place is None:
        raise RuntimeError("Networks are kept only by a server that `ffnviz app` started.")
    mark = hashlib.sha1(zipped, usedforsecurity=False).hexdigest()[:4]
    with tempfile.TemporaryDirectory(dir=place, prefix=".") as unpacked:
        with ZipFile(io.BytesIO(zipped)) as file:
            file.extractall(unpacked)
        folders = {
            f"{folder.name.partition('-seed-')[0]}-{mark}": folder
            for folder in sorted(Path(unpacked).iterdir())
        }
        new = [name for name in folders if learned_folder(name) is None]
        if len(list(place.glob("learned-*"))) + len(new) > MOST:
            raise NoRoomError(
                f"This server shows {MOST} trained networks already. Save yours, and open it with "
                "`ffnviz app --model`."
            )
        for name in new:
            try:
                folders[name].rename(place / name)
            except OSError:  # somebody else kept the same just now
                shutil.rmtree(folders[name])
    return list(folders)
